/* file.c - the files of another mailer, as bytes
 *
 * In     paths, not trusted
 * Out    whole files; where a file is in a copy
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tools/zmailer/import/import.h"

#include "base/banned.h"

#define IMPORT_FILE_MAX_BYTES ((size_t)256 << 20)

/* The bytes of a file that is open. */
static int
file_bytes(int fd, struct str *out, struct err *err)
{
	if (fd_read_all(fd, IMPORT_FILE_MAX_BYTES + 1, out) < 0)
		return err_set(err, "%s", strerror(errno));
	return out->len <= IMPORT_FILE_MAX_BYTES ? 0 :
	    err_set(err, "it is larger than 256 MB");
}

int
import_file_take(struct arena *arena, const char *path, struct slice *out,
    struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct str text = STR_INIT;
	struct stat status;
	int result;

	if (fd < 0)
		return err_set(err, "%s", strerror(errno));
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		result = err_set(err, "it is no regular file");
	else
		result = file_bytes(fd, &text, err);
	(void)close(fd);
	if (result == 0)
		*out = slice_copy(arena, str_slice(&text));
	str_release(&text);
	return result;
}

const char *
import_file_here(struct import *import, struct slice path)
{
	for (size_t i = 0; import->homes != NULL && import->homes[i] != NULL;
	    i++) {
		const char *here;

		if (!slice_starts(path, import->homes[i]))
			continue;
		here = arena_printf(import->arena, "%s/" SLICE_FMT,
		    import->dir, SLICE_ARG(slice_from(path,
		    strlen(import->homes[i]))));
		if (access(here, F_OK) == 0)
			return here;
	}
	if (path.n > 0 && path.p[0] != '/')
		return arena_printf(import->arena, "%s/" SLICE_FMT,
		    import->dir, SLICE_ARG(path));
	return slice_dup(import->arena, path);
}

const char *
import_file_name(const struct import *import, const char *path)
{
	size_t dir = strlen(import->dir);

	return strncmp(path, import->dir, dir) == 0 && path[dir] == '/' ?
	    path + dir + 1 : path;
}

struct import_item
import_item_at(struct import *import, const char *path, unsigned line,
    struct slice name, struct slice value)
{
	return (struct import_item){ .line = line,
		.file = import_file_name(import, path),
		.name = slice_dup(import->arena, slice_first(name, 200)),
		.value = slice_dup(import->arena, value) };
}

const char *
import_machine_name(struct arena *arena)
{
	char name[256];

	if (gethostname(name, sizeof(name)) != 0)
		return "localhost";
	name[sizeof(name) - 1] = '\0';
	return strchr(name, '.') != NULL ? arena_printf(arena, "%s", name) :
	    arena_printf(arena, "%s.localdomain", name);
}

const char *
import_host_say(struct import *import)
{
	static const char mailname[] = "/etc/mailname";
	const char *path = import_file_here(import, slice_of(mailname));
	struct import_item item = { .name = "host", .value = "",
		.file = import->order[0] };
	struct slice text;
	const char *name = NULL;

	/* that of this machine is no part of a copy of another's */
	if (strcmp(path, mailname) != 0 && import_file_take(import->arena,
	    path, &text, NULL) == 0) {
		item.file = import_file_name(import, path);
		item.line = 1;
		name = import_domain(import, slice_trim(slice_first(text,
		    slice_find(text, '\n'))));
	}
	if (name == NULL)
		name = import_machine_name(import->arena);
	item.value = name;
	import_item_taken(import, &item, import_say(import, IMPORT_SITE, "",
	    "host %s", name));
	return name;
}

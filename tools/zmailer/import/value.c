/* value.c - what main.cf says, filled in
 *
 * In     the settings that were read; the presets of rows.h
 * Out    values; paths as they lie here
 * Holds  nothing
 * Spec   postconf(5)
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

const struct import_setting *
import_setting(const struct import *import, const char *name)
{
	for (size_t i = import->settings.count; i-- > 0;)
		if (import->settings.rows[i].wrong == NULL &&
		    slice_is(import->settings.rows[i].name, name))
			return &import->settings.rows[i];
	return NULL;
}

bool
import_is_set(const struct import *import, const char *name)
{
	return import_value(import, name).n > 0 &&
	    import_setting(import, name) != NULL;
}

/* The name of this machine, where nothing is said. */
static struct slice
unsaid_hostname(struct arena *arena)
{
	char name[256];

	if (gethostname(name, sizeof(name)) != 0)
		return SLICE("localhost");
	name[sizeof(name) - 1] = '\0';
	return slice_of(strchr(name, '.') != NULL ?
	    arena_printf(arena, "%s", name) :
	    arena_printf(arena, "%s.localdomain", name));
}

/* As it stands in myhostname: filled in, that may name mydomain. */
static struct slice
unsaid_domain(const struct import *import)
{
	const struct import_setting *setting = import_setting(import,
	    "myhostname");
	struct slice host = setting != NULL ? setting->value :
	    unsaid_hostname(import->arena);
	struct slice domain = slice_from(host, slice_find(host, '.') + 1);

	return domain.n > 0 && slice_find(domain, '$') == domain.n ? domain :
	    SLICE("localdomain");
}

static bool
value_lookup(void *context, struct slice name, struct slice *out_value)
{
	static const struct { const char *name, *value; } places[] = {
		{ "queue_directory", "/var/spool/postfix" },
		{ "config_directory", "/etc/postfix" },
		{ "data_directory", "/var/lib/postfix" },
		{ "mail_name", "Postfix" },
	};
	const struct import *import = context;
	const struct import_setting *setting = import_setting(import,
	    slice_dup(import->arena, name));
	const char *preset = import_preset(name);

	if (setting != NULL) {
		*out_value = setting->value;
		return true;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (slice_is(name, places[i].name))
			preset = places[i].value;
	*out_value = slice_of(preset);
	if (slice_is(name, "myhostname"))
		*out_value = unsaid_hostname(import->arena);
	else if (slice_is(name, "mydomain"))
		*out_value = unsaid_domain(import);
	return out_value->n > 0;
}

struct slice
import_fill(const struct import *import, struct slice value, struct err *err)
{
	struct slice out;

	if (import_expand(import->arena, value, value_lookup,
	    (void *)(uintptr_t)import, &out, err) != 0)
		return SLICE("");
	return out;
}

struct slice
import_value(const struct import *import, const char *name)
{
	struct slice value;

	if (!value_lookup((void *)(uintptr_t)import, slice_of(name), &value))
		return SLICE("");
	return import_fill(import, value, NULL);
}

bool
import_is_yes(const struct import *import, const char *name)
{
	return slice_is_nocase(import_value(import, name), "yes");
}

const char *
import_path(const struct import *import, struct slice path)
{
	static const char home[] = "/etc/postfix/";
	const char *here;
	struct slice rest;

	if (slice_starts(path, home)) {
		rest = slice_from(path, sizeof(home) - 1);
		here = arena_printf(import->arena, "%s/" SLICE_FMT,
		    import->dir, SLICE_ARG(rest));
		if (access(here, F_OK) == 0)
			return here;
	}
	if (slice_starts(path, "/"))
		return slice_dup(import->arena, path);
	return arena_printf(import->arena, SLICE_FMT "/" SLICE_FMT,
	    SLICE_ARG(import_value(import, "queue_directory")),
	    SLICE_ARG(path));
}

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

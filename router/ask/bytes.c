/* bytes.c - what the router would make of a message file, by its bytes
 *
 * In     the name of a file that was kept (SPOOL/record)
 * Out    its fate, and its header as it would go on
 * Holds  one message in memory
 * Trusts no byte of it, as ever
 * Spec   bytes.h; zmailer-replay(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/json.h"
#include "mail/first_line.h"
#include "router/ask/bytes.h"

#include "base/banned.h"

enum { BYTES_PATH_BYTES = 4200 };

/* A private mapping of all of it.  0; -1 with err. */
static int
bytes_map(struct slice path, struct slice *out, struct err *err)
{
	char name[BYTES_PATH_BYTES];
	struct stat st;
	void *map = MAP_FAILED;
	int fd;

	if (path.n >= sizeof(name))
		return err_set(err, "no such file");
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "open %s", name);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > DRAFT_FIRST_LINE_BYTES)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return err_set(err, "%s is no message", name);
	*out = (struct slice){ map, (size_t)st.st_size };
	return 0;
}

/* What was refused, or replaced by what filters made of it, was never
 * completed: what is there is all of it. */
static void
bytes_complete(struct slice file)
{
	struct slice rest = slice_from(file, DRAFT_FIRST_LINE_BYTES);
	char text[DRAFT_FIRST_LINE_BYTES + 1];
	struct first_line line;

	if (!slice_starts(file, "complete ") || first_line_read(file, &line))
		return;
	line = (struct first_line){ rest.n, crc32c(0, rest.p, rest.n) };
	first_line_make(&line, text);
	memcpy((char *)(uintptr_t)file.p, text, DRAFT_FIRST_LINE_BYTES);
}

/* The field Received in front has the time of now. */
static struct slice
bytes_header(const struct message *message)
{
	struct slice rest = str_slice(&message->header), line;

	if (!slice_starts(rest, "Received:"))
		return rest;
	(void)slice_cut(&rest, '\n', &line);
	while (rest.n > 0 && (rest.p[0] == ' ' || rest.p[0] == '\t') &&
	    slice_cut(&rest, '\n', &line))
		continue;
	return rest;
}

static void
bytes_add_wrongs(struct router *router, const struct message *message,
    struct str *out)
{
	const struct header_wrongs *wrongs = &message->headers.wrongs;
	struct str text = STR_INIT;

	for (unsigned i = 0; i < wrongs->count; i++)
		str_addf(&text, "%s%s: %s%s", i > 0 ? "; " : "",
		    wrongs->list[i].field, wrongs->list[i].reason,
		    wrongs->list[i].is_repaired ? " (repaired)" : "");
	json_text(out, "wrongs", str_slice(&text));
	if (wrongs->count > 0 &&
	    router_conf(router)->header_check == HEADERS_COPIED)
		json_bool(out, "copied", true);
	str_release(&text);
}

static void
bytes_add_fate(struct router *router, const struct message *message,
    enum message_fate fate, const struct err *err, struct str *out)
{
	static const char *const names[] = { [MESSAGE_ROUTED] = "routed",
		[MESSAGE_DEFERRED] = "deferred", [MESSAGE_FROZEN] = "frozen",
		[MESSAGE_UNSEEN] = "unseen", [MESSAGE_BROKEN] = "broken",
		[MESSAGE_UNWRITTEN] = "deferred" };
	const char *form = fate == MESSAGE_ROUTED ? message->script_form :
	    NULL;

	json_text(out, "fate", slice_of(form != NULL ? "refused" :
	    names[fate]));
	json_text(out, "why", slice_of(form != NULL ? form : message->why));
	json_text(out, "words", slice_of(err->text));
	bytes_add_wrongs(router, message, out);
	json_text(out, "header", bytes_header(message));
}

void
bytes_answer(struct router *router, struct message *message,
    struct slice path, struct str *out)
{
	struct slice file;
	struct err err = { "" };
	enum message_fate fate;

	json_open(out);
	if (bytes_map(path, &file, &err) < 0) {
		json_text(out, "bad", slice_of(err.text));
	} else {
		bytes_complete(file);
		fate = message_route(message, router, file, 0, NULL, &err);
		bytes_add_fate(router, message, fate, &err, out);
		message_reset(message);
		munmap((void *)(uintptr_t)file.p, file.n);
	}
	json_close(out);
	out->buf[--out->len] = '\0';	/* who asks ends the line */
}

/* forward.c - what a user says about its mail
 *
 * In     the user's forward file, and files that it includes
 * Out    addresses, mailboxes, programs, files
 * Holds  nothing; a file is open while it is read
 * Trusts a file only when nobody but its owner or root can have written it,
 *        and then no more than its owner: everything happens as that user
 * Spec   zmailer-mailbox(8), Forward files
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "mail/forward_file.h"
#include "transports/mailbox/mailbox.h"

#include "base/banned.h"

/* Note what is ignored, once: the first is enough to look at the file. */
static void
forward_remark(struct forward *forward, const char *path, const char *text)
{
	if (forward->remark[0] != '\0')
		return;
	if (path != NULL)
		snprintf(forward->remark, sizeof(forward->remark), "%s: %s",
		    path, text);
	else
		strlcpy(forward->remark, text, sizeof(forward->remark));
}

static void
forward_clear(struct forward *forward)
{
	forward->count = 0;
	forward->files = 0;
	forward->remark[0] = '\0';
}

/* ---- files ------------------------------------------------------------- */

/* A symbolic link is followed when it is the owner's, or root's. */
static int
forward_file_open(const char *path, const struct account *owner)
{
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = open(path, flags | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 || errno != ELOOP)
		return fd;
	if (lstat(path, &st) != 0)
		return -1;
	if (!S_ISLNK(st.st_mode) ||
	    (st.st_uid != owner->uid && st.st_uid != 0)) {
		errno = ELOOP;
		return -1;
	}
	return open(path, flags);
}

/* No file for this user; anything else may pass. */
static bool
forward_is_absent(int number)
{
	return number == ENOENT || number == ENOTDIR || number == EACCES ||
	    number == EPERM;
}

/* The text; FORWARD_NONE: there is none to believe. */
static enum forward_found
forward_file_read(struct arena *arena, const char *path,
    const struct account *owner,
    struct forward *forward, struct slice *out, struct err *err)
{
	int fd = forward_file_open(path, owner);
	enum forward_found result = FORWARD_TROUBLE;
	const char *distrust;
	struct stat st;
	ssize_t got = 0;
	char *bytes;

	if (fd < 0 && errno == ELOOP) {
		forward_remark(forward, path,
		    "it is a symbolic link of somebody else");
		return FORWARD_NONE;
	}
	if (fd < 0 && forward_is_absent(errno))
		return FORWARD_NONE;
	if (fd < 0) {
		err_sys(err, "%s", path);
		return FORWARD_TROUBLE;
	}
	if (fstat(fd, &st) != 0) {
		err_sys(err, "%s", path);
		goto done;
	}
	distrust = forward_file_distrust(&st, owner->uid);
	if (distrust == NULL)
		distrust = forward_directory_distrust(path);
	if (distrust != NULL) {
		forward_remark(forward, path, distrust);
		result = FORWARD_NONE;
		goto done;
	}
	bytes = arena_alloc(arena, (size_t)st.st_size + 1);
	got = fd_read_at(fd, bytes, (size_t)st.st_size, 0);
	if (got < 0)
		err_sys(err, "read %s", path);
	*out = (struct slice){ bytes, got > 0 ? (size_t)got : 0 };
	result = got < 0 ? FORWARD_TROUBLE : FORWARD_FOUND;
done:
	close(fd);
	return result;
}

/* ---- items ------------------------------------------------------------- */

static void forward_parse_text(struct arena *arena, struct slice text,
    const struct account *owner, unsigned depth, struct forward *out);

static void
forward_include(struct arena *arena, struct slice name,
    const struct account *owner,
    unsigned depth, struct forward *out)
{
	const char *path = slice_dup(arena, name);
	struct slice text = { NULL, 0 };
	struct err err = { "" };
	enum forward_found got;

	if (depth == FORWARD_DEPTH_MAX) {
		forward_remark(out, path,
		    "lists include one another too deeply");
		return;
	}
	/* each may name all others at each of its lines */
	if (out->files == FORWARD_FILES_MAX) {
		forward_remark(out, NULL, "it includes too many lists");
		return;
	}
	out->files++;
	got = forward_file_read(arena, path, owner, out, &text, &err);
	if (got == FORWARD_FOUND)
		forward_parse_text(arena, text, owner, depth + 1, out);
	else
		forward_remark(out, got < 0 ? NULL : path,
		    got < 0 ? err.text : "this list cannot be read");
}

static void
forward_parse_text(struct arena *arena, struct slice text,
    const struct account *owner, unsigned depth, struct forward *out)
{
	struct alias_item item;
	struct err err;
	int got;

	while ((got = alias_next(arena, &text, ALIAS_COMMENTS, &item,
	    &err)) != ALIAS_END) {
		if (got < 0)
			forward_remark(out, NULL, err.text);
		else if (out->count == FORWARD_ITEMS_MAX) {
			forward_remark(out, NULL, "there are too many entries");
			return;
		} else if (item.kind == ALIAS_INCLUDE)
			forward_include(arena, item.text, owner, depth, out);
		else
			out->items[out->count++] = item;
	}
}

void
forward_parse(struct arena *arena, struct slice text,
    const struct account *owner, struct forward *out)
{
	forward_clear(out);
	forward_parse_text(arena, text, owner, 0, out);
}

enum forward_found
forward_read(struct arena *arena, const char *path,
    const struct account *owner, struct forward *out, struct err *err)
{
	struct slice text = { NULL, 0 };
	enum forward_found got;

	forward_clear(out);
	got = forward_file_read(arena, path, owner, out, &text, err);
	if (got == FORWARD_FOUND)
		forward_parse_text(arena, text, owner, 0, out);
	return got < 0 ? -1 : out->count > 0;
}

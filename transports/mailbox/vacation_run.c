/* vacation_run.c - an answer, once a sender and some days
 *
 * In     a recipient whose forward file says vacation
 * Out    an answer with a null sender, handed in as the user
 * Holds  ~/.vacation.seen, locked, while it looks and adds a line
 * Trusts its user's files with its user's rights
 * Spec   RFC 3834; zmailer-mailbox(8), Vacation
 *
 *   seen = *( seconds SP sender LF )
 *
 * The line is durable before the answer is handed in: after a crash, or a
 * power cut, between them a sender misses an answer, and does not get two.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "transports/frame/handin.h"
#include "transports/mailbox/berths.h"
#include "transports/mailbox/vacation.h"

#include "base/banned.h"

static int
vacation_open_file(const struct action *action, const char *name, int flags,
    struct err *err)
{
	const struct account *owner = &action->place->owner;
	const char *path = name[0] == '/' ? name : arena_printf(action->arena,
	    "%s/%s", owner->home, name);
	int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0)
		return err_sys(err, "%s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == owner->uid)
		return fd;
	close(fd);
	return err_set(err, "%s is not the user's own file", path);
}

static int
vacation_get_file(int fd, size_t bytes_max, struct str *out, struct err *err)
{
	ssize_t n = pread(fd, str_room(out, bytes_max), bytes_max, 0);

	if (n < 0)
		return err_sys(err, "read");
	out->len = (size_t)n;
	out->buf[out->len] = '\0';
	return 0;
}

/* Whoever holds the lock for ever holds up nobody else's mail. */
static int
vacation_lock(int fd, struct err *err)
{
	int64_t began_ms = clock_steady_ms();
	struct timespec nap = { 0, 10 * 1000000L };

	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, "lock .vacation.seen");
		if (clock_steady_ms() - began_ms >= MAILBOX_LOCK_WAIT_MS ||
		    !berth_may_wait(began_ms))
			return err_set(err, ".vacation.seen is locked by "
			    "another program");
		nanosleep(&nap, NULL);
	}
	return 0;
}

/* Open and lock the memory; once more when another who held the lock put
 * a shorter one in its place.  The descriptor, or -1. */
static int
vacation_open_memory(const struct action *action, struct err *err)
{
	const char *path = arena_printf(action->arena, "%s/.vacation.seen",
	    action->place->owner.home);

	for (int turn = 0; turn < 5; turn++) {
		struct stat named, opened;
		int fd = vacation_open_file(action, ".vacation.seen",
		    O_RDWR | O_CREAT | O_APPEND, err);

		if (fd < 0)
			return -1;
		if (vacation_lock(fd, err) < 0) {
			close(fd);
			return -1;
		}
		if (fstat(fd, &opened) == 0 && lstat(path, &named) == 0 &&
		    named.st_ino == opened.st_ino &&
		    named.st_dev == opened.st_dev)
			return fd;
		close(fd);
	}
	return err_set(err, ".vacation.seen is replaced again and again");
}

/* A full memory: the lines that still count, in a file of its own, durable,
 * over the old one.  When all of them do, nobody new is answered. */
static int
vacation_shorten_memory(const struct action *action, struct slice memory,
    int64_t since_s, struct slice line, struct err *err)
{
	const char *home = action->place->owner.home;
	struct str kept = STR_INIT;
	int fd = -1, result = -1;

	vacation_since(memory, since_s, &kept);
	str_add_slice(&kept, line);
	if (kept.len >= VACATION_MEMORY_BYTES_MAX) {
		err_set(err, "too many were answered lately");
		goto done;
	}
	fd = vacation_open_file(action, ".vacation.seen.new",
	    O_WRONLY | O_CREAT | O_TRUNC, err);
	if (fd < 0)
		goto done;
	if (write(fd, kept.buf, kept.len) != (ssize_t)kept.len ||
	    fsync(fd) != 0 || rename(arena_printf(action->arena,
	    "%s/.vacation.seen.new", home), arena_printf(action->arena,
	    "%s/.vacation.seen", home)) != 0)	/* row V1 */
		err_sys(err, ".vacation.seen.new");
	else
		result = 1;
	close(fd);
done:
	str_release(&kept);
	return result;
}

/* After a line that a crash tore, a new one. */
static int
vacation_add_memory(int fd, struct slice memory, struct slice line,
    struct err *err)
{
	bool is_torn = memory.n > 0 && memory.p[memory.n - 1] != '\n';

	if (!is_torn)
		line = slice_from(line, 1);
	if (write(fd, line.p, line.n) != (ssize_t)line.n ||
	    fsync(fd) != 0)			/* row V1 */
		return err_sys(err, ".vacation.seen");
	return 1;
}

/* Was the sender answered within these days?  1 no, and now it is noted,
 * durably; 0 yes; -1. */
static int
vacation_note_sender(const struct action *action,
    const struct vacation *vacation,
    struct err *err)
{
	struct slice sender = action->job->sender;
	int64_t now_s = clock_wall_s(), since_s = now_s -
	    (int64_t)vacation->days * 86400, last_s;
	struct slice line = slice_of(arena_printf(action->arena, "\n%lld "
	    SLICE_FMT "\n", (long long)now_s, SLICE_ARG(sender)));
	struct str text = STR_INIT;
	int fd = vacation_open_memory(action, err), result = -1;

	if (fd < 0)
		return -1;
	if (vacation_get_file(fd, VACATION_MEMORY_BYTES_MAX, &text, err) == 0) {
		last_s = vacation_last(str_slice(&text), sender);
		if (last_s > since_s)
			result = 0;
		else if (text.len + line.n > VACATION_MEMORY_BYTES_MAX)
			result = vacation_shorten_memory(action,
			    str_slice(&text),
			    since_s, slice_from(line, 1), err);
		else
			result = vacation_add_memory(fd, str_slice(&text), line,
			    err);
	}
	str_release(&text);
	close(fd);
	return result;
}

static int
vacation_submit(const struct action *action, struct slice message,
    char out_id[SPOOL_ID_BYTES], struct err *err)
{
	struct envelope_rcpt rcpt = { .notify = DSN_NOTIFY_NEVER };
	struct str header = STR_INIT, body = STR_INIT;
	struct slice rest;
	int result = -1;

	vacation_answer(&header, &body, message, action->job->header,
	    action->place->address, action->job->sender);
	if (path_parse(action->job->sender, PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &rcpt.path, &rest, err) == 0) {
		struct handin handin = {
			.user = slice_dup(action->arena, action->place->user),
			.with = "vacation", .header = str_slice(&header),
			.text = str_slice(&body), .body_fd = -1,
			.bodytype = SLICE("8BITMIME"), .rcpts = &rcpt,
			.rcpt_count = 1 };

		result = handin_submit(action->mailbox->conf, &handin, out_id,
		    err);
	}
	str_release(&header);
	str_release(&body);
	return result;
}

static int
vacation_answer_once(const struct action *action,
    const struct vacation *vacation,
    char out_id[SPOOL_ID_BYTES], const char **out_reason, struct err *err)
{
	const char *name = vacation->file.n > 0 ?
	    slice_dup(action->arena, vacation->file) : ".vacation.msg";
	struct str message = STR_INIT;
	int fd = vacation_open_file(action, name, O_RDONLY, err), result = -1;

	if (fd < 0)
		return -1;
	if (vacation_get_file(fd, VACATION_TEXT_BYTES_MAX, &message, err) == 0)
		result = vacation_note_sender(action, vacation, err);
	if (result == 0)
		*out_reason = "its sender has an answer already";
	if (result > 0)
		result = vacation_submit(action, str_slice(&message), out_id,
		    err);
	str_release(&message);
	close(fd);
	return result;
}

void
vacation_run(const struct action *action, struct slice command)
{
	const struct mailbox_place *place = action->place;
	struct slice own[VACATION_NAMES_MAX + 2] = { place->user,
	    slice_of(place->address) };
	char id[SPOOL_ID_BYTES] = "";
	struct vacation vacation;
	const char *reason = NULL;
	struct err err = { "" };

	if (place->is_virtual || place->owner.home[0] == '\0')
		err_set(&err, "vacation is for users with an account");
	else if (vacation_parse(action->arena, command, &vacation,
	    &err) == 0) {
		memcpy(own + 2, vacation.names, vacation.name_count *
		    sizeof(own[0]));
		reason = vacation_refusal(action->arena, action->job->sender,
		    action->job->header, own, vacation.name_count + 2);
		berth_for(place->owner.uid);
		if (reason == NULL && account_become(&place->owner,
		    &err) == 0)
			(void)vacation_answer_once(action, &vacation, id,
			    &reason,
			    &err);
	}
	berth_leave();
	event(EV_VACATION, action->job->id, "to", slice_of(place->address),
	    "sender", action->job->sender, "as", slice_of(id), "reason",
	    slice_of(reason != NULL ? reason : err.text), NULL);
}

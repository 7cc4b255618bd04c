/* copy.c - submissions of other users, copied into our own hands
 *
 * In     public/<name> that belongs to somebody who is not the mail system;
 *        its writer may still hold it open
 * Out    a draft of our own, checked, with the owner's name in it
 * Holds  nothing
 * Trusts nothing: kind of file, links, size, envelope; the checksum is taken
 *        over the very bytes that are copied
 * Spec   doc/INTERNALS.md row S4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "journal/event.h"
#include "mail/envelope.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

enum {
	COPY_BYTES_MAX = 512 << 20,	/* where no `size` is known */
	ENVELOPE_BYTES_MAX = 16 << 20,
	OWN_UIDS_MAX = 8,
	SETTLED_FOR_S = 60		/* a file that does not say when it is
					 * complete: untouched so long */
};

struct copy {
	struct spool	*spool;
	const char	*name;		/* in public/ */
	int		 fd;
	struct stat	 st;
	uint64_t	 size_max;
	bool		 has_first_line;
	bool		 after_cr;	/* of what was copied */
	struct first_line want;
	uint32_t	 crc;		/* of what was copied */
	struct str	 head;		/* what was read to find env-end */
	struct arena	*arena;
	struct envelope	 envelope;
	char		 user[64], from_words[64];
};

static uid_t own_uids[OWN_UIDS_MAX];
static size_t own_count;

void
spool_own_accounts(const uid_t *uids, size_t count)
{
	own_count = count < OWN_UIDS_MAX ? count : OWN_UIDS_MAX;
	memcpy(own_uids, uids, own_count * sizeof(*uids));
}

bool
spool_is_own(uid_t uid)
{
	if (uid == 0 || uid == geteuid())
		return true;
	for (size_t i = 0; i < own_count; i++)
		if (own_uids[i] == uid)
			return true;
	return false;
}

/* 1 a file to look at; 0 not now; -1 never. */
static int
copy_open(struct copy *copy, struct err *err)
{
	const char *label = spool_label(AREA_PUBLIC, 0, copy->name);

	copy->fd = spool_open_file(copy->spool->area_fd[AREA_PUBLIC],
	    copy->name, O_RDONLY);
	if (copy->fd < 0)	/* what its owner hides is no mail yet */
		return errno == ENOENT || errno == EACCES ? 0 :
		    err_sys(err, "open %s", label);
	if (flock(copy->fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? 0 :
		    err_sys(err, "lock %s", label);
	if (fstat(copy->fd, &copy->st) != 0)
		return err_sys(err, "stat %s", label);
	if (!S_ISREG(copy->st.st_mode))
		return err_set(err, "%s is not a regular file", label);
	if (copy->st.st_nlink != 1)
		return err_set(err, "%s has %ju links; a submission has one",
		    label, (uintmax_t)copy->st.st_nlink);
	return 1;
}

/* `size` holds for what users leave here as for what they send. */
static int
copy_check_size(const struct copy *copy, struct err *err)
{
	uint64_t bytes = (uint64_t)copy->st.st_size -
	    copy->envelope.header_offset;

	if (bytes <= copy->size_max)
		return 0;
	return err_set(err, "public/%s has a message of %ju bytes, the limit "
	    "(size) is %ju", copy->name, (uintmax_t)bytes,
	    (uintmax_t)copy->size_max);
}

/* Read on until env-end is in head.  1, 0 there is none, -1. */
static int
copy_read_head(struct copy *copy, struct err *err)
{
	size_t room = SPOOL_IO_BYTES;

	while (copy->head.len < ENVELOPE_BYTES_MAX) {
		ssize_t n = pread(copy->fd, str_room(&copy->head, room), room,
		    (off_t)copy->head.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read public/%s", copy->name);
		copy->head.len += (size_t)n;
		copy->head.buf[copy->head.len] = '\0';
		if (memmem(copy->head.buf, copy->head.len, "\nenv-end\n", 9))
			return 1;
		if ((size_t)n < room)
			return 0;
		room = copy->head.len;
	}
	return err_set(err, "public/%s has an envelope of more than %d bytes",
	    copy->name, ENVELOPE_BYTES_MAX);
}

/* Is all of it there?  A file of our own sendmail says so itself; one that
 * was written by hand has to lie still for a while. */
static int
copy_is_complete(struct copy *copy, struct err *err)
{
	struct slice head = str_slice(&copy->head);

	if (first_line_is_there(head)) {
		copy->has_first_line = true;
		if (!first_line_read(head, &copy->want))
			return 0;
		return spool_is_complete(copy->fd, err);
	}
	return clock_wall_s() - copy->st.st_ctime >= SETTLED_FOR_S;
}

/* What the owner may say stays; who the owner is, we say. */
static void
copy_own_words(struct copy *copy)
{
	struct passwd *pw = getpwuid(copy->st.st_uid);
	struct envelope *envelope = &copy->envelope;

	if (pw != NULL)
		snprintf(copy->user, sizeof(copy->user), "%s", pw->pw_name);
	else
		snprintf(copy->user, sizeof(copy->user), "uid%ju",
		    (uintmax_t)copy->st.st_uid);
	snprintf(copy->from_words, sizeof(copy->from_words),
	    "localhost (uid %ju)", (uintmax_t)copy->st.st_uid);
	envelope->user = slice_of(copy->user);
	envelope->rcvdfrom = slice_of(copy->from_words);
	if (!slice_is(envelope->with, ENVELOPE_LOCAL))
		envelope->with = (struct slice){ NULL, 0 };
	envelope->milters = (struct slice){ NULL, 0 };
	envelope->dsn_of = (struct slice){ NULL, 0 };
}

/* A CR is a line end, as sendmail reads it and as SMTP sends it; but in the
 * body of binary mail. */
static int
copy_add(struct copy *copy, struct draft *draft, struct slice in,
    struct err *err)
{
	struct str out = STR_INIT;
	int result;

	if (slice_is_nocase(copy->envelope.bodytype, "BINARYMIME") ||
	    (!copy->after_cr && slice_find(in, '\r') == in.n))
		return draft_write(draft, in.p, in.n, err);
	for (size_t i = 0; i < in.n; i++) {
		if (in.p[i] == '\r' || in.p[i] != '\n' || !copy->after_cr)
			str_addc(&out, in.p[i] == '\r' ? '\n' : in.p[i]);
		copy->after_cr = in.p[i] == '\r';
	}
	result = draft_write(draft, out.buf, out.len, err);
	str_release(&out);
	return result;
}

/* The bytes after the envelope; those in head first. */
static int
copy_rest(struct copy *copy, struct draft *draft, struct err *err)
{
	static char buffer[SPOOL_IO_BYTES];
	size_t skip = copy->has_first_line ? DRAFT_FIRST_LINE_BYTES : 0;
	size_t header = copy->envelope.header_offset;
	off_t at = (off_t)copy->head.len;
	ssize_t n;

	copy->crc = crc32c(0, copy->head.buf + skip, copy->head.len - skip);
	if (copy_add(copy, draft, slice_from(str_slice(&copy->head), header),
	    err) != 0)
		return -1;
	while ((n = pread(copy->fd, buffer, sizeof(buffer), at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read public/%s", copy->name);
		at += n;
		if (at > copy->st.st_size)
			return err_set(err, "public/%s grew while it was "
			    "read", copy->name);
		copy->crc = crc32c(copy->crc, buffer, (size_t)n);
		if (copy_add(copy, draft, (struct slice){ buffer, (size_t)n },
		    err) != 0)
			return -1;
	}
	if (copy->has_first_line && (copy->crc != copy->want.crc ||
	    (uint64_t)at != copy->want.bytes + DRAFT_FIRST_LINE_BYTES))
		return err_set(err, "public/%s changed while it was read",
		    copy->name);
	return 0;
}

/* The name of the copy says of what: a crash cannot make two. */
static void
copy_name(const struct copy *copy, char out_name[SPOOL_NAME_BYTES])
{
	snprintf(out_name, SPOOL_NAME_BYTES, "%s%ju-%jd-%ld", SPOOL_COPY_OF,
	    (uintmax_t)copy->st.st_ino, (intmax_t)copy->st.st_ctim.tv_sec,
	    copy->st.st_ctim.tv_nsec);
}

/* Open the draft.  One of that name was left by a crash; the original is
 * still there, so it is not the only copy. */
static int
copy_draft(struct copy *copy, struct draft *draft, struct err *err)
{
	char name[SPOOL_NAME_BYTES];

	copy_name(copy, name);
	return draft_open_again(copy->spool, name, draft, err);
}

/* S4: envelope and text into a durable draft of our own. */
static int
copy_write(struct copy *copy, struct draft *draft, struct err *err)
{
	struct str lines = STR_INIT;
	int result;

	memcpy(copy->envelope.id, draft->id, sizeof(draft->id));
	copy_own_words(copy);
	result = envelope_add(&lines, &copy->envelope, err);
	if (result == 0)
		result = draft_write(draft, lines.buf, lines.len, err);
	str_release(&lines);
	if (result != 0 || copy_rest(copy, draft, err) != 0)
		return -1;
	return draft_sync(&draft, 1, err) == 1 ? 0 : -1;
}

static void
copy_event(const struct copy *copy, const struct draft *draft)
{
	struct str from = STR_INIT;

	path_add(&from, &copy->envelope.from);
	event(EV_MESSAGE_ACCEPTED, draft->id, "from", str_slice(&from),
	    "rcpts", event_number((int64_t)copy->envelope.rcpt_count),
	    "size", event_number((int64_t)draft->bytes), "with",
	    SLICE("local"), "uid", event_number(copy->st.st_uid), NULL);
	str_release(&from);
}

static int
copy_take(struct copy *copy, struct err *err)
{
	struct spool *spool = copy->spool;
	struct draft draft;

	if (copy_draft(copy, &draft, err) != 0)
		return -1;
	if (copy_write(copy, &draft, err) != 0) {
		draft_abort(&draft);
		return -1;
	}
	/* The copy is durable and its name says of what: from here on a crash
	 * leaves either both (recovery drops the original) or the copy. */
	if (unlinkat(spool->area_fd[AREA_PUBLIC], copy->name, 0) != 0) {
		int result = 0;

		/* Gone: its writer (root's sendmail) has renamed it to
		 * router/ meanwhile, S2; the copy would be a second one. */
		if (errno != ENOENT)
			result = err_sys(err, "unlink public/%s after it was "
			    "copied", copy->name);
		draft_abort(&draft);
		return result;
	}
	copy_event(copy, &draft);
	if (draft_publish(&draft, AREA_ROUTER, 0, NULL, err) == 0)
		return 1;
	/* S1: complete in public/, adopted at the next sweep; never aborted,
	 * it is the only copy now */
	str_release(&draft.pending);
	if (draft.fd >= 0)
		close(draft.fd);
	return -1;
}

/* How far is it?  is_look: and no further. */
static enum spool_copied
copy_go(struct spool *spool, const char *name, bool is_look, struct err *err)
{
	struct copy copy = { .spool = spool, .name = name, .fd = -1,
	    .size_max = spool->size_max > 0 ? spool->size_max : COPY_BYTES_MAX,
	    .head = STR_INIT };
	int result;

	copy.arena = arena_new();
	result = copy_open(&copy, err);
	if (result == 1)
		result = copy_read_head(&copy, err);
	if (result == 1)
		result = copy_is_complete(&copy, err);
	if (result == 1 && envelope_parse(copy.arena, str_slice(&copy.head),
		&copy.envelope, err) < 0)
		result = err_prefix(err, "public/%s", name);
	if (result == 1 && copy_check_size(&copy, err) < 0)
		result = -1;
	if (result == 1 && !is_look)
		result = copy_take(&copy, err);
	if (copy.fd >= 0)
		close(copy.fd);
	str_release(&copy.head);
	arena_free(&copy.arena);
	return result;
}

enum spool_copied
spool_copy_in(struct spool *spool, const char *name, struct err *err)
{
	return copy_go(spool, name, false, err);
}

enum spool_copied
spool_copy_look(struct spool *spool, const char *name, struct err *err)
{
	return copy_go(spool, name, true, err);
}

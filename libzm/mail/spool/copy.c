/* copy.c - submissions of other users, copied into our own hands
 *
 * In     public/<name> that belongs to somebody who is not the mail system;
 *        its writer may still hold it open
 * Out    a draft of our own, checked, with the owner's name in it
 * Holds  nothing
 * Trusts nothing: kind of file, links, size, envelope, bytes that mail
 *        cannot have; the checksum is taken over the very bytes that are
 *        copied
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
#include "base/fd.h"
#include "grammar/message/header.h"
#include "journal/event.h"
#include "mail/envelope.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

enum {
	COPY_BYTES_MAX = 512 << 20,	/* where no `size` is known */
	ENVELOPE_BYTES_MAX = 16 << 20,
	HEADER_BYTES_MAX = 16 << 20,	/* of binary mail */
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
	bool		 is_binary;	/* BINARYMIME: bytes of its body
					 * stay as they are */
	bool		 is_in_body;	/* binary: after its header */
	bool		 after_cr;	/* of text that was copied */
	size_t		 line_bytes;	/* of the line it ended in */
	struct str	 header;	/* binary: copied so far */
	struct first_line want;
	uint32_t	 crc;		/* of what was copied */
	struct str	 head;		/* what was read to find env-end */
	struct arena	*arena;
	struct envelope	 envelope;
	char		 user[64], from_words[64];
	char		 of[SPOOL_ID_BYTES];	/* what an agent had called
						 * it, or "" */
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
		if (n > 0 && memchr(copy->head.buf + copy->head.len - n, '\0',
		    (size_t)n) != NULL)
			return err_set(err, "public/%s has a NUL byte in its "
			    "envelope", copy->name);
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
	char bytes[DRAFT_FIRST_LINE_BYTES];
	ssize_t n = fd_read_at(copy->fd, bytes, sizeof(bytes), 0);
	struct slice head = { bytes, n > 0 ? (size_t)n : 0 };

	if (n < 0)
		return err_sys(err, "read public/%s", copy->name);
	if (first_line_is_there(head)) {
		copy->has_first_line = true;
		if (!first_line_read(head, &copy->want))
			return 0;
		return spool_is_complete(copy->fd, err);
	}
	return clock_since_s(copy->st.st_ctime) >= SETTLED_FOR_S;
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
	envelope->terms.steered = 0;	/* routes are the site's */
	envelope->terms.via = (struct slice){ NULL, 0 };
}

/* Text: a CR is a line end, as sendmail reads it and as SMTP sends it.  Of
 * binary mail only up to the empty line after its header.  Returns how many
 * bytes of in were text. */
static size_t
copy_as_text(struct copy *copy, struct slice in, struct str *out)
{
	size_t i;

	for (i = 0; i < in.n && !copy->is_in_body; i++) {
		bool is_rest = in.p[i] == '\n' && copy->after_cr;

		copy->after_cr = in.p[i] == '\r';
		if (is_rest)
			continue;
		str_addc(out, copy->after_cr ? '\n' : in.p[i]);
		copy->is_in_body = copy->is_binary &&
		    out->buf[out->len - 1] == '\n' && copy->line_bytes == 0;
		copy->line_bytes = out->buf[out->len - 1] == '\n' ? 0 :
		    copy->line_bytes + 1;
	}
	return i;
}

/* Where binary mail's body begins must be beyond doubt, as for who comes by
 * SMTP: fields, then an empty line, else what we take for its header and what
 * a next hop takes for it may differ. */
static int
copy_check_header(const struct copy *copy, struct err *err)
{
	struct slice rest = str_slice(&copy->header);
	struct header_field field;
	bool is_broken = false;

	if (!copy->is_binary)
		return 0;
	while (header_next(&rest, &field, &is_broken) == 1)
		continue;
	if (copy->is_in_body && !is_broken && rest.n == 0 &&
	    copy->header.len < HEADER_BYTES_MAX)
		return 0;
	return err_set(err, "public/%s says bodytype BINARYMIME, which needs "
	    "a header of fields alone and an empty line after it",
	    copy->name);
}

/* A NUL is for the body of binary mail alone. */
static int
copy_refuse_nul(const struct copy *copy, struct err *err)
{
	return err_set(err, "public/%s has a NUL byte, which mail cannot have; "
	    "send the file as an attachment, encoded", copy->name);
}

static int
copy_add(struct copy *copy, struct draft *draft, struct slice in,
    struct err *err)
{
	bool is_plain = copy->is_in_body || (!copy->is_binary &&
	    !copy->after_cr && slice_find(in, '\r') == in.n);
	struct str out = STR_INIT;
	size_t used = is_plain ? 0 : copy_as_text(copy, in, &out);
	struct slice text = is_plain && !copy->is_binary ? in :
	    str_slice(&out);
	int result = 0;

	if (slice_find(text, '\0') < text.n)
		result = copy_refuse_nul(copy, err);
	if (copy->is_binary && copy->header.len < HEADER_BYTES_MAX)
		str_add_slice(&copy->header, str_slice(&out));
	if (result == 0 && out.len > 0)
		result = draft_write(draft, out.buf, out.len, err);
	str_release(&out);
	in = slice_from(in, used);
	/* the LF of a CR LF that ended the header */
	if (result == 0 && copy->is_in_body && copy->after_cr && in.n > 0) {
		in = slice_from(in, in.p[0] == '\n');
		copy->after_cr = false;
	}
	return result == 0 && in.n > 0 ? draft_write(draft, in.p, in.n, err) :
	    result;
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

	copy->is_binary = slice_is_nocase(copy->envelope.bodytype,
	    "BINARYMIME");
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
	return copy_check_header(copy, err);
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

	if (!slice_is(copy->envelope.with, ENVELOPE_LOCAL) &&
	    spool_id_is(slice_of(copy->envelope.id)))
		memcpy(copy->of, copy->envelope.id, sizeof(copy->of));
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
	    SLICE("local"), "uid", event_number(copy->st.st_uid),
	    copy->of[0] != '\0' ? "of" : NULL, slice_of(copy->of), NULL);
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
	    .header = STR_INIT, .head = STR_INIT };
	int result;

	copy.arena = arena_new();
	result = copy_open(&copy, err);
	if (result == 1)
		result = copy_is_complete(&copy, err);
	if (result == 1)
		result = copy_read_head(&copy, err);
	if (result == 1 && envelope_parse(copy.arena, str_slice(&copy.head),
		&copy.envelope, err) < 0)
		result = err_prefix(err, "public/%s", name);
	if (result == 1 && copy_check_size(&copy, err) < 0)
		result = -1;
	if (result == 1 && !is_look)
		result = copy_take(&copy, err);
	if (copy.fd >= 0)
		close(copy.fd);
	str_release(&copy.header);
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

/* judge_mark.c - a message with what was judged of it in its header
 *
 * In     a draft of a session (row S0), a field
 * Out    another draft (row S0): swept if nobody comes for it
 * Holds  a mapping of the draft
 * Trusts the draft's envelope as far as envelope_parse does;
 *        nothing in the message: fields that claim to be ours go, wherever in
 *        the header they stand
 * Spec   judge_mark.h; RFC 8601 sections 4 and 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grammar/message/header.h"
#include "mail/envelope.h"
#include "origin/authres/authres.h"
#include "origin/dkim2/dkim2.h"
#include "smtpserver/origin/judge_mark.h"

#include "base/banned.h"

enum { JUDGE_READ_BYTES = 65536 };	/* what is larger is mapped */

/* ---- as it lies there ------------------------------------------------- */

/* Two calls and a page fault less than a map of it. */
static int
judge_read(struct judge_mail *mail, int fd, size_t bytes, struct err *err)
{
	ssize_t n;

	mail->copy = mem_alloc(1, bytes);
	n = read(fd, mail->copy, bytes);
	if (n == (ssize_t)bytes) {
		mail->file = (struct slice){ mail->copy, bytes };
		return 0;
	}
	mem_free(&mail->copy);
	return n < 0 ? err_sys(err, "read draft") :
	    err_set(err, "the draft was cut short");
}

static int
judge_map(struct judge_mail *mail, int fd, struct err *err)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) != 0)
		return err_sys(err, "stat draft");
	if (!S_ISREG(st.st_mode) || st.st_size <= DRAFT_FIRST_LINE_BYTES)
		return err_set(err, "the draft is no message");
	if (st.st_size <= JUDGE_READ_BYTES)
		return judge_read(mail, fd, (size_t)st.st_size, err);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "map draft");
	mail->file = (struct slice){ map, (size_t)st.st_size };
	return 0;
}

int
judge_mail_open(struct judge_mail *mail, struct spool *spool,
    const char *name, struct err *err)
{
	int fd = openat(spool_dir_fd(spool, AREA_PUBLIC, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct envelope envelope;
	struct arena *arena;
	struct slice text;
	int result;

	memset(mail, 0, sizeof(*mail));
	if (fd < 0)
		return err_sys(err, "open draft");
	result = judge_map(mail, fd, err);
	close(fd);
	if (result != 0)
		return -1;
	arena = arena_new();
	text = slice_from(mail->file, DRAFT_FIRST_LINE_BYTES);
	result = envelope_parse(arena, text, &envelope, err);
	if (result == 0) {
		mail->envelope = slice_first(text, envelope.header_offset);
		mail->message = slice_from(text, envelope.header_offset);
	} else {
		judge_mail_close(mail);
	}
	arena_free(&arena);
	return result;
}

void
judge_mail_close(struct judge_mail *mail)
{
	if (mail->copy != NULL)
		mem_free(&mail->copy);
	else if (mail->file.n > 0)
		munmap((void *)(uintptr_t)mail->file.p, mail->file.n);
	memset(mail, 0, sizeof(*mail));
}

/* ---- as it goes on ---------------------------------------------------- */

int
judge_mark_envelope(struct slice envelope, enum origin dkim2,
    struct str *out, struct err *err)
{
	struct arena *arena;
	struct envelope read;
	int result;

	if (!dkim2_bars_reports(dkim2)) {
		str_add_slice(out, envelope);
		return 0;
	}
	arena = arena_new();
	result = envelope_parse(arena, envelope, &read, err);
	read.terms.is_never_reported = true;
	if (result == 0)
		result = envelope_add(out, &read, err);
	arena_free(&arena);
	return result;
}

struct slice
judge_mark_header(struct slice message, struct slice field, const char *host,
    struct str *out)
{
	struct header_field one;
	bool is_broken;

	str_add_slice(out, field);
	str_addc(out, '\n');
	/* a first line that looks folded must not become part of the field:
	 * no header follows it */
	if (message.n > 0 && (message.p[0] == ' ' || message.p[0] == '\t'))
		str_addc(out, '\n');
	while (message.n > 0) {
		struct slice before = message;

		if (header_next(&message, &one, &is_broken)) {
			if (!header_is(&one, "Authentication-Results") ||
			    !authres_is_ours(one.value, host))
				str_add_slice(out, one.whole);
			continue;
		}
		if (!is_broken)
			return before;
		str_add_slice(out, header_junk(&message));
	}
	return message;
}

static int
judge_write(const struct judge_mail *mail, struct slice field,
    const char *host, enum origin dkim2, struct draft *draft, struct err *err)
{
	struct str header = STR_INIT;
	struct slice body;
	int result = -1;

	if (judge_mark_envelope(mail->envelope, dkim2, &header, err) != 0) {
		str_release(&header);
		return -1;
	}
	body = judge_mark_header(mail->message, field, host, &header);
	if (draft_write(draft, header.buf, header.len, err) == 0 &&
	    (body.n == 0 || draft_write(draft, body.p, body.n, err) == 0))
		result = 0;
	str_release(&header);
	return result;
}

int
judge_mark(const struct judge_mail *mail, struct spool *spool,
    struct slice field, const char *host, struct judge_answer *out,
    struct err *err)
{
	struct draft draft;

	if (draft_open(spool, NULL, &draft, err) < 0)
		return -1;
	if (judge_write(mail, field, host, out->dkim2, &draft, err) < 0 ||
	    draft_leave(&draft, err) < 0) {
		draft_abort(&draft);
		return -1;
	}
	memcpy(out->file, draft.name, sizeof(out->file));
	out->bytes = draft.bytes;
	out->crc = draft.crc;
	return 0;
}

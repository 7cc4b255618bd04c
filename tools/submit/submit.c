/* submit.c - from a pipe to the spool
 *
 * In     the message on a descriptor, lines ending in LF, CR LF or CR
 * Out    a durable file in router/, or in public/ when the caller may not
 *        write router/ (the router takes it over: row S4)
 * Holds  one draft; at most a header's worth of memory
 * Spec   doc/INTERNALS.md rows S0-S2 and S4; sendmail(1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/err.h"
#include "journal/event.h"
#include "base/str.h"
#include "grammar/message/header.h"
#include "grammar/smtp/path.h"
#include "mail/envelope.h"
#include "mail/spool/spool.h"
#include "tools/submit/submit.h"

#include "base/banned.h"

enum { READ_BYTES = 32768 };	/* twice that is still of the heap */

struct input {			/* a message being read */
	int		 fd;
	bool		 dot_ends;
	bool		 is_over;
	bool		 at_line_start;
	struct str	 raw;		/* read, not yet given out */
	uint64_t	 bytes, bytes_max, lines;
	int		 copy_fd;	/* 0: none */
};

static char complaint[SUBMIT_ERROR_BYTES];	/* the last one */

/* Arguments may come from a form in a browser, the words from a log. */
static int
submit_complain(int status, const char *text)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_of(text));
	snprintf(complaint, sizeof(complaint), "%s", shown.buf);
	fprintf(stderr, "sendmail: %s\n", shown.buf);
	str_release(&shown);
	return status;
}

/* A line that LF ended: lines for each CR in it, as SMTP will send it.  What
 * a next hop takes for a header field must be one for us, too.  False: it is
 * the dot that ends the message. */
static bool
input_add_line(const struct input *input, struct slice line, struct str *out)
{
	struct slice rest = line, part;

	if (rest.n > 0 && rest.p[rest.n - 1] == '\r')
		rest.n--;
	do {
		size_t at = slice_find(rest, '\r');
		bool is_last = at == rest.n;

		part = slice_first(rest, at);
		rest = slice_from(rest, at + !is_last);
		if (input->dot_ends && slice_is(part, "."))
			return false;
		str_add_slice(out, part);
		str_addc(out, '\n');
		if (is_last)
			return true;
	} while (true);
}

/* No next hop takes it under DATA (RFC 5321 section 4.5.2, RFC 5322 section
 * 2.3): said now, not in a report. */
static int
input_refuse_nul(const struct input *input)
{
	char text[SUBMIT_ERROR_BYTES];

	snprintf(text, sizeof(text), "line %llu has a NUL byte, which mail "
	    "cannot have; send the file as an attachment, encoded",
	    (unsigned long long)input->lines);
	return submit_complain(EX_DATAERR, text);
}

/* Append whole lines to *out, CR LF and CR made LF, until about READ_BYTES
 * more are there or the message ends.  A last line without LF gets one.
 * returns 0, or an exit status. */
static int
input_read(struct input *input, struct str *out)
{
	struct slice rest, line;
	ssize_t n;
	bool is_eof = false;

	str_room(&input->raw, READ_BYTES);
	do
		n = read(input->fd, input->raw.buf + input->raw.len,
		    READ_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return submit_complain(EX_IOERR, "the message cannot be read");
	if (input->copy_fd > 0 && write(input->copy_fd, input->raw.buf +
	    input->raw.len, (size_t)n) != n)
		input->copy_fd = 0;	/* a copy cut short is one, too */
	input->raw.len += (size_t)n;
	input->bytes += (uint64_t)n;
	if (input->bytes > input->bytes_max)
		return submit_complain(EX_DATAERR, "the message is larger than "
		    "`size` in zmailer.conf allows");
	is_eof = n == 0;
	if (is_eof && input->raw.len > 0)
		str_addc(&input->raw, '\n');
	rest = str_slice(&input->raw);
	while (rest.n > 0 && slice_find(rest, '\n') < rest.n) {
		size_t at = slice_find(rest, '\n');

		line = slice_first(rest, at);
		rest = slice_from(rest, at + 1);
		input->lines++;
		if (slice_find(line, '\0') < line.n)
			return input_refuse_nul(input);
		if (!input_add_line(input, line, out)) {
			input->is_over = true;
			return 0;
		}
	}
	str_consume(&input->raw, input->raw.len - rest.n);
	input->is_over = is_eof;
	return 0;
}

/* What the header says that the envelope needs to know. */
struct glance {
	bool	has_from, has_rcpts, is_whole;
	bool	is_text;	/* no field in front: all of it is body */
};

static void
glance_at(struct slice text, struct glance *out)
{
	static const char *const rcpt_fields[] = {
		"To", "Cc", "Bcc", "Resent-To", "Resent-Cc", "Resent-Bcc",
	};
	struct header_field field;
	bool is_broken = false;

	*out = (struct glance){ .is_text = text.n > 0 && text.p[0] != '\n' };
	out->is_whole =
	    memmem(text.p ? text.p : "", text.n, "\n\n", 2) != NULL ||
	    (text.n > 0 && text.p[0] == '\n');
	while (header_next(&text, &field, &is_broken) ||
	    (is_broken && !out->is_text)) {
		out->is_text = false;
		if (is_broken) {		/* stays; see headers_pass */
			header_junk(&text);
			continue;
		}
		if (header_is(&field, "From"))
			out->has_from = true;
		for (size_t i = 0; i < 6; i++)
			if (header_is(&field, rcpt_fields[i]) &&
			    slice_trim(field.value).n > 0)
				out->has_rcpts = true;
	}
}

/* Whole lines from the front of the message, to the end of its header or
 * until there are bytes_max.  A From_ line is the mailbox's it came from. */
static int
submit_read_front(struct input *input, uint64_t bytes_max, struct str *piece,
    struct glance *out)
{
	bool is_front = true;
	int status = EX_OK;

	while (status == EX_OK && !input->is_over && !out->is_whole &&
	    piece->len < bytes_max) {
		struct slice text;

		status = input_read(input, piece);
		text = str_slice(piece);
		if (is_front && header_is_from_line(text))
			str_consume(piece, slice_find(text, '\n') + 1);
		is_front = is_front && text.n == 0;
		glance_at(str_slice(piece), out);
	}
	return status;
}

/* RFC 5322 section 3.2.4 quoted-string of a display name. */
static void
add_display_name(struct str *out, struct slice name)
{
	str_addc(out, '"');
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if ((unsigned char)c < 32 || c == 127)
			continue;
		if (c == '"' || c == '\\')
			str_addc(out, '\\');
		str_addc(out, c);
	}
	str_addc(out, '"');
}

static void
submit_add_from(struct str *out, const struct submission *what,
    const char *login,
    const char *host)
{
	struct slice name = slice_of(what->full_name);
	struct slice gecos = slice_of(submit_caller_gecos());

	if (what->full_name == NULL)
		name = slice_first(gecos, slice_find(gecos, ','));
	str_adds(out, "From: ");
	if (name.n > 0) {
		add_display_name(out, name);
		str_addc(out, ' ');
	}
	str_addf(out, strchr(login, '@') ? "<%s>\n" : "<%s@%s>\n", login, host);
}

/* The next address of an argument, which may list several by commas; *text
 * becomes what is left.  Whatever else stands after an address is an error:
 * it would otherwise be dropped in silence. */
static int
submit_address_take(struct slice *text, bool is_utf8, struct path *out,
    struct err *err)
{
	struct slice rest;

	if (path_parse(*text, PATH_BARE_OK | PATH_LOCAL_OK |
	    (is_utf8 ? PATH_UTF8 : 0), out, &rest, err) < 0)
		return -1;
	rest = slice_trim(rest);
	if (rest.n > 0 && rest.p[0] != ',')
		return err_set(err, "what is '" SLICE_FMT "' after the "
		    "address? quote it, or put a comma between addresses",
		    SLICE_ARG(rest));
	*text = rest.n == 0 ? rest : slice_trim(slice_from(rest, 1));
	return 0;
}

static int
submit_sender_take(const char *argument, bool is_utf8, struct path *out,
    struct err *err)
{
	struct slice left = slice_of(argument);

	if (submit_address_take(&left, is_utf8, out, err) < 0)
		return -1;
	return left.n > 0 ? err_set(err, "one address only") : 0;
}

static size_t
addresses_at_most(const struct submission *what)
{
	size_t count = what->rcpt_count;

	for (size_t i = 0; i < what->rcpt_count; i++)
		for (const char *p = what->rcpts[i]; *p != '\0'; p++)
			count += *p == ',';
	return count;
}

static int
add_recipients(struct envelope *out, const struct submission *what,
    const char *argument, struct err *err)
{
	struct slice left = slice_of(argument);

	do {
		struct envelope_rcpt *rcpt = &out->rcpts[out->rcpt_count];

		if (submit_address_take(&left, what->is_utf8, &rcpt->path,
		    err) < 0)
			return -1;
		rcpt->notify = what->notify;
		out->rcpt_count++;
	} while (left.n > 0);
	return 0;
}

/* Envelope from flags; slices borrow from arena and flags. */
static int
submit_envelope_of(struct arena *arena, const struct submission *what,
    const char *login, struct envelope *out)
{
	const char *sender = what->sender != NULL ? what->sender : login;
	struct err err;

	out->with = SLICE(ENVELOPE_LOCAL);
	out->is_external = what->is_gateway;
	out->terms.needs_tls = what->needs_tls;
	out->terms.is_utf8 = what->is_utf8;
	out->terms.is_verp = what->is_verp;
	out->terms.is_queue_only = what->is_queue_only;
	out->user = slice_of(login);
	out->rcvdfrom = slice_of(arena_printf(arena,
	    "localhost (%s uid %ld)", login, (long)getuid()));
	out->bodytype = slice_of(what->bodytype);
	out->envid = slice_of(what->envid);
	out->ret = what->ret;
	out->header_rcpts = what->header_rcpts;
	out->is_error = what->sender != NULL && *what->sender == '\0';
	if (!out->is_error && submit_sender_take(sender, what->is_utf8,
	    &out->from,
	    &err) < 0)
		return submit_complain(EX_USAGE, arena_printf(arena,
		    "sender %s: %s", sender, err.text));
	out->rcpts = arena_alloc(arena,
	    addresses_at_most(what) * sizeof(*out->rcpts));
	for (size_t i = 0; i < what->rcpt_count; i++)
		if (add_recipients(out, what, what->rcpts[i], &err) < 0)
			return submit_complain(EX_USAGE, arena_printf(arena,
			    "recipient %s: %s", what->rcpts[i], err.text));
	return EX_OK;
}

/* Everything after the envelope, in pieces. */
static int
copy_message(struct input *input, struct str *piece, struct draft *draft,
    struct err *err)
{
	int status = EX_OK;

	for (;;) {
		if (draft_write(draft, piece->buf, piece->len, err) < 0)
			return submit_complain(EX_TEMPFAIL, err->text);
		str_reset(piece);
		if (input->is_over)
			return EX_OK;
		status = input_read(input, piece);
		if (status != EX_OK)
			return status;
	}
}

static int
submit_commit(struct draft *draft, const struct envelope *envelope,
    const char *tag,
    struct err *err)
{
	struct draft *drafts[] = { draft };
	struct str from = STR_INIT;

	if (draft_sync(drafts, 1, err) != 1)
		return submit_complain(EX_TEMPFAIL, err->text);
	/* S1 -> S2; where we may not rename, S4 finds it in public/, gives it
	 * an id of its own, and says that it was accepted.  ENOENT: S4 was
	 * quicker than a root who may. */
	if (draft_publish(draft, AREA_ROUTER, 0, NULL, err) < 0)
		return errno == EACCES || errno == EPERM || errno == ENOENT ?
		    EX_OK : submit_complain(EX_TEMPFAIL, err->text);
	path_add(&from, &envelope->from);
	event(EV_MESSAGE_ACCEPTED, envelope->id, "from", str_slice(&from),
	    "with", envelope->with,
	    "rcpts", event_number((int64_t)envelope->rcpt_count),
	    "size", event_number((int64_t)draft->bytes),
	    "uid", event_number((int64_t)getuid()),
	    "tag", slice_of(tag), NULL);
	event_flush();
	str_release(&from);
	return EX_OK;
}

/* As smtpserver does: what is left belongs to the mail that is there. */
static int
submit_room(const struct spool *spool)
{
	if (spool_free_bytes(spool) >= SPOOL_RESERVE_BYTES)
		return EX_OK;
	return submit_complain(EX_TEMPFAIL, "no space to store it now, try "
	    "later");
}

/* May it be taken at all, as far as its front tells? */
static int
submit_check_front(const struct conf_brief *conf, const struct submission *what,
    const struct input *input, const struct glance *glance)
{
	char words[80];

	if (what->hops > conf->received) {
		snprintf(words, sizeof(words), "%ju hops are a mail loop",
		    (uintmax_t)what->hops);
		return submit_complain(EX_UNAVAILABLE, words);
	}
	if (what->header_rcpts && !glance->is_whole && !input->is_over)
		return submit_complain(EX_DATAERR, "the header is larger than "
		    "`limit header` in zmailer.conf allows: not all "
		    "recipients of -t can be read");
	if (!glance->has_rcpts && what->rcpt_count == 0)
		return submit_complain(EX_USAGE, "no recipients: name them, "
		    "or give -t and a To, Cc or Bcc field");
	return EX_OK;
}

static int
write_message(const struct conf_brief *conf, const struct submission *what,
    struct input *input, struct spool *spool)
{
	const char *login = submit_caller();
	struct arena *arena = arena_new();
	struct str piece = STR_INIT, head = STR_INIT;
	struct envelope envelope = { 0 };
	struct draft draft = { .fd = -1 };
	struct glance glance = { 0 };
	struct err err;
	int status;

	status = submit_read_front(input, conf->header_bytes, &piece,
	    &glance);
	if (status == EX_OK)
		status = submit_check_front(conf, what, input, &glance);
	if (status == EX_OK)
		status = submit_envelope_of(arena, what, login, &envelope);
	if (status != EX_OK)
		goto done;
	status = submit_room(spool);
	if (status != EX_OK)
		goto done;
	if (draft_open(spool, NULL, &draft, &err) < 0) {
		status = submit_complain(EX_TEMPFAIL, err.text);
		goto done;
	}
	memcpy(envelope.id, draft.id, sizeof(envelope.id));
	if (envelope_add(&head, &envelope, &err) < 0) {
		status = submit_complain(EX_USAGE, err.text);
		goto done;
	}
	if (!glance.has_from && !what->is_gateway)
		submit_add_from(&head, what, what->sender && *what->sender ?
		    what->sender : login, conf->host);
	if (glance.is_text)
		str_addc(&head, '\n');
	if (draft_write(&draft, head.buf, head.len, &err) < 0)
		status = submit_complain(EX_TEMPFAIL, err.text);
	else
		status = copy_message(input, &piece, &draft, &err);
	if (status == EX_OK && draft.bytes > READ_BYTES)
		status = submit_room(spool);
	if (status == EX_OK)
		status = submit_commit(&draft, &envelope, what->tag, &err);
	if (status == EX_OK && what->out_id != NULL)
		memcpy(what->out_id, envelope.id, sizeof(envelope.id));
done:
	if (status != EX_OK)
		draft_abort(&draft);	/* S0: nothing was promised */
	str_release(&piece);
	str_release(&head);
	arena_free(&arena);
	return status;
}

int
submit_message(const struct conf_brief *conf,
    const struct submission *what, int in)
{
	struct input input = {
		.fd = in, .dot_ends = what->dot_ends, .raw = STR_INIT,
		.bytes_max = conf->size_bytes,
		.copy_fd = what->copy_fd,
	};
	struct spool *spool = NULL;
	struct str rest = STR_INIT;
	struct err err;
	int status;

	if (conf_brief_spool_open(conf, SPOOL_SUBMIT, &spool, &err) < 0)
		return submit_complain(EX_TEMPFAIL, err.text);
	status = write_message(conf, what, &input, spool);
	while (status != EX_OK && input.copy_fd > 0 && !input.is_over &&
	    input_read(&input, &rest) == EX_OK)
		str_reset(&rest);
	if (status != EX_OK && what->out_error != NULL)
		memcpy(what->out_error, complaint, sizeof(complaint));
	str_release(&rest);
	str_release(&input.raw);
	spool_close(&spool);
	return status;
}

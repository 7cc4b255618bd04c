/* envelope.c - the envelope lines in front of a message file: the encoder
 *
 * In     a struct envelope
 * Out    lines "id" to "env-end", each checked before it is added
 * Trusts nothing: a control character in a value refuses the line, so no
 *        value can become a second line
 * Spec   doc/man/zmailer-message.5; RFC 3461 sections 4.1 to 4.4
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/envelope.h"

#include "base/banned.h"

/* Check the line that begins at start and end it; -1 takes it back. */
static int
envelope_line_end(struct str *out, size_t start, struct err *err)
{
	size_t n = out->len - start;

	for (size_t i = start; i < out->len; i++) {
		unsigned char c = (unsigned char)out->buf[i];

		if (c >= ' ' && c != 0x7f)
			continue;
		out->len = start;
		out->buf[start] = '\0';
		return err_set(err, "control character \\x%02x in an "
		    "envelope value", c);
	}
	if (n >= ENVELOPE_LINE_BYTES_MAX) {
		out->len = start;
		out->buf[start] = '\0';
		return err_set(err, "envelope line of %zu bytes, the limit is "
		    "%d", n, ENVELOPE_LINE_BYTES_MAX);
	}
	str_addc(out, '\n');
	return 1;
}

/* "keyword value"; nothing when the value is empty. */
static int
envelope_add_line(struct str *out, const char *keyword, struct slice value,
    struct err *err)
{
	size_t start = out->len;

	if (value.n == 0)
		return 1;
	str_adds(out, keyword);
	str_addc(out, ' ');
	str_add_slice(out, value);
	return envelope_line_end(out, start, err);
}

static int
envelope_add_terms(struct str *out, const struct terms *terms, struct err *err)
{
	size_t start = out->len;

	if (!terms_any(terms))
		return 1;
	str_adds(out, "terms ");
	if (terms_add(out, terms, err) < 0) {
		out->len = start;
		out->buf[start] = '\0';
		return -1;
	}
	return envelope_line_end(out, start, err);
}

/* A mailbox in angle brackets; a local part alone stands bare. */
static int
add_path(struct str *out, const char *keyword, const struct path *path,
    struct err *err)
{
	size_t start = out->len;

	if (path_is_null(path))
		return err_set(err, "envelope line '%s' without an address",
		    keyword);
	str_adds(out, keyword);
	str_adds(out, path->domain.n > 0 ? " <" : " ");
	path_add(out, path);
	if (path->domain.n > 0)
		str_addc(out, '>');
	return envelope_line_end(out, start, err);
}

static int
add_sender(struct str *out, const struct envelope *envelope, struct err *err)
{
	if (envelope->is_error) {
		str_adds(out, "channel error\n");
		return 1;
	}
	if (path_is_null(&envelope->from))
		return 1;	/* sendmail -t without -f: the router knows */
	return add_path(out, "from", &envelope->from, err);
}

int
envelope_add_head(struct str *out, const struct envelope *envelope,
    struct err *err)
{
	if (envelope_add_line(out, "id", slice_of(envelope->id), err) < 0)
		return -1;
	if (envelope->is_external)
		str_adds(out, "external\n");
	if (envelope->is_to_sign)
		str_adds(out, "sign\n");
	if (envelope_add_line(out, "rcvdfrom", envelope->rcvdfrom, err) < 0 ||
	    envelope_add_line(out, "bodytype", envelope->bodytype, err) < 0 ||
	    envelope_add_line(out, "with", envelope->with, err) < 0 ||
	    envelope_add_line(out, "user", envelope->user, err) < 0 ||
	    add_sender(out, envelope, err) < 0 ||
	    envelope_add_line(out, "envid", envelope->envid, err) < 0 ||
	    envelope_add_line(out, "notaryret",
	    slice_of(dsn_ret_name(envelope->ret)),
		err) < 0 ||
	    envelope_add_line(out, "report-of", envelope->dsn_of, err) < 0 ||
	    envelope_add_line(out, "aside", envelope->aside, err) < 0 ||
	    envelope_add_line(out, "milters", envelope->milters, err) < 0 ||
	    envelope_add_terms(out, &envelope->terms, err) < 0)
		return -1;
	if (envelope->header_rcpts)
		str_adds(out, "header-recipients\n");
	return 1;
}

int
envelope_add_rcpt(struct str *out, const struct envelope_rcpt *rcpt,
    struct err *err)
{
	size_t start = out->len;

	if (rcpt->notify != DSN_NOTIFY_DEFAULT || rcpt->orcpt.n > 0) {
		str_adds(out, "todsn");
		if (rcpt->notify != DSN_NOTIFY_DEFAULT) {
			str_adds(out, " NOTIFY=");
			dsn_notify_add(out, rcpt->notify);
		}
		if (rcpt->orcpt.n > 0) {
			if (slice_find(rcpt->orcpt, ' ') < rcpt->orcpt.n) {
				out->len = start;
				out->buf[start] = '\0';
				return err_set(err, "blank in ORCPT");
			}
			str_adds(out, " ORCPT=");
			str_add_slice(out, rcpt->orcpt);
		}
		if (envelope_line_end(out, start, err) < 0)
			return -1;
	}
	if (add_path(out, "to", &rcpt->path, err) < 0) {
		if (out->len > start) {
			out->len = start;
			out->buf[start] = '\0';
		}
		return -1;
	}
	return 1;
}

void
envelope_add_end(struct str *out)
{
	str_adds(out, "env-end\n");
}

int
envelope_add(struct str *out, const struct envelope *envelope,
    struct err *err)
{
	if (envelope_add_head(out, envelope, err) < 0)
		return -1;
	for (size_t i = 0; i < envelope->rcpt_count; i++)
		if (envelope_add_rcpt(out, &envelope->rcpts[i], err) < 0)
			return -1;
	envelope_add_end(out);
	return 0;
}

struct slice
envelope_source(const struct envelope *envelope)
{
	struct slice from = envelope->rcvdfrom;

	if (envelope->user.n > 0)
		return envelope->user;
	from = slice_from(from, slice_find(from, '[') + 1);
	from = slice_first(from, slice_find(from, ']'));
	return from.n > 0 ? from : envelope->from.domain;
}

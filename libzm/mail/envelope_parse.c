/* envelope_parse.c - the envelope lines in front of a message file: the
 * reader
 *
 * In     the front of a message file, whoever wrote it
 * Out    a struct envelope; slices borrow from the file
 * Trusts nothing: each line is bounded, each keyword known, each value
 *        checked by the grammar of its RFC
 * Spec   doc/man/zmailer-message.5
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "mail/envelope.h"
#include "mail/first_line.h"

#include "base/banned.h"

struct reader {
	struct envelope	*out;
	unsigned	 seen;		/* a bit per single keyword */
	size_t		 rcpts_room;
	bool		 has_todsn;	/* waits for its "to" */
	struct envelope_rcpt next;
};

static const enum path_flags address_flags = PATH_BARE_OK | PATH_LOCAL_OK |
    PATH_POSTMASTER_OK | PATH_UTF8;

static int
read_id(struct reader *r, struct slice value, struct err *err)
{
	if (!spool_id_is(value) || value.n >= sizeof(r->out->id))
		return err_set(err, "'" SLICE_FMT "' is not a spool id",
		    SLICE_ARG(slice_first(value, 40)));
	memcpy(r->out->id, value.p, value.n);
	r->out->id[value.n] = '\0';
	return 0;
}

static int
read_external(struct reader *r, struct slice value, struct err *err)
{
	r->out->is_external = true;
	return 0;
}

static int
read_sign(struct reader *r, struct slice value, struct err *err)
{
	r->out->is_to_sign = true;
	return 0;
}

static int
read_rcvdfrom(struct reader *r, struct slice value, struct err *err)
{
	r->out->rcvdfrom = value;
	return 0;
}

static int
read_bodytype(struct reader *r, struct slice value, struct err *err)
{
	if (!slice_is(value, "7BIT") && !slice_is(value, "8BITMIME") &&
	    !slice_is(value, "BINARYMIME"))
		return err_set(err, "unknown body type '" SLICE_FMT "'",
		    SLICE_ARG(slice_first(value, 40)));
	r->out->bodytype = value;
	return 0;
}

static int
read_with(struct reader *r, struct slice value, struct err *err)
{
	if (slice_find(value, ' ') < value.n)
		return err_set(err, "'with' takes one word");
	r->out->with = value;
	return 0;
}

static int
read_user(struct reader *r, struct slice value, struct err *err)
{
	r->out->user = value;
	return 0;
}

static int
read_address(struct slice value, struct path *out, struct err *err)
{
	struct slice rest = { NULL, 0 };

	if (path_parse(value, address_flags, out, &rest, err) != 0)
		return -1;
	if (rest.n > 0)
		return err_set(err, "text after the address");
	return 0;
}

static int
read_from(struct reader *r, struct slice value, struct err *err)
{
	return read_address(value, &r->out->from, err);
}

static int
read_channel(struct reader *r, struct slice value, struct err *err)
{
	if (!slice_is(value, "error"))
		return err_set(err, "the only channel is 'error'");
	r->out->is_error = true;
	return 0;
}

static int
read_envid(struct reader *r, struct slice value, struct err *err)
{
	r->out->envid = value;
	return dsn_envid_check(value, err);
}

static int
read_notaryret(struct reader *r, struct slice value, struct err *err)
{
	return dsn_ret_parse(value, &r->out->ret, err);
}

static int
read_report_of(struct reader *r, struct slice value, struct err *err)
{
	if (!spool_id_is(value))
		return err_set(err, "'report-of' without a spool id");
	r->out->dsn_of = value;
	return 0;
}

static int
read_aside(struct reader *r, struct slice value, struct err *err)
{
	r->out->aside = value;
	return 0;
}

static int
read_milters(struct reader *r, struct slice value, struct err *err)
{
	if (!slice_is(value, "passed") && !slice_starts(value, "refused "))
		return err_set(err, "'milters' is 'passed' or 'refused'");
	r->out->milters = value;
	return 0;
}

static int
read_terms(struct reader *r, struct slice value, struct err *err)
{
	return terms_parse(value, &r->out->terms, err);
}

static int
read_header_recipients(struct reader *r, struct slice value, struct err *err)
{
	r->out->header_rcpts = true;
	return 0;
}

static int
read_comment(struct reader *r, struct slice value, struct err *err)
{
	return 0;
}

/* RFC 3461 parameters of the recipient on the next line. */
static int
read_todsn(struct reader *r, struct slice value, struct err *err)
{
	struct slice word;

	if (r->has_todsn)
		return err_set(err, "'todsn' without its 'to'");
	r->has_todsn = true;
	while (slice_word(&value, &word)) {
		if (slice_starts(word, "NOTIFY=") &&
		    r->next.notify == DSN_NOTIFY_DEFAULT) {
			if (dsn_notify_parse(slice_from(word, 7),
				&r->next.notify, err) != 0)
				return -1;
		} else if (slice_starts(word, "ORCPT=") &&
		    r->next.orcpt.n == 0) {
			r->next.orcpt = slice_from(word, 6);
			if (dsn_orcpt_check(r->next.orcpt, err) != 0)
				return -1;
		} else {
			return err_set(err, "unknown or repeated parameter '"
			    SLICE_FMT "'", SLICE_ARG(slice_first(word, 40)));
		}
	}
	return 0;
}

static int
read_to(struct reader *r, struct slice value, struct err *err)
{
	struct envelope *out = r->out;

	if (out->rcpt_count == ENVELOPE_RCPTS_MAX)
		return err_set(err, "more than %d recipients",
		    ENVELOPE_RCPTS_MAX);
	if (read_address(value, &r->next.path, err) < 0)
		return -1;
	if (out->rcpt_count == r->rcpts_room)
		return err_set(err, "recipient where none was counted");
	out->rcpts[out->rcpt_count++] = r->next;
	memset(&r->next, 0, sizeof(r->next));
	r->has_todsn = false;
	return 0;
}

/* Every keyword, its value's reader, whether it may come twice, whether it
 * takes a value. */
static const struct keyword {
	const char	*name;
	int		(*read)(struct reader *, struct slice, struct err *);
	bool		 is_repeatable, has_value;
} keywords[] = {
	{ "to", read_to, true, true },
	{ "todsn", read_todsn, true, true },
	{ "id", read_id, false, true },
	{ "external", read_external, false, false },
	{ "sign", read_sign, false, false },
	{ "rcvdfrom", read_rcvdfrom, false, true },
	{ "bodytype", read_bodytype, false, true },
	{ "with", read_with, false, true },
	{ "user", read_user, false, true },
	{ "from", read_from, false, true },
	{ "channel", read_channel, false, true },
	{ "envid", read_envid, false, true },
	{ "notaryret", read_notaryret, false, true },
	{ "report-of", read_report_of, false, true },
	{ "aside", read_aside, false, true },
	{ "milters", read_milters, false, true },
	{ "terms", read_terms, false, true },
	{ "header-recipients", read_header_recipients, false, false },
	{ "comment", read_comment, true, true },
};

static int
envelope_read_line(struct reader *r, struct slice line, struct err *err)
{
	struct slice word = slice_first(line, slice_find(line, ' '));
	struct slice value = slice_from(line, word.n + 1);

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		const struct keyword *row = &keywords[i];

		if (!slice_is(word, row->name))
			continue;
		if (!row->is_repeatable && (r->seen & 1u << i) != 0)
			return err_set(err, "'%s' a second time", row->name);
		r->seen |= 1u << i;
		if (row->has_value != (value.n > 0))
			return err_set(err, row->has_value ?
			    "'%s' needs a value" : "'%s' takes no value",
			    row->name);
		return row->read(r, value, err);
	}
	return err_set(err, "unknown keyword '" SLICE_FMT "'",
	    SLICE_ARG(slice_first(word, 40)));
}

static int
line_check(struct slice line, struct err *err)
{
	if (line.n >= ENVELOPE_LINE_BYTES_MAX)
		return err_set(err, "longer than %d bytes",
		    ENVELOPE_LINE_BYTES_MAX);
	if (line.n == 0)
		return err_set(err, "empty line before env-end");
	for (size_t i = 0; i < line.n; i++) {
		unsigned char c = (unsigned char)line.p[i];

		if (c < ' ' || c == 0x7f)
			return err_set(err, "control character \\x%02x", c);
	}
	return 0;
}

static int
envelope_check(const struct reader *r, struct err *err)
{
	const struct envelope *out = r->out;

	if (r->has_todsn)
		return err_set(err, "'todsn' without its 'to'");
	if (out->is_error && !path_is_null(&out->from))
		return err_set(err, "both 'from' and 'channel error'");
	if (out->rcpt_count == 0 && !out->header_rcpts)
		return err_set(err, "no recipient");
	return 0;
}

/* How many lines can be recipients: bounds the array before it is made. */
static size_t
count_rcpts(struct slice text)
{
	size_t count = slice_starts(text, "to ") ? 1 : 0;
	const char *p = text.p, *end = text.p + text.n;

	while ((p = memmem(p, (size_t)(end - p), "\nto ", 4)) != NULL) {
		count++;
		p += 4;
	}
	return count;
}

/* The lines before env-end, or an empty slice when there is none. */
static struct slice
envelope_text(struct slice file, size_t start, size_t *out_header)
{
	struct slice text = slice_from(file, start);
	const char *end;

	if (slice_starts(text, "env-end\n")) {
		*out_header = start + 8;
		return slice_first(text, 0);
	}
	end = text.n == 0 ? NULL : memmem(text.p, text.n, "\nenv-end\n", 9);
	if (end == NULL)
		return (struct slice){ NULL, 0 };
	*out_header = start + (size_t)(end - text.p) + 9;
	return slice_first(text, (size_t)(end - text.p) + 1);
}

/* After the first line, if there is one. */
static size_t
envelope_start(struct slice file)
{
	return file.n >= DRAFT_FIRST_LINE_BYTES &&
	    first_line_is_there(file) &&
	    file.p[DRAFT_FIRST_LINE_BYTES - 1] == '\n' ?
	    DRAFT_FIRST_LINE_BYTES : 0;
}

int
envelope_peek(struct slice front, struct envelope *out, struct err *err)
{
	struct slice rest = slice_from(front, envelope_start(front)), line;
	struct reader r = { .out = out };

	memset(out, 0, sizeof(*out));
	while (slice_find(rest, '\n') < rest.n &&
	    slice_cut(&rest, '\n', &line) && !slice_starts(line, "to ") &&
	    !slice_starts(line, "todsn ") && !slice_is(line, "env-end"))
		if (line_check(line, err) < 0 || envelope_read_line(&r, line,
		    err) < 0)
			return err_prefix(err, "envelope");
	return 0;
}

int
envelope_parse(struct arena *arena, struct slice file,
    struct envelope *out, struct err *err)
{
	struct reader r = { .out = out };
	struct slice text, line;
	size_t start = envelope_start(file);
	unsigned number = start > 0 ? 1 : 0;

	memset(out, 0, sizeof(*out));
	text = envelope_text(file, start, &out->header_offset);
	if (text.p == NULL)
		return err_set(err, "there is no env-end line");
	r.rcpts_room = count_rcpts(text);
	if (r.rcpts_room > ENVELOPE_RCPTS_MAX)
		return err_set(err, "more than %d recipients",
		    ENVELOPE_RCPTS_MAX);
	out->rcpts = arena_alloc(arena, r.rcpts_room * sizeof(*out->rcpts));
	while (text.n > 0) {
		line = slice_first(text, slice_find(text, '\n'));
		text = slice_from(text, line.n + 1);
		number++;
		if (line_check(line, err) < 0 || envelope_read_line(&r, line,
		    err) < 0)
			return err_prefix(err, "envelope line %u", number);
	}
	if (envelope_check(&r, err) < 0)
		return err_prefix(err, "envelope");
	return 0;
}

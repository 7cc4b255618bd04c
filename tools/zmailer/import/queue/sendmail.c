/* sendmail.c - the qf and df files of a message of sendmail
 *
 * In     qf: lines of a letter and its value; a line that begins with a blank
 *        continues the one before; "." ends it.  df: the body
 * Out    the envelope of the recipients that wait; the text
 * Trusts no line; an unknown letter is an error
 * Spec   zmailer-import(8); RFC 3461
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "tools/zmailer/import/queue/old.h"

#include "base/banned.h"

enum { SENDMAIL_VERSION_MIN = 1, SENDMAIL_VERSION_MAX = 8 };

struct qf_lines {
	struct slice	rest;
	unsigned	line;		/* of the one that was read last */
	bool		is_over;	/* "." was read */
};

/* A line with those that go on; no LF at its end.  0; -1: none is left. */
static int
qf_next(struct qf_lines *lines, struct slice *out, struct err *err)
{
	size_t n = slice_find(lines->rest, '\n');

	lines->line++;
	while (n + 1 < lines->rest.n && (lines->rest.p[n + 1] == ' ' ||
	    lines->rest.p[n + 1] == '\t')) {
		n += 1 + slice_find(slice_from(lines->rest, n + 1), '\n');
		lines->line++;
	}
	if (n >= lines->rest.n)
		return err_set(err, "qf ends without the line \".\": it is "
		    "not whole");
	*out = slice_first(lines->rest, n);
	lines->rest = slice_from(lines->rest, n + 1);
	lines->is_over = slice_is(*out, ".");
	return 0;
}

struct qf {
	struct arena		*arena;
	struct old_message	*out;
	struct qf_lines		 lines;
	struct old_rcpts	 rcpts;
	struct slice		 orcpt;	/* of the next recipient */
	struct slice		 came;	/* $_: "NAME [ADDRESS]" */
	bool			 has_sender, has_version;
};

static int
qf_bad(const struct qf *it, struct err *err, const char *words)
{
	return err_set(err, "qf line %u %s", it->lines.line, words);
}

static int
qf_take_version(struct qf *it, struct slice value, struct err *err)
{
	uint64_t version;

	if (!slice_number(slice_first(value, slice_find(value, ' ')),
	    SENDMAIL_VERSION_MIN, SENDMAIL_VERSION_MAX, &version))
		return qf_bad(it, err, "has a version that is not known");
	it->has_version = true;
	return 0;
}

static int
qf_take_created(struct qf *it, struct slice value, struct err *err)
{
	uint64_t s;

	if (!slice_number(value, 1, UINT32_MAX, &s))
		return qf_bad(it, err, "has no time of creation");
	it->out->arrived_us = (int64_t)s * 1000000;
	return 0;
}

/* "${name}value", "$xvalue". */
static void
qf_take_macro(struct qf *it, struct slice value)
{
	struct slice name = slice_first(value, 1);

	if (slice_is(name, "{")) {
		name = slice_first(slice_from(value, 1), slice_find(
		    slice_from(value, 1), '}'));
		value = slice_from(value, name.n + 2);
	} else {
		value = slice_from(value, 1);
	}
	if (slice_is(name, "_"))
		it->came = value;
	else if (slice_is(name, "auth_authen"))
		old_user(it->arena, value, it->out);
}

/* Flags of a recipient: what its sender wants to know. */
static int
qf_take_flags(const struct qf *it, struct slice flags, unsigned *out_notify,
    struct err *err)
{
	unsigned notify = 0;
	bool has_notify = false;

	for (size_t i = 0; i < flags.n; i++)
		switch (flags.p[i]) {
		case 'S':
			notify |= DSN_NOTIFY_SUCCESS;
			break;
		case 'F':
			notify |= DSN_NOTIFY_FAILURE;
			break;
		case 'D':
			notify |= DSN_NOTIFY_DELAY;
			break;
		case 'N':
			has_notify = true;
			break;
		case 'P':
		case 'A':
		case 'B':
			break;
		default:
			return qf_bad(it, err, "has a flag of a recipient "
			    "that is not known");
		}
	*out_notify = !has_notify ? DSN_NOTIFY_DEFAULT :
	    notify == 0 ? DSN_NOTIFY_NEVER : notify;
	return 0;
}

/* "|PROGRAM", "/FILE", ":include:FILE", quoted or not: an alias made it. */
static bool
rcpt_is_no_address(struct slice value)
{
	if (slice_starts(value, "\""))
		value = slice_from(value, 1);
	return value.n > 0 && strchr("|/:", value.p[0]) != NULL;
}

/* "PFD:ADDRESS": if only letters precede a colon, they are flags. */
static int
qf_take_rcpt(struct qf *it, struct slice value, struct err *err)
{
	size_t at = slice_find(value, ':');
	struct envelope_rcpt *rcpt = old_rcpt_add(&it->rcpts);

	if (rcpt == NULL)
		return qf_bad(it, err, "is one recipient too many");
	if (it->has_version && at < value.n) {
		if (qf_take_flags(it, slice_first(value, at), &rcpt->notify,
		    err) != 0)
			return -1;
		value = slice_from(value, at + 1);
	}
	if (rcpt_is_no_address(value))
		return qf_bad(it, err, "is a program or a file and no "
		    "address");
	if (old_address(it->arena, value, &rcpt->path, err) != 0)
		return err_prefix(err, "qf line %u", it->lines.line);
	old_orcpt(it->arena, it->orcpt, true, it->out, &rcpt->orcpt);
	it->orcpt = slice_first(it->orcpt, 0);
	return 0;
}

/* Flags of the message: d says that RET= was given, n that it was HDRS. */
static void
qf_take_bits(struct qf *it, struct slice value)
{
	if (slice_find(value, 'd') < value.n)
		it->out->envelope.ret = slice_find(value, 'n') < value.n ?
		    DSN_RET_HDRS : DSN_RET_FULL;
}

static int
qf_take_sender(struct qf *it, struct slice value, struct err *err)
{
	if (it->has_sender)
		return qf_bad(it, err, "is a second sender");
	it->has_sender = true;
	return old_sender(it->arena, value, false, &it->out->envelope, err);
}

static int
qf_take_line(struct qf *it, struct slice line, struct err *err)
{
	struct slice value = slice_from(line, 1);

	switch (line.n > 0 ? line.p[0] : '\0') {
	case 'V':
		return qf_take_version(it, value, err);
	case 'T':
		return qf_take_created(it, value, err);
	case 'S':
		return qf_take_sender(it, value, err);
	case 'R':
		return qf_take_rcpt(it, value, err);
	case 'Q':
		it->orcpt = value;
		return 0;
	case 'Z':
		old_envid(it->arena, value, true, it->out);
		return 0;
	case 'F':
		qf_take_bits(it, value);
		return 0;
	case '$':
		qf_take_macro(it, value);
		return 0;
	case 'q':
		it->out->is_held = true;
		return 0;
	case 'C':
		if (value.n > 0 && !slice_starts(value, ":"))
			old_lost_add(it->out, "the rights that an alias gave a "
			    "recipient");
		return 0;
	case '!':
		old_lost_add(it->out, "DELIVERBY");
		return 0;
	case 'A': case 'B': case 'D': case 'E': case 'H': case 'I': case 'K':
	case 'M': case 'N': case 'P': case 'd': case 'r': case '.': case '#':
		return 0;
	default:
		return qf_bad(it, err, "begins with a letter that is not "
		    "known");
	}
}

static void
qf_origin(struct qf *it, const struct old_files *files)
{
	size_t at = slice_find(it->came, '[');
	struct slice address = slice_from(it->came, at + 1);

	address = slice_first(address, slice_find(address, ']'));
	it->out->envelope.is_external = true;
	old_came_from(it->arena, "sendmail", files->id, slice_trim(
	    slice_first(it->came, at)), address, &it->out->envelope);
}

static int
qf_lines_take(struct qf *it, struct err *err)
{
	struct slice line;

	while (!it->lines.is_over)
		if (qf_next(&it->lines, &line, err) != 0 ||
		    qf_take_line(it, line, err) != 0)
			return -1;
	if (!it->has_sender)
		return err_set(err, "qf has no sender (S)");
	if (it->out->arrived_us == 0)
		return err_set(err, "qf has no time of creation (T)");
	return 0;
}

static int
sendmail_read(struct arena *arena, const struct old_files *files,
    struct old_message *out, struct err *err)
{
	struct qf it = { .arena = arena, .out = out,
	    .lines = { .rest = files->main } };
	int result = qf_lines_take(&it, err);

	if (result == 0) {
		old_rcpts_take(arena, &it.rcpts, &out->envelope);
		qf_origin(&it, files);
	}
	mem_free(&it.rcpts.rows);
	return result;
}

/* "H?FLAGS?Name: value".  Fields only for mailers that deliver in the end
 * (Return-Path, Full-Name) are not for a relay. */
static bool
qf_field(struct slice line, struct slice *out)
{
	struct slice flags = { NULL, 0 };

	*out = slice_from(line, 1);
	if (slice_starts(*out, "?")) {
		flags = slice_first(slice_from(*out, 1), slice_find(
		    slice_from(*out, 1), '?'));
		*out = slice_from(*out, flags.n + 2);
	}
	return out->n > 0 && !slice_is(flags, "P") && !slice_is(flags, "x");
}

static int
sendmail_copy(const struct old_files *files,
    const struct old_message *message, struct old_sink *sink,
    struct err *err)
{
	struct qf_lines lines = { .rest = files->main };
	struct slice line, field;

	(void)message;
	while (!lines.is_over) {
		if (qf_next(&lines, &line, err) != 0)
			return -1;
		if (slice_starts(line, "H") && qf_field(line, &field) &&
		    (old_sink_add(sink, field, err) != 0 ||
		    old_sink_add(sink, SLICE("\n"), err) != 0))
			return -1;
	}
	if (old_sink_add(sink, SLICE("\n"), err) != 0 ||
	    old_sink_add(sink, files->body, err) != 0)
		return -1;
	return old_sink_end(sink, err);
}

const struct old_kind old_sendmail = {
	.name = "sendmail",
	.stop = "service sendmail stop",
	.empty = "rm -i DIR/?f*",
	.read = sendmail_read,
	.copy = sendmail_copy,
};

/* exim.c - the -H, -D and -J files of a message of Exim
 *
 * In     -H: its name, the caller, <sender>, times, lines that begin with a
 *        dash (two: data from outside), the recipients that have it as a tree,
 *        all recipients, an empty line, header fields with their lengths;
 *        -D: its name, then the body; -J: who got it since -H was written
 * Out    the envelope of the recipients that wait; the text
 * Trusts no count and no length
 * Spec   zmailer-import(8); RFC 3461
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "tools/zmailer/import/queue/old.h"

#include "base/banned.h"

enum { EXIM_RCPTS_MAX = 16384 };	/* it reads no more either */
enum { EXIM_DONE_MAX = 100000 };
enum { EXIM_NEVER = 2, EXIM_SUCCESS = 4, EXIM_FAILURE = 8, EXIM_DELAY = 16 };

struct exim {
	struct arena		*arena;
	const struct old_files	*files;
	struct old_message	*out;
	struct slice		 rest;	/* of -H */
	unsigned		 line;
	struct old_rcpts	 rcpts;
	struct slice		*done;	/* addresses that have it */
	size_t			 done_count, done_room, strays;
	struct slice		 client, address;
	int64_t			 usec;
};

static int
exim_bad(const struct exim *it, struct err *err, const char *words)
{
	return err_set(err, "-H line %u %s", it->line, words);
}

static int
exim_h_line(struct exim *it, struct slice *out, struct err *err)
{
	size_t at = slice_find(it->rest, '\n');

	it->line++;
	if (at == it->rest.n)
		return exim_bad(it, err, "is not there: the file is not "
		    "whole");
	*out = slice_first(it->rest, at);
	it->rest = slice_from(it->rest, at + 1);
	return 0;
}

/* More than that are named nowhere, so nobody is passed over for them. */
static void
done_add(struct exim *it, struct slice address)
{
	if (it->done_count == EXIM_DONE_MAX)
		return;
	if (it->done_count == it->done_room) {
		it->done_room = it->done_room > 0 ? 2 * it->done_room : 16;
		it->done = mem_grow(it->done, it->done_room,
		    sizeof(*it->done));
	}
	it->done[it->done_count++] = address;
}

/* The domain in small letters there, the local part as it was. */
static bool
done_is(struct slice a, struct slice b)
{
	size_t local = a.n;

	if (a.n != b.n)
		return false;
	while (local > 0 && a.p[local - 1] != '@')
		local--;
	return slice_equal(slice_first(a, local), slice_first(b, local)) &&
	    slice_equal_nocase(slice_from(a, local), slice_from(b, local));
}

/* A tree in the order node, left, right: "YN ADDRESS" has a left one. */
static int
exim_take_tree(struct exim *it, struct slice line, struct err *err)
{
	uint64_t wanted = 1;

	if (slice_is(line, "XX"))
		return 0;
	for (;;) {
		if (line.n < 4 || line.p[2] != ' ' ||
		    (line.p[0] != 'Y' && line.p[0] != 'N') ||
		    (line.p[1] != 'Y' && line.p[1] != 'N'))
			return exim_bad(it, err, "is no line of who has it");
		done_add(it, slice_from(line, 3));
		wanted += (uint64_t)(line.p[0] == 'Y') +
		    (uint64_t)(line.p[1] == 'Y') - 1;
		if (wanted == 0)
			return 0;
		if (exim_h_line(it, &line, err) != 0)
			return -1;
	}
}

/* ---- the lines with a dash --------------------------------------------- */

/* "NAME LENGTH", and LENGTH bytes with a line end after them. */
static int
exim_take_variable(struct exim *it, struct slice value, struct err *err)
{
	struct slice word = { NULL, 0 }, last = { NULL, 0 };
	uint64_t n;

	while (slice_word(&value, &word))
		last = word;
	if (!slice_number(last, 0, it->rest.n, &n) || n == it->rest.n ||
	    it->rest.p[n] != '\n')
		return exim_bad(it, err, "has a variable of another length");
	for (uint64_t i = 0; i < n; i++)
		it->line += it->rest.p[i] == '\n';
	it->line++;
	it->rest = slice_from(it->rest, (size_t)n + 1);
	return 0;
}

/* "1.2.3.4.5678": a port after the last dot. */
static struct slice
address_without_port(struct slice text)
{
	size_t n = text.n;

	while (n > 0 && text.p[n - 1] != '.')
		n--;
	return n > 1 ? slice_first(text, n - 1) : text;
}

static int
exim_take_number(const struct exim *it, struct slice text, uint64_t max,
    uint64_t *out, struct err *err)
{
	return slice_number(slice_trim(text), 0, max, out) ? 0 :
	    exim_bad(it, err, "has no number where one belongs");
}

static int
exim_take_option(struct exim *it, struct slice line, struct err *err)
{
	struct slice name = slice_first(line, slice_find(line, ' '));
	struct slice value = slice_from(line, name.n + 1);
	uint64_t number = 0;

	if (slice_starts(name, "acl"))
		return exim_take_variable(it, value, err);
	if (slice_is(name, "received_time_usec")) {
		if (slice_starts(value, "."))
			value = slice_from(value, 1);
		if (exim_take_number(it, value, 999999, &number, err) != 0)
			return -1;
		it->usec = (int64_t)number;
	} else if (slice_is(name, "frozen")) {
		it->out->is_held = true;
	} else if (slice_is(name, "smtputf8")) {
		it->out->envelope.terms.is_utf8 = true;
	} else if (slice_is(name, "spool_file_wireformat")) {
		it->out->is_wire = true;
	} else if (slice_is(name, "auth_id")) {
		old_user(it->arena, value, it->out);
	} else if (slice_is(name, "host_address")) {
		it->address = address_without_port(value);
	} else if (slice_is(name, "host_name")) {
		it->client = value;
	} else if (slice_is(name, "dsn_envid")) {
		old_envid(it->arena, value, true, it->out);
	} else if (slice_is(name, "dsn_ret")) {
		if (exim_take_number(it, value, 2, &number, err) != 0)
			return -1;
		it->out->envelope.ret = number == 1 ? DSN_RET_FULL :
		    number == 2 ? DSN_RET_HDRS : DSN_RET_DEFAULT;
	} else if (slice_is(name, "N")) {
		return exim_bad(it, err, "says that it is not to be delivered "
		    "(-N)");
	}
	return 0;
}

/* "-name value", "--name value", "--(lookup)name value". */
static int
exim_take_options(struct exim *it, struct slice *out_line, struct err *err)
{
	struct slice line;

	for (;;) {
		if (exim_h_line(it, &line, err) != 0)
			return -1;
		if (!slice_starts(line, "-")) {
			*out_line = line;
			return 0;
		}
		line = slice_from(line, slice_starts(line, "--") ? 2 : 1);
		if (slice_starts(line, "("))
			line = slice_from(line, slice_find(line, ')') + 1);
		if (exim_take_option(it, line, err) != 0)
			return -1;
	}
}

/* ---- recipients -------------------------------------------------------- */

/* From its end: "TEXT LENGTH,NUMBER", where TEXT has LENGTH bytes (none and no
 * blank before it when that is 0). */
static int
exim_take_back(const struct exim *it, struct slice *line,
    struct slice *out_text, int64_t *out_number, struct err *err)
{
	size_t n = line->n;
	struct slice pair, length;
	uint64_t text_n, number = 0;

	while (n > 0 && (ascii_is_digit(line->p[n - 1]) ||
	    line->p[n - 1] == ',' || line->p[n - 1] == '-'))
		n--;
	pair = slice_from(*line, n);
	if (n == 0 || line->p[n - 1] != ' ' ||
	    !slice_cut(&pair, ',', &length) ||
	    !slice_number(length, 0, n - 1, &text_n) ||
	    !(slice_starts(pair, "-") ||
	    slice_number(pair, 0, INT32_MAX, &number)))
		return exim_bad(it, err, "is no recipient");
	*out_number = (int64_t)number;
	*out_text = slice_first(slice_from(*line, n - 1 - (size_t)text_n),
	    (size_t)text_n);
	n = n - 1 - (size_t)text_n;
	*line = slice_first(*line, n);
	return 0;
}

/* What follows an address: "#1" and its meaning; Exim 3 and early Exim 4 had
 * only numbers. */
static int
exim_take_more(struct exim *it, struct slice *line, struct envelope_rcpt *rcpt,
    struct err *err)
{
	size_t n = line->n;
	struct slice errors_to = { NULL, 0 }, orcpt = { NULL, 0 };
	uint64_t bits;
	int64_t flags = 0, parent;

	while (n > 0 && ascii_is_digit(line->p[n - 1]))
		n--;
	if (n == 0 || n == line->n || line->p[n - 1] != '#') {
		while (n > 0 && (ascii_is_digit(line->p[n - 1]) ||
		    line->p[n - 1] == ','))
			n--;
		if (n > 1 && n < line->n && line->p[n - 1] == ' ')
			*line = slice_first(*line, n - 1);
		return 0;
	}
	if (!slice_number(slice_from(*line, n), 0, 3, &bits))
		return exim_bad(it, err, "has a recipient of a kind that is "
		    "not known");
	*line = slice_first(*line, n - 1);
	if ((bits & 1) != 0 && exim_take_back(it, line, &errors_to, &parent,
	    err) != 0)
		return -1;
	*line = slice_trim(*line);
	if ((bits & 2) != 0 && exim_take_back(it, line, &orcpt, &flags,
	    err) != 0)
		return -1;
	*line = slice_trim(*line);
	if (errors_to.n > 0)
		old_lost_add(it->out, "where errors of a recipient go");
	old_orcpt(it->arena, orcpt, true, it->out, &rcpt->orcpt);
	rcpt->notify = (flags & EXIM_NEVER) != 0 ? DSN_NOTIFY_NEVER :
	    ((flags & EXIM_SUCCESS) != 0 ? DSN_NOTIFY_SUCCESS : 0u) |
	    ((flags & EXIM_FAILURE) != 0 ? DSN_NOTIFY_FAILURE : 0u) |
	    ((flags & EXIM_DELAY) != 0 ? DSN_NOTIFY_DELAY : 0u);
	return 0;
}

/* Who has it already is taken from the list. */
static bool
rcpt_is_done(struct exim *it, struct slice address)
{
	bool is_done = false;

	for (size_t i = 0; i < it->done_count; i++)
		if (it->done[i].n > 0 && done_is(it->done[i], address)) {
			it->done[i] = slice_first(it->done[i], 0);
			is_done = true;
		}
	return is_done;
}

static int
exim_take_rcpt(struct exim *it, struct err *err)
{
	struct envelope_rcpt rcpt = { .notify = 0 }, *row;
	struct slice line;

	if (exim_h_line(it, &line, err) != 0 ||
	    exim_take_more(it, &line, &rcpt, err) != 0)
		return -1;
	if (rcpt_is_done(it, line)) {
		it->out->done++;
		return 0;
	}
	if (old_address(it->arena, line, &rcpt.path, err) != 0)
		return err_prefix(err, "-H line %u", it->line);
	row = old_rcpt_add(&it->rcpts);
	if (row == NULL)
		return exim_bad(it, err, "is one recipient too many");
	*row = rcpt;
	return 0;
}

static int
exim_take_rcpts(struct exim *it, struct err *err)
{
	struct slice line;
	uint64_t count;

	if (exim_h_line(it, &line, err) != 0)
		return -1;
	if (!slice_number(slice_trim(line), 0, EXIM_RCPTS_MAX, &count))
		return exim_bad(it, err, "has no number of recipients");
	for (uint64_t i = 0; i < count; i++)
		if (exim_take_rcpt(it, err) != 0)
			return -1;
	if (exim_h_line(it, &line, err) != 0)
		return -1;
	if (line.n > 0)
		return exim_bad(it, err, "should be empty, before the header");
	for (size_t i = 0; i < it->done_count; i++)
		it->strays += it->done[i].n > 0;
	if (it->strays > 0)
		old_lost_add(it->out, "that an alias or list of a recipient "
		    "was served in part");
	return 0;
}

/* ---- from the first line ----------------------------------------------- */

static int
exim_take_name(const struct exim *it, struct slice line, char end,
    struct err *err)
{
	size_t n = strlen(it->files->id);

	if (line.n != n + 2 || memcmp(line.p, it->files->id, n) != 0 ||
	    line.p[n] != '-' || line.p[n + 1] != end)
		return err_set(err, "-%c does not begin with its name", end);
	return 0;
}

static int
exim_take_front(struct exim *it, struct err *err)
{
	struct slice line, word;
	uint64_t s;

	if (exim_h_line(it, &line, err) != 0 ||
	    exim_take_name(it, line, 'H', err) != 0 ||
	    exim_h_line(it, &line, err) != 0 ||	/* who called */
	    exim_h_line(it, &line, err) != 0)
		return -1;
	if (!slice_starts(line, "<") || !slice_ends(line, ">"))
		return exim_bad(it, err, "has no <sender>");
	if (old_sender(it->arena, slice_first(slice_from(line, 1),
	    line.n - 2), false, &it->out->envelope, err) != 0 ||
	    exim_h_line(it, &line, err) != 0)
		return -1;
	if (!slice_word(&line, &word) ||
	    !slice_number(word, 1, UINT32_MAX, &s))
		return exim_bad(it, err, "has no time of arrival");
	it->out->arrived_us = (int64_t)s * 1000000;
	return 0;
}

/* Lines of -J: an address each; the last may be torn, and is one that Exim
 * would not believe either. */
static void
exim_take_journal(struct exim *it)
{
	struct slice rest = it->files->journal;

	while (slice_find(rest, '\n') < rest.n) {
		struct slice line = slice_first(rest, slice_find(rest, '\n'));

		rest = slice_from(rest, line.n + 1);
		if (line.n > 0)
			done_add(it, line);
	}
}

static int
exim_envelope(struct exim *it, struct err *err)
{
	struct slice line = { NULL, 0 };

	if (exim_take_front(it, err) != 0 ||
	    exim_take_options(it, &line, err) != 0 ||
	    exim_take_tree(it, line, err) != 0)
		return -1;
	exim_take_journal(it);
	if (exim_take_rcpts(it, err) != 0)
		return -1;
	it->out->arrived_us += it->usec;
	return 0;
}

/* The next field: "037F From: ...", its length with the line ends in it. */
static int
exim_field(struct slice *rest, char *out_type, struct slice *out,
    struct err *err)
{
	size_t digits = 0;
	uint64_t n;

	while (digits < rest->n && ascii_is_digit(rest->p[digits]))
		digits++;
	if (digits < 3 || rest->n < digits + 2 ||
	    rest->p[digits + 1] != ' ' ||
	    !slice_number(slice_first(*rest, digits), 1,
	    rest->n - digits - 2, &n))
		return err_set(err, "-H has a field of another length than it "
		    "says");
	*out_type = rest->p[digits];
	*out = slice_first(slice_from(*rest, digits + 2), (size_t)n);
	*rest = slice_from(*rest, digits + 2 + (size_t)n);
	return 0;
}

static int
exim_read(struct arena *arena, const struct old_files *files,
    struct old_message *out, struct err *err)
{
	struct exim it = { .arena = arena, .files = files, .out = out,
	    .rest = files->main };
	int result = exim_envelope(&it, err);

	if (result == 0) {
		old_rcpts_take(arena, &it.rcpts, &out->envelope);
		out->envelope.is_external = true;
		old_came_from(arena, "exim", files->id, it.client, it.address,
		    &out->envelope);
		/* where the header begins, for the copy */
		out->envelope.header_offset = files->main.n - it.rest.n;
	}
	mem_free(&it.rcpts.rows);
	mem_free(&it.done);
	return result;
}

static int
exim_copy(const struct old_files *files, const struct old_message *message,
    struct old_sink *sink, struct err *err)
{
	struct slice rest = slice_from(files->main,
	    message->envelope.header_offset), field, body = files->body;
	struct exim it = { .files = files };
	char type = 0;

	if (exim_take_name(&it, slice_first(body, slice_find(body, '\n')), 'D',
	    err) != 0)
		return -1;
	while (rest.n > 0) {
		if (exim_field(&rest, &type, &field, err) != 0)
			return -1;
		/* a field that was rewritten stays as it was, with a star */
		if (type != '*' && old_sink_add(sink, field, err) != 0)
			return -1;
	}
	if (old_sink_add(sink, SLICE("\n"), err) != 0 ||
	    old_sink_add(sink, slice_from(body, slice_find(body, '\n') + 1),
	    err) != 0)
		return -1;
	return old_sink_end(sink, err);
}

const struct old_kind old_exim = {
	.name = "exim",
	.stop = "service exim4 stop",
	.empty = "exim -bpr -i | xargs exim -Mrm",
	.read = exim_read,
	.copy = exim_copy,
};

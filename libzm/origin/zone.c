/* zone.c - answers as lines of text, for tests and for `zmailer auth --dns`
 *
 * In     lines "NAME [TTL] [IN] TYPE VALUE"
 * Out    answers
 * Trusts nobody
 * Spec   RFC 1035 section 5.1, one line a record, or a value in parentheses
 *
 * Records of one name and type are joined to one answer.  What a CNAME leads
 * to is put in under its name as well, so that nobody follows it later.
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>

#include "origin/answers.h"

#include "base/banned.h"

static const enum dns_type zone_types[] = {
	DNS_TYPE_A, DNS_TYPE_AAAA, DNS_TYPE_MX, DNS_TYPE_TXT, DNS_TYPE_PTR,
};
enum {
	TYPES = sizeof(zone_types) / sizeof(zone_types[0]),
	ZONE_LINES_MAX = 2000
};
static const char *const zone_type_names[TYPES] = {
	"A", "AAAA", "MX", "TXT", "PTR",
};

struct zone_row {
	struct slice	 name;
	enum dns_type	 type;		/* 0: a CNAME */
	enum answer_status status;
	struct answer_record record;	/* .text: where a CNAME leads */
};

struct zone {
	struct arena	*arena;
	struct zone_row	*rows;
	size_t		 count;
	struct slice	 rest;		/* lines that follow, */
	size_t		 number;	/* and that of the one before them */
};

static struct slice
zone_name(struct slice text)
{
	return slice_ends(text, ".") ? slice_first(text, text.n - 1) : text;
}

/* Strings in quotes joined, or the bytes as they are.  0; -1: a quote is
 * missing. */
static int
zone_text(struct arena *arena, struct slice value, struct slice *out)
{
	char *to = arena_alloc(arena, value.n + 1);
	bool is_inside = false;
	uint64_t byte;
	size_t n = 0;

	*out = value;
	if (!slice_starts(value, "\""))
		return 0;
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] == '"') {
			is_inside = !is_inside;
		} else if (!is_inside) {
			continue;
		} else if (value.p[i] == '\\' && slice_number(slice_first(
		    slice_from(value, i + 1), 3), 0, 255, &byte) &&
		    i + 3 < value.n) {
			to[n++] = (char)byte;
			i += 3;
		} else if (value.p[i] == '\\' && i + 1 < value.n) {
			to[n++] = value.p[++i];
		} else {
			to[n++] = value.p[i];
		}
	*out = (struct slice){ to, n };
	return is_inside ? -1 : 0;
}

static int
zone_address(struct slice value, enum dns_type type,
    struct answer_record *out)
{
	bool is_v6 = slice_find(value, ':') < value.n;
	struct err err;

	if (is_v6 != (type == DNS_TYPE_AAAA))
		return -1;
	return net_parse(value, &out->address, &err) != 0 ||
	    out->address.bits != 128 ? -1 : 0;
}

static int
zone_value(struct zone *zone, struct slice value, struct zone_row *row)
{
	struct slice rest = value, word;
	uint64_t number;

	switch (row->type) {
	case DNS_TYPE_A:
	case DNS_TYPE_AAAA:
		return zone_address(value, row->type, &row->record);
	case DNS_TYPE_TXT:
		return zone_text(zone->arena, value, &row->record.text);
	case DNS_TYPE_MX:
		if (!slice_word(&rest, &word) ||
		    !slice_number(word, 0, 65535, &number))
			return -1;
		row->record.preference = (unsigned)number;
		value = slice_trim(rest);
		break;
	default:
		break;
	}
	row->record.text = slice_lower(zone->arena, zone_name(value));
	return 0;
}

static bool
zone_next(struct zone *zone, struct slice *out)
{
	zone->number++;
	return slice_cut(&zone->rest, '\n', out);
}

/* What is in parentheses on this line, without a comment; true: they end. */
static bool
zone_add_piece(struct str *out, struct slice line)
{
	bool is_inside = false;

	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];

		if (c == '\\' && i + 1 < line.n)
			str_addc(out, line.p[i++]);
		else if (c == '"')
			is_inside = !is_inside;
		else if (!is_inside && (c == ';' || c == ')'))
			return c == ')';
		str_addc(out, line.p[i]);
	}
	return false;
}

/* Join a value in parentheses, which may go on on other lines.  0; -1: they do
 * not end. */
static int
zone_join(struct zone *zone, struct slice *value)
{
	struct slice line = slice_from(*value, 1);
	struct str out = STR_INIT;
	bool is_end, is_line;

	do {
		is_end = zone_add_piece(&out, line);
		str_addc(&out, ' ');
		is_line = !is_end && zone_next(zone, &line);
	} while (is_line);
	*value = slice_trim(slice_copy(zone->arena, str_slice(&out)));
	str_release(&out);
	return is_end ? 0 : -1;
}

static bool
zone_status(struct slice word, enum answer_status *out)
{
	*out = slice_is(word, "BOGUS") ? ANSWER_BOGUS : ANSWER_SERVFAIL;
	return slice_is(word, "BOGUS") || slice_is(word, "SERVFAIL");
}

static void
zone_add(struct zone *zone, const struct zone_row *row)
{
	zone->rows[zone->count++] = *row;
}

/* The first word, or what stands in quotes. */
static bool
zone_take_name(struct arena *arena, struct slice *line, struct slice *out)
{
	size_t end;

	if (line->p[0] != '"')
		return slice_word(line, out);
	end = slice_find(slice_from(*line, 1), '"') + 2;
	if (end > line->n || zone_text(arena, slice_first(*line, end), out) !=
	    0)
		return false;
	*line = slice_from(*line, end);
	return true;
}

/* "IN", or a TTL: nobody asks for either. */
static bool
zone_is_filler(struct slice word)
{
	uint64_t ttl;

	return slice_is_nocase(word, "IN") ||
	    slice_number(word, 0, UINT32_MAX, &ttl);
}

/* 0; -1: the line cannot be read. */
static int
zone_line(struct zone *zone, struct slice line)
{
	struct zone_row row = { .status = ANSWER_INSECURE };
	struct slice type;
	size_t i;

	if (line.n == 0 || line.p[0] == '#' || line.p[0] == ';')
		return 0;
	if (!zone_take_name(zone->arena, &line, &row.name) ||
	    !slice_word(&line, &type))
		return -1;
	while (zone_is_filler(type))
		if (!slice_word(&line, &type))
			return -1;
	row.name = zone_name(row.name);
	line = slice_trim(line);
	if (slice_starts(line, "(") && zone_join(zone, &line) != 0)
		return -1;
	if (zone_status(type, &row.status)) {
		for (i = 0; i < TYPES; i++) {
			row.type = zone_types[i];
			zone_add(zone, &row);
		}
		return 0;
	}
	row.status = ANSWER_INSECURE;
	for (i = 0; i < TYPES && !slice_is_nocase(type, zone_type_names[i]);)
		i++;
	if (i == TYPES && !slice_is_nocase(type, "CNAME"))
		return -1;
	row.type = i < TYPES ? zone_types[i] : 0;
	if (i == TYPES)
		row.record.text = zone_name(line);
	else if (!zone_status(line, &row.status)) {
		row.status = ANSWER_INSECURE;
		if (zone_value(zone, line, &row) != 0)
			return -1;
	}
	zone_add(zone, &row);
	return 0;
}

/* Where a name leads; *out_is_loop: nowhere. */
static struct slice
zone_end_of(const struct zone *zone, struct slice name, bool *out_is_loop)
{
	*out_is_loop = false;
	for (unsigned step = 0; step <= ANSWER_ALIASES_MAX; step++) {
		size_t i = 0;

		while (i < zone->count && (zone->rows[i].type != 0 ||
		    !slice_equal_nocase(zone->rows[i].name, name)))
			i++;
		if (i == zone->count)
			return name;
		name = zone->rows[i].record.text;
	}
	*out_is_loop = true;
	return name;
}

/* The records of one name and type, put in under the name that was asked. */
static void
zone_put(const struct zone *zone, struct answers *answers, struct slice name,
    enum dns_type type)
{
	struct answer_record records[ANSWER_RECORDS_MAX];
	struct origin_answer answer = { .type = type, .name = name,
	    .status = ANSWER_NONE, .records = records };
	bool is_loop, is_known = false;
	struct slice end = zone_end_of(zone, name, &is_loop);

	for (size_t i = 0; i < zone->count; i++) {
		const struct zone_row *row = &zone->rows[i];

		if (!slice_equal_nocase(row->name, end))
			continue;
		is_known = true;
		if (row->type != type ||
		    answer.record_count == ANSWER_RECORDS_MAX)
			continue;
		answer.status = row->status;
		if (row->status == ANSWER_INSECURE)
			records[answer.record_count++] = row->record;
	}
	answer.is_no_name = !is_known;
	if (is_loop)
		answer.status = ANSWER_SERVFAIL;
	answers_put(answers, &answer);
}

int
answers_read_zone(struct answers *answers, struct slice text, struct err *err)
{
	struct arena *arena = arena_new();
	struct zone zone = { .arena = arena, .rows = arena_alloc(arena,
	    (ZONE_LINES_MAX + TYPES) * sizeof(*zone.rows)), .rest = text };
	struct slice line;
	int result = 0;

	while (result == 0 && zone_next(&zone, &line)) {
		size_t number = zone.number;

		if (zone.count >= ZONE_LINES_MAX)
			result = err_set(err, "line %zu: more than %d records",
			    number, (int)ZONE_LINES_MAX);
		else if (zone_line(&zone, slice_trim(line)) != 0)
			result = err_set(err, "line %zu: a record is NAME TYPE "
			    "VALUE, with the type A, AAAA, MX, TXT, PTR or "
			    "CNAME", number);
	}
	for (size_t i = 0; result == 0 && i < zone.count; i++)
		for (size_t j = 0; j < TYPES; j++)
			zone_put(&zone, answers, zone.rows[i].name,
			    zone_types[j]);
	answers_close(answers);
	arena_free(&arena);
	return result;
}

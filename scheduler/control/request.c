/* request.c - one line of the operator's socket, taken apart
 *
 * In     a line of JSON
 * Out    a struct request; or a code and words
 * Holds  nothing
 * Trusts nothing
 * Spec   doc/protocol/control.md sections 1 and 3
 *
 * SPDX-License-Identifier: ISC
 */
#include <stddef.h>
#include <string.h>

#include "base/ascii.h"
#include "base/json.h"
#include "grammar/units.h"
#include "mail/spool/spool.h"
#include "scheduler/control/request.h"

#include "base/banned.h"

/* ---- operations and their fields --------------------------------- */

enum fields {
	F_CHOICE = 1, F_WRITE = 2, F_LIMIT = 4, F_AFTER = 8, F_BRIEF = 16,
	F_BY = 32, F_EV = 64, F_IDS = 128, F_UNTIL = 256, F_MOMENTS = 512,
	F_PACE = 1024, F_DEST = 2048, F_ALL = 4096, F_TIMEOUT = 8192,
	F_PIN = 16384, F_FILE = 32768, F_VIA = 65536,
	F_PAST = 131072, F_FOR = 262144, F_MOVE = 524288,
	F_WHO = 1048576, F_NAME = 2097152, F_WORDS = 4194304,
	CHANGE = F_CHOICE | F_IDS | F_WRITE | F_LIMIT
};

const struct request_row request_rows[OP_COUNT_OF] = {
	[OP_LIST] = { "list", RIGHT_OWN, false,
	    F_CHOICE | F_IDS | F_LIMIT | F_AFTER | F_BRIEF },
	[OP_COUNT] = { "count", RIGHT_OWN, false, F_CHOICE | F_IDS | F_BY },
	[OP_WHY] = { "why", RIGHT_OWN, false, F_CHOICE | F_IDS },
	[OP_DESTINATIONS] = { "destinations", RIGHT_READ, false, F_DEST },
	[OP_ORDERS] = { "orders", RIGHT_READ, false, 0 },
	[OP_EVENTS] = { "events", RIGHT_READ, false, F_IDS | F_EV },
	[OP_NEXT] = { "next", RIGHT_READ, false, F_BRIEF },
	[OP_QUEUE] = { "queue", RIGHT_READ, false, F_DEST | F_BRIEF },
	[OP_GROUPS] = { "groups", RIGHT_READ, false, F_BRIEF },
	[OP_JOB] = { "job", RIGHT_OWN, false, F_FILE | F_BRIEF },
	[OP_TURNS] = { "turns", RIGHT_READ, false, 0 },
	[OP_CONNECTIONS] = { "connections", RIGHT_READ, false, F_DEST },
	[OP_ARRIVALS] = { "arrivals", RIGHT_READ, false, F_DEST },
	[OP_OBJECTIVES] = { "objectives", RIGHT_READ, false, 0 },
	[OP_HISTORY] = { "history", RIGHT_READ, false, F_PAST | F_UNTIL },
	[OP_MOVES] = { "moves", RIGHT_READ, false, 0 },
	[OP_SEARCHES] = { "searches", RIGHT_READ, false, F_WHO },
	[OP_HOLD] = { "hold", RIGHT_WRITE, true, CHANGE | F_UNTIL },
	[OP_RELEASE] = { "release", RIGHT_WRITE, true, CHANGE },
	[OP_FREEZE] = { "freeze", RIGHT_WRITE, true, CHANGE },
	[OP_THAW] = { "thaw", RIGHT_WRITE, true, CHANGE },
	[OP_RETRY] = { "retry", RIGHT_WRITE, true, CHANGE | F_PACE },
	[OP_RETRY_FAILED] = { "retry-failed", RIGHT_WRITE, true, CHANGE },
	[OP_SCHEDULE] = { "schedule", RIGHT_WRITE, true, CHANGE | F_MOMENTS },
	[OP_BOUNCE] = { "bounce", RIGHT_WRITE, true, CHANGE },
	[OP_DELETE] = { "delete", RIGHT_OWN, true, CHANGE },
	[OP_UNDELETE] = { "undelete", RIGHT_WRITE, true, CHANGE },
	[OP_REROUTE] = { "reroute", RIGHT_WRITE, true, CHANGE | F_VIA },
	[OP_MOVE] = { "move", RIGHT_WRITE, true, CHANGE | F_MOVE },
	[OP_SUSPEND] = { "suspend", RIGHT_WRITE, false,
	    F_DEST | F_UNTIL | F_WRITE },
	[OP_RESUME] = { "resume", RIGHT_WRITE, false,
	    F_DEST | F_ALL | F_WRITE },
	[OP_PIN] = { "pin", RIGHT_WRITE, false,
	    F_DEST | F_UNTIL | F_PIN | F_WRITE },
	[OP_DRAIN] = { "drain", RIGHT_WRITE, false, F_TIMEOUT | F_WRITE },
	[OP_UNDRAIN] = { "undrain", RIGHT_WRITE, false, F_WRITE },
	[OP_ETRN] = { "etrn", RIGHT_ETRN, false, F_DEST | F_WRITE },
	[OP_SAVE_SEARCH] = { "save-search", RIGHT_WRITE, false,
	    F_WHO | F_NAME | F_WORDS },
	[OP_REMOVE_SEARCH] = { "remove-search", RIGHT_WRITE, false,
	    F_WHO | F_NAME },
	[OP_FOR] = { "for", RIGHT_OWN, false, F_FOR },
};

enum type { TYPE_TEXT, TYPE_NUMBER, TYPE_MOMENT, TYPE_TRUE, TYPE_IDS,
	TYPE_OFFSETS, TYPE_TEST };

struct field {
	const char	*name;
	unsigned	 fields;	/* operations that take one of them */
	enum type	 type;
	size_t		 at;		/* in struct request */
	int64_t		 most;		/* bytes, or the number */
	const char	*test;		/* TYPE_TEST: key and operator */
};

#define AT(member) offsetof(struct request, member)
#define ANY (~0u)

static const struct field field_rows[] = {
	{ "tag", ANY, TYPE_TEXT, AT(tag), REQUEST_TAG_BYTES_MAX, NULL },
	{ "who", F_WRITE | F_WHO, TYPE_TEXT, AT(who),
	    REQUEST_WHO_BYTES_MAX, NULL },
	{ "reason", F_WRITE, TYPE_TEXT, AT(reason),
	    REQUEST_REASON_BYTES_MAX, NULL },
	{ "dry_run", F_WRITE, TYPE_TRUE, AT(is_dry), 0, NULL },
	{ "ids", F_IDS, TYPE_IDS, 0, 0, NULL },
	{ "id", F_IDS, TYPE_IDS, 0, 0, NULL },
	{ "offsets", F_CHOICE, TYPE_OFFSETS, 0, 0, NULL },
	{ "select", F_CHOICE, TYPE_TEST, 0, SELECTOR_BYTES_MAX, NULL },
	{ "state", F_CHOICE, TYPE_TEST, 0, 0, "state=" },
	{ "sender", F_CHOICE, TYPE_TEST, 0, 0, "from=" },
	{ "rcpt", F_CHOICE, TYPE_TEST, 0, 0, "to=" },
	{ "user", F_CHOICE, TYPE_TEST, 0, 0, "user=" },
	{ "older_s", F_CHOICE, TYPE_TEST, 0, INT32_MAX, "age>=" },
	{ "younger_s", F_CHOICE, TYPE_TEST, 0, INT32_MAX, "age<" },
	{ "larger", F_CHOICE, TYPE_TEST, 0, INT64_MAX, "size>=" },
	{ "smaller", F_CHOICE, TYPE_TEST, 0, INT64_MAX, "size<" },
	{ "channel", F_CHOICE | F_DEST, TYPE_TEXT, AT(channel),
	    REQUEST_TEXT_BYTES_MAX, NULL },
	{ "host", F_CHOICE | F_DEST, TYPE_TEXT, AT(host),
	    REQUEST_TEXT_BYTES_MAX, NULL },
	{ "via", F_VIA, TYPE_TEXT, AT(via), REQUEST_VIA_BYTES_MAX, NULL },
	{ "to", F_MOVE, TYPE_TEXT, AT(to), REQUEST_TEXT_BYTES_MAX, NULL },
	{ "undo", F_MOVE, TYPE_TRUE, AT(is_undo), 0, NULL },
	{ "limit", F_LIMIT | F_PIN, TYPE_NUMBER, AT(limit), INT32_MAX, NULL },
	{ "after", F_AFTER, TYPE_TEXT, AT(after), SPOOL_ID_BYTES, NULL },
	{ "brief", F_BRIEF, TYPE_TRUE, AT(is_brief), 0, NULL },
	{ "by", F_BY, TYPE_TEXT, AT(by), 16, NULL },
	{ "ev", F_EV, TYPE_TEXT, AT(ev), 64, NULL },
	{ "from", F_EV, TYPE_TEXT, AT(from), 40, NULL },
	{ "until", F_UNTIL, TYPE_MOMENT, AT(until_s), 0, NULL },
	{ "next", F_MOMENTS, TYPE_MOMENT, AT(next_s), 0, NULL },
	{ "expire", F_MOMENTS, TYPE_MOMENT, AT(expire_s), 0, NULL },
	{ "start", F_PACE, TYPE_MOMENT, AT(next_s), 0, NULL },
	{ "per_second", F_PACE, TYPE_NUMBER, AT(per_second), 1000000, NULL },
	{ "all", F_ALL, TYPE_TRUE, AT(is_all), 0, NULL },
	{ "file", F_FILE, TYPE_NUMBER, AT(file), INT64_MAX, NULL },
	{ "span_s", F_PAST, TYPE_NUMBER, AT(span_s), REQUEST_SPAN_S_MAX,
	    NULL },
	{ "points", F_PAST, TYPE_NUMBER, AT(points), REQUEST_POINTS_MAX,
	    NULL },
	{ "who", F_FOR, TYPE_TEXT, AT(who), PEER_NAME_BYTES - 1, NULL },
	{ "right", F_FOR, TYPE_TEXT, AT(right), 8, NULL },
	{ "name", F_NAME, TYPE_TEXT, AT(name), REQUEST_NAME_BYTES_MAX, NULL },
	{ "select", F_WORDS, TYPE_TEXT, AT(words), REQUEST_TEXT_BYTES_MAX,
	    NULL },
	{ "timeout_s", F_TIMEOUT, TYPE_NUMBER, AT(timeout_s), 3600, NULL },
};
enum { FIELD_ROWS = sizeof(field_rows) / sizeof(field_rows[0]) };

struct parser {
	struct arena	*arena;
	struct request	*request;
	struct str	 tests;		/* of a selector */
	struct err	*err;
	int64_t		 now_s;
	uint64_t	 seen;		/* rows of field_rows */
};

/* ---- values ------------------------------------------------------ */

static bool
request_is_clean(struct slice value, size_t most)
{
	if (value.n > most)
		return false;
	for (size_t i = 0; i < value.n; i++)
		if ((unsigned char)value.p[i] < ' ' || value.p[i] == 0x7f)
			return false;
	return true;
}

/* "12", "+2h". */
static bool
request_take_moment(const struct parser *parser, struct slice value,
    int64_t *out)
{
	uint64_t number;
	int64_t span_ms;
	struct err err;

	if (slice_number(value, 0, INT64_MAX / 1000, &number)) {
		*out = (int64_t)number;
		return true;
	}
	if (!slice_starts(value, "+") || units_span_ms(slice_from(value, 1),
	    &span_ms, &err) != 0)
		return false;
	*out = parser->now_s + (span_ms + 999) / 1000;
	return true;
}

/* One element of ["a","b"], or a bare word: letters and digits. */
static bool
request_take_element(struct slice *rest, struct slice *out)
{
	if (!slice_cut(rest, ',', out))
		return false;
	*out = slice_trim(*out);
	if (out->n >= 2 && out->p[0] == '"' && out->p[out->n - 1] == '"')
		*out = slice_first(slice_from(*out, 1), out->n - 2);
	return true;
}

static struct slice
request_list_inside(struct slice value)
{
	value = slice_trim(value);
	if (value.n >= 2 && value.p[0] == '[' && value.p[value.n - 1] == ']')
		value = slice_trim(slice_first(slice_from(value, 1),
		    value.n - 2));
	return value;
}

static bool
request_is_id_start(struct slice id)
{
	if (id.n < REQUEST_ID_BYTES_MIN || id.n >= SPOOL_ID_BYTES)
		return false;
	for (size_t i = 0; i < id.n; i++)
		if (!ascii_is_alnum(id.p[i]))
			return false;
	return true;
}

static bool
request_take_ids(struct parser *parser, struct slice value)
{
	struct request *request = parser->request;
	struct slice rest = request_list_inside(value), element;

	if (request->ids != NULL || rest.n == 0)
		return false;
	request->ids = arena_alloc(parser->arena,
	    REQUEST_IDS_MAX * sizeof(*request->ids));
	while (request_take_element(&rest, &element)) {
		if (request->id_count == REQUEST_IDS_MAX ||
		    !request_is_id_start(element))
			return false;
		request->ids[request->id_count++] = slice_lower(
		    parser->arena, element);
	}
	return true;
}

static bool
request_take_offsets(struct parser *parser, struct slice value)
{
	struct request *request = parser->request;
	struct slice rest = request_list_inside(value), element;
	uint64_t number;

	if (rest.n == 0)
		return false;
	request->offsets = arena_alloc(parser->arena,
	    REQUEST_IDS_MAX * sizeof(*request->offsets));
	while (request_take_element(&rest, &element)) {
		if (request->offset_count == REQUEST_IDS_MAX ||
		    !slice_number(element, 0, UINT32_MAX, &number))
			return false;
		request->offsets[request->offset_count++] = (uint32_t)number;
	}
	return true;
}

/* All tests must be true: they are joined by blanks. */
static bool
request_take_test(struct parser *parser, const struct field *row,
    struct slice value)
{
	struct str *tests = &parser->tests;
	uint64_t number;

	if (row->most > 0 && row->test != NULL) {
		if (!slice_number(value, 0, (uint64_t)row->most, &number))
			return false;
		str_addf(tests, "%s%llu%s ", row->test,
		    (unsigned long long)number,
		    slice_starts(slice_of(row->test), "age") ? "s" : "B");
		return true;
	}
	if (row->test == NULL) {
		str_addf(tests, "(" SLICE_FMT ") ", SLICE_ARG(value));
		return request_is_clean(value, SELECTOR_BYTES_MAX) &&
		    value.n > 0;
	}
	str_addf(tests, "%s\"" SLICE_FMT "\" ", row->test, SLICE_ARG(value));
	return request_is_clean(value, REQUEST_TEXT_BYTES_MAX) && value.n > 0 &&
	    slice_find(value, '"') == value.n;
}

static bool
request_take_value(struct parser *parser, const struct field *row,
    struct slice value)
{
	char *into = (char *)parser->request + row->at;
	uint64_t number;

	switch (row->type) {
	case TYPE_TEXT:
		*(const char **)(void *)into = slice_dup(parser->arena,
		    value);
		return request_is_clean(value, (size_t)row->most);
	case TYPE_NUMBER:
		if (!slice_number(value, 0, (uint64_t)row->most, &number))
			return false;
		*(int64_t *)(void *)into = (int64_t)number;
		return true;
	case TYPE_MOMENT:
		return request_take_moment(parser, value,
		    (int64_t *)(void *)into);
	case TYPE_TRUE:
		*(bool *)into = slice_is(value, "true");
		return *(bool *)into || slice_is(value, "false");
	case TYPE_IDS:
		parser->request->has_choice = true;
		return request_take_ids(parser, value);
	case TYPE_OFFSETS:
		return request_take_offsets(parser, value);
	case TYPE_TEST:
		parser->request->has_choice = true;
		return request_take_test(parser, row, value);
	}
	return false;
}

/* ---- the line ---------------------------------------------------- */

static int
request_take_field(struct parser *parser, struct slice name, struct slice value)
{
	const struct request_row *op = &request_rows[parser->request->op];
	size_t i = 0;

	if (slice_is(name, "v") || slice_is(name, "op"))
		return 0;
	while (i < FIELD_ROWS && !(slice_is(name, field_rows[i].name) &&
	    (field_rows[i].fields == ANY ||
	    (field_rows[i].fields & op->fields) != 0)))
		i++;
	if (i == FIELD_ROWS)
		return err_set(parser->err, "%s takes no field '" SLICE_FMT
		    "'", op->name, SLICE_ARG(slice_first(name, 40)));
	if (parser->seen & (uint64_t)1 << i)
		return err_set(parser->err, "two fields '%s'",
		    field_rows[i].name);
	parser->seen |= (uint64_t)1 << i;
	if (!request_take_value(parser, &field_rows[i], value))
		return err_set(parser->err, "field '%s' has a bad value",
		    field_rows[i].name);
	return 0;
}

static int
request_take_fields(struct parser *parser, struct slice line)
{
	struct str value = STR_INIT;
	struct slice name;
	size_t cursor = 0;
	int result = 0;

	while (result == 0 && json_next(line, &cursor, &name, &value))
		result = request_take_field(parser, name, str_slice(&value));
	if (result == 0 && !slice_is(slice_trim(slice_from(line, cursor)),
	    "}"))
		result = err_set(parser->err, "not one flat JSON object");
	str_release(&value);
	return result;
}

/* Channel and host choose mail, too, for operations about mail. */
static int
request_choose(struct parser *parser)
{
	struct request *request = parser->request;
	struct slice channel = slice_of(request->channel);
	struct slice host = slice_of(request->host);
	size_t column;

	if ((request_rows[request->op].fields & F_CHOICE) != 0 &&
	    (request->channel != NULL || request->host != NULL)) {
		str_addf(&parser->tests, "dest=\"%s/%s\"",
		    channel.n > 0 ? channel.p : "*",
		    host.n > 0 ? host.p : "*");
		if (slice_find(channel, '"') < channel.n ||
		    slice_find(host, '"') < host.n)
			return err_set(parser->err, "a quote in a glob");
		request->has_choice = true;
	}
	if (parser->tests.len == 0)
		return 0;
	if (selector_parse(parser->arena, str_slice(&parser->tests),
	    &request->selector, &column, parser->err) < 0)
		return err_prefix(parser->err, "selector");
	return 0;
}

/* The selector stands by itself, so that it means the same in any box. */
static int
request_check_search(struct arena *arena, const struct request *request,
    struct err *err)
{
	struct selector *parsed;
	size_t column;

	if (request->name == NULL || request->name[0] == '\0')
		return err_set(err, "a saved search needs a name");
	if (request->op == OP_REMOVE_SEARCH)
		return 0;
	if (request->words == NULL)
		return err_set(err, "save-search needs select");
	return selector_parse(arena, slice_of(request->words), &parsed,
	    &column, err);
}

/* What an operation cannot do without. */
static int
request_check_needs(const struct request *request, const char **out_code,
    struct err *err)
{
	const struct request_row *row = &request_rows[request->op];

	if (row->is_change && !request->has_choice) {
		*out_code = "nothing-selected";
		return err_set(err, "%s what? Give ids, a filter, or "
		    "\"select\":\"all\"", row->name);
	}
	if (request->offset_count > 0 && request->id_count != 1)
		return err_set(err, "offsets belong to one id");
	if (request->op == OP_WHY && !request->has_choice)
		return err_set(err, "why which messages? Give ids or a "
		    "filter");
	if (request->op == OP_JOB && request->file == 0)
		return err_set(err, "job of which file?");
	if (request->op == OP_SCHEDULE && request->next_s == 0 &&
	    request->expire_s == 0)
		return err_set(err, "schedule needs next or expire");
	if (request->op == OP_MOVE && (request->to != NULL) ==
	    request->is_undo)
		return err_set(err, "move needs to (a node), or undo");
	if ((request->op == OP_SUSPEND || request->op == OP_PIN ||
	    (request->op == OP_RESUME && !request->is_all)) &&
	    request->channel == NULL && request->host == NULL)
		return err_set(err, "%s which destination? Give channel, "
		    "host, or both", row->name);
	if (request->op == OP_PIN && (request->limit < 0 ||
	    request->limit > 10000))
		return err_set(err, "pin needs a limit, 0 to 10000");
	if (request->op == OP_FOR && (request->who[0] == '\0' ||
	    request->right == NULL || (strcmp(request->right, "read") != 0 &&
	    strcmp(request->right, "write") != 0)))
		return err_set(err, "for needs who, and right: read or "
		    "write");
	if (request->op == OP_ETRN && (request->host == NULL ||
	    request->host[0] == '\0' || request->channel != NULL))
		return err_set(err, "etrn needs a host, and nothing else");
	return 0;
}

static int
request_take_op(struct slice line, struct request *out, const char **out_code,
    struct err *err)
{
	struct str value = STR_INIT;
	int result = 0, i = 0;

	if (!json_get(line, "v", &value) || !slice_is(str_slice(&value),
	    "1")) {
		*out_code = value.len > 0 ? "version" : "bad-request";
		result = err_set(err, "this is version 1 of the protocol: "
		    "say \"v\":1");
	}
	str_reset(&value);
	if (result == 0 && !json_get(line, "op", &value))
		result = err_set(err, "no op");
	while (result == 0 && i < OP_COUNT_OF &&
	    !slice_is(str_slice(&value), request_rows[i].name))
		i++;
	if (i == OP_COUNT_OF) {
		struct str names = STR_INIT;

		for (i = 0; i < OP_COUNT_OF; i++)
			str_addf(&names, " %s", request_rows[i].name);
		*out_code = "unknown-op";
		result = err_set(err, "unknown op; there are:%s", names.buf);
		str_release(&names);
		i = 0;
	}
	out->op = (enum request_op)i;
	str_release(&value);
	return result;
}

int
request_parse(struct arena *arena, struct slice line, int64_t now_s,
    struct request *out, const char **out_code, struct err *err)
{
	struct parser parser = { .arena = arena, .request = out,
	    .tests = STR_INIT, .err = err, .now_s = now_s };
	int result;

	*out = (struct request){ .tag = "", .who = "", .reason = "",
	    .limit = -1, .timeout_s = -1, .per_second = REQUEST_PER_SECOND };
	*out_code = "bad-request";
	if (request_take_op(line, out, out_code, err) < 0)
		return -1;
	result = request_take_fields(&parser, line);
	if (result == 0)
		result = request_choose(&parser);
	if (result == 0)
		result = request_check_needs(out, out_code, err);
	if (result == 0 && (out->op == OP_SAVE_SEARCH ||
	    out->op == OP_REMOVE_SEARCH))
		result = request_check_search(arena, out, err);
	str_release(&parser.tests);
	return result;
}

void
request_add_choice(struct str *out, const struct request *request)
{
	for (size_t i = 0; i < request->id_count; i++) {
		if (i > 0)
			str_adds(out, " or ");
		str_add_slice(out, request->ids[i]);
	}
	if (request->selector == NULL)
		return;
	if (request->id_count > 0)
		str_adds(out, " and ");
	selector_add(out, request->selector);
}

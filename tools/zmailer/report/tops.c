/* tops.c - those with most mail: counting
 *
 * In     lines of the journal
 * Out    numbers of each sender, user, client and domain of recipients
 * Holds  TOPS_NAMES_MAX names of each, TOPS_MESSAGES messages
 * Trusts nothing in a line: names are cut, and escaped when they are shown
 * Spec   tops.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/json.h"
#include "base/mem.h"
#include "journal/event.h"
#include "tools/zmailer/report/tops.h"

#include "base/banned.h"

enum { TOPS_SLOTS = TOPS_NAMES_MAX * 2 };

struct tops_message {
	uint64_t	id;		/* its hash; 0: none */
	uint64_t	whose[TOPS_DOMAINS];	/* hashes of names; 0: nobody */
	uint64_t	bytes;
};

void
tops_init(struct tops *tops)
{
	memset(tops, 0, sizeof(*tops));
	str_init(&tops->value);
	for (int i = 0; i < TOPS_SORTS; i++) {
		struct tops_table *table = &tops->tables[i];

		table->rows = mem_alloc(TOPS_NAMES_MAX, sizeof(*table->rows));
		table->slots = mem_alloc(TOPS_SLOTS, sizeof(*table->slots));
	}
	tops->messages = mem_alloc(TOPS_MESSAGES, sizeof(*tops->messages));
}

void
tops_release(struct tops *tops)
{
	for (int i = 0; i < TOPS_SORTS; i++) {
		mem_free(&tops->tables[i].rows);
		mem_free(&tops->tables[i].slots);
	}
	mem_free(&tops->messages);
	str_release(&tops->value);
}

/* ---- names -------------------------------------------------------------- */

static uint64_t
tops_hash(struct slice name)
{
	uint64_t hash = UINT64_C(14695981039346656037);	/* FNV-1a */

	for (size_t i = 0; i < name.n; i++)
		hash = (hash ^ (unsigned char)name.p[i]) *
		    UINT64_C(1099511628211);
	return (hash ^ hash >> 29) | 1;
}

static uint32_t *
tops_slot(const struct tops_table *table, uint64_t hash)
{
	size_t at = (size_t)(hash >> 16) % TOPS_SLOTS;

	while (table->slots[at] != 0 &&
	    table->rows[table->slots[at] - 1].hash != hash)
		at = (at + 1) % TOPS_SLOTS;
	return &table->slots[at];
}

static void
tops_settle(struct tops_table *table)
{
	memset(table->slots, 0, TOPS_SLOTS * sizeof(*table->slots));
	for (size_t i = 0; i < table->count; i++)
		*tops_slot(table, table->rows[i].hash) = (uint32_t)i + 1;
}

/* All three numbers added up, so that a name with much of only one is kept: a
 * message, a failure and 64 KiB each count one. */
static uint64_t
tops_weight(const struct tops_row *row)
{
	return row->numbers[TOPS_BY_COUNT] + row->numbers[TOPS_BY_FAILURES] +
	    row->numbers[TOPS_BY_BYTES] / 65536;
}

static int
tops_weight_compare(const void *left, const void *right)
{
	const struct tops_row *a = left, *b = right;
	uint64_t one = tops_weight(a), other = tops_weight(b);

	return one != other ? (one < other ? 1 : -1) :
	    (a->hash > b->hash) - (a->hash < b->hash);
}

static void
tops_forget(struct tops_table *table)
{
	qsort(table->rows, table->count, sizeof(*table->rows),
	    tops_weight_compare);
	for (size_t i = TOPS_NAMES_MAX / 2; i < table->count; i++)
		for (int by = 0; by < TOPS_BYS; by++)
			table->others[by] += table->rows[i].numbers[by];
	table->forgotten += table->count - TOPS_NAMES_MAX / 2;
	table->count = TOPS_NAMES_MAX / 2;
	tops_settle(table);
}

static struct tops_row *
tops_row_find(struct tops_table *table, uint64_t hash)
{
	uint32_t at = *tops_slot(table, hash);

	return at == 0 ? NULL : &table->rows[at - 1];
}

static struct tops_row *
tops_row(struct tops_table *table, struct slice name)
{
	uint64_t hash = tops_hash(name);
	struct tops_row *row = tops_row_find(table, hash);

	if (row != NULL)
		return row;
	if (table->count == TOPS_NAMES_MAX)
		tops_forget(table);
	row = &table->rows[table->count++];
	memset(row, 0, sizeof(*row));
	row->hash = hash;
	name = slice_first(name, sizeof(row->name) - 1);
	memcpy(row->name, name.p, name.n);
	*tops_slot(table, hash) = (uint32_t)table->count;
	return row;
}

/* ---- lines -------------------------------------------------------------- */

static struct slice
tops_member(struct tops *tops, struct slice line, const char *key)
{
	str_reset(&tops->value);
	(void)json_get(line, key, &tops->value);
	/* a name ends at a NUL when it is shown */
	return slice_first(str_slice(&tops->value),
	    strlen(tops->value.buf));
}

static uint64_t
tops_number(struct tops *tops, struct slice line, const char *key)
{
	uint64_t number;

	return slice_number(tops_member(tops, line, key), 0, INT64_MAX,
	    &number) ? number : 0;
}

/* "192.0.2.7:25", "[2001:db8::1]:25": without the port. */
static struct slice
tops_client(struct tops *tops, struct slice line)
{
	struct slice client = tops_member(tops, line, "client");
	size_t n = client.n;

	while (n > 0 && ascii_is_digit(client.p[n - 1]))
		n--;
	return n > 1 && client.p[n - 1] == ':' ? slice_first(client, n - 1) :
	    client;
}

/* The domain of a recipient: after the last @, in lower case. */
static struct slice
tops_domain(struct tops *tops, struct slice line)
{
	struct slice to = tops_member(tops, line, "to");
	size_t at = to.n;

	while (at > 0 && to.p[at - 1] != '@')
		at--;
	if (at == 0)
		return (struct slice){ "(local)", 7 };
	for (char *p = tops->value.buf + at; *p != '\0'; p++)
		*p = ascii_lower(*p);
	return slice_from(to, at);
}

/* What is known of a message; made afresh when is_new. */
static struct tops_message *
tops_message(struct tops *tops, struct slice line, bool is_new)
{
	struct slice id = tops_member(tops, line, "id");
	uint64_t hash = tops_hash(id);
	struct tops_message *message = &tops->messages[(hash >> 32) %
	    TOPS_MESSAGES];

	if (id.n == 0)
		return NULL;
	if (message->id == hash)
		return message;
	if (!is_new)
		return NULL;
	*message = (struct tops_message){ .id = hash };
	return message;
}

static void
tops_add_message(struct tops *tops, enum tops_sort sort, struct slice name,
    uint64_t bytes, struct tops_message *message)
{
	struct tops_row *row = tops_row(&tops->tables[sort], name);

	row->numbers[TOPS_BY_COUNT]++;
	row->numbers[TOPS_BY_BYTES] += bytes;
	if (message != NULL)
		message->whose[sort] = row->hash;
}

static void
tops_count_accepted(struct tops *tops, struct slice line)
{
	struct tops_message *message = tops_message(tops, line, true);
	uint64_t bytes = tops_number(tops, line, "size");
	struct slice client = tops_client(tops, line);

	if (message != NULL)
		message->bytes = bytes;
	if (client.n > 0)
		tops_add_message(tops, TOPS_CLIENTS, client, bytes, message);
}

static void
tops_count_routed(struct tops *tops, struct slice line)
{
	struct tops_message *message = tops_message(tops, line, true);
	uint64_t bytes = tops_number(tops, line, "size");
	struct slice name = tops_member(tops, line, "from");

	if (message != NULL)
		message->bytes = bytes;
	tops_add_message(tops, TOPS_SENDERS, name.n > 0 ? name :
	    SLICE("<>"), bytes, message);
	name = tops_member(tops, line, "user");
	if (name.n > 0)
		tops_add_message(tops, TOPS_USERS, name, bytes, message);
}

static void
tops_count_outcome(struct tops *tops, struct slice line, bool has_failed)
{
	const struct tops_message *message = tops_message(tops, line, false);
	struct tops_row *row = tops_row(&tops->tables[TOPS_DOMAINS],
	    tops_domain(tops, line));

	row->numbers[TOPS_BY_COUNT]++;
	row->numbers[TOPS_BY_FAILURES] += has_failed;
	if (message == NULL)
		return;
	row->numbers[TOPS_BY_BYTES] += message->bytes;
	for (int sort = 0; has_failed && sort < TOPS_DOMAINS; sort++) {
		row = message->whose[sort] == 0 ? NULL : tops_row_find(
		    &tops->tables[sort], message->whose[sort]);
		if (row != NULL)
			row->numbers[TOPS_BY_FAILURES]++;
	}
}

/* What was refused at the door. */
static void
tops_count_refused(struct tops *tops, struct slice line, bool is_login)
{
	struct slice name = tops_client(tops, line);

	if (name.n > 0)
		tops_row(&tops->tables[TOPS_CLIENTS], name)->
		    numbers[TOPS_BY_FAILURES]++;
	name = tops_member(tops, line, is_login ? "user" : "from");
	if (name.n > 0)
		tops_row(&tops->tables[is_login ? TOPS_USERS : TOPS_SENDERS],
		    name)->numbers[TOPS_BY_FAILURES]++;
}

void
tops_count_line(struct tops *tops, struct slice ev, struct slice line)
{
	if (slice_is(ev, event_rows[EV_MESSAGE_ACCEPTED].name))
		tops_count_accepted(tops, line);
	else if (slice_is(ev, event_rows[EV_MESSAGE_ROUTED].name))
		tops_count_routed(tops, line);
	else if (slice_is(ev, event_rows[EV_RCPT_OK].name))
		tops_count_outcome(tops, line, false);
	else if (slice_is(ev, event_rows[EV_RCPT_FAIL].name))
		tops_count_outcome(tops, line, true);
	else if (slice_is(ev, event_rows[EV_AUTH_FAILED].name))
		tops_count_refused(tops, line, true);
	else if (slice_is(ev, event_rows[EV_COMMAND_REFUSED].name) ||
	    slice_is(ev, event_rows[EV_MESSAGE_REFUSED].name) ||
	    slice_is(ev, event_rows[EV_SESSION_REFUSED].name))
		tops_count_refused(tops, line, false);
}

/* ---- order -------------------------------------------------------------- */

static int
tops_compare(const struct tops_row *a, const struct tops_row *b,
    enum tops_by by)
{
	for (int i = 0; i < TOPS_BYS; i++) {	/* then by the others */
		enum tops_by this = i == 0 ? by : (enum tops_by)(i - 1);

		if (a->numbers[this] != b->numbers[this])
			return a->numbers[this] < b->numbers[this] ? 1 : -1;
	}
	return strcmp(a->name, b->name);
}

static int
tops_count_compare(const void *a, const void *b)
{
	return tops_compare(a, b, TOPS_BY_COUNT);
}

static int
tops_bytes_compare(const void *a, const void *b)
{
	return tops_compare(a, b, TOPS_BY_BYTES);
}

static int
tops_failures_compare(const void *a, const void *b)
{
	return tops_compare(a, b, TOPS_BY_FAILURES);
}

void
tops_order(struct tops *tops, enum tops_sort sort, enum tops_by by)
{
	static int (*const compares[TOPS_BYS])(const void *, const void *) = {
		tops_count_compare, tops_bytes_compare, tops_failures_compare,
	};
	struct tops_table *table = &tops->tables[sort];

	if (table->count > 1)
		qsort(table->rows, table->count, sizeof(*table->rows),
		    compares[by]);
	tops_settle(table);
}

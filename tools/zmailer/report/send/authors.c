/* authors.c - mail that was accepted, counted for a day by author's domain
 *
 * In     lines of the journal
 * Out    rows of domains, rows of what is the same
 * Holds  bounded tables
 * Trusts nothing in a line
 * Spec   authors.h; zmailer-events(5); RFC 9990 section 3.1.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/crc32c.h"
#include "base/json.h"
#include "grammar/net.h"
#include "grammar/rua.h"
#include "tools/zmailer/report/send/authors.h"

#include "base/banned.h"

enum {
	DOMAIN_SLOTS = AUTHORS_DOMAINS_MAX * 2,
	ROW_SLOTS = AUTHORS_ROWS_ALL_MAX * 2,
	MEMBER_COUNT = 6,
	CLIENT_BYTES = 80		/* "[address%scope]:port" */
};

#define KEY_END	'\x1f'		/* no value of a key has one */

void
authors_init(struct authors *authors, const char *day)
{
	memset(authors, 0, sizeof(*authors));
	authors->arena = arena_new();
	authors->day = day;
	authors->domains = mem_alloc(AUTHORS_DOMAINS_MAX,
	    sizeof(*authors->domains));
	authors->rows = mem_alloc(AUTHORS_ROWS_ALL_MAX,
	    sizeof(*authors->rows));
	authors->domain_slots = mem_alloc(DOMAIN_SLOTS, sizeof(uint32_t));
	authors->row_slots = mem_alloc(ROW_SLOTS, sizeof(uint32_t));
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		str_init(&authors->members[i]);
	str_init(&authors->key);
}

void
authors_release(struct authors *authors)
{
	mem_free(&authors->domains);
	mem_free(&authors->rows);
	mem_free(&authors->domain_slots);
	mem_free(&authors->row_slots);
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		str_release(&authors->members[i]);
	str_release(&authors->key);
	arena_free(&authors->arena);
}

/* ---- tables ------------------------------------------------------------- */

/* The row of a name, which is added if it is new; NULL: there is no room. */
static struct authors_domain *
authors_domain_find(struct authors *authors, struct slice name)
{
	uint32_t *slots = authors->domain_slots;
	uint32_t at = crc32c(0, name.p, name.n) % DOMAIN_SLOTS;
	struct authors_domain *domain;

	for (; slots[at] != 0; at = (at + 1) % DOMAIN_SLOTS)
		if (slice_is(name, authors->domains[slots[at] - 1].name))
			return &authors->domains[slots[at] - 1];
	if (authors->domain_count == AUTHORS_DOMAINS_MAX)
		return NULL;
	domain = &authors->domains[authors->domain_count];
	domain->name = slice_dup(authors->arena, name);
	slots[at] = (uint32_t)++authors->domain_count;
	return domain;
}

static struct authors_row *
authors_row_new(struct authors *authors, struct authors_domain *domain,
    struct slice key, uint32_t hash)
{
	struct authors_row *row;
	uint32_t number = (uint32_t)authors->row_count + 1;

	if (authors->row_count == AUTHORS_ROWS_ALL_MAX ||
	    domain->row_count == AUTHORS_ROWS_MAX ||
	    key.n > AUTHORS_ROW_BYTES)
		return NULL;
	row = &authors->rows[authors->row_count++];
	row->key = slice_copy(authors->arena, key);
	row->hash = hash;
	row->domain = (uint32_t)(domain - authors->domains);
	if (domain->last == 0)
		domain->first = number;
	else
		authors->rows[domain->last - 1].next = number;
	domain->last = number;
	domain->row_count++;
	return row;
}

/* The row of such messages, added if it is new; NULL: there is no room. */
static struct authors_row *
authors_row_find(struct authors *authors, struct authors_domain *domain,
    struct slice key)
{
	uint32_t *slots = authors->row_slots;
	uint32_t index = (uint32_t)(domain - authors->domains);
	uint32_t hash = crc32c(index, key.p, key.n), at = hash % ROW_SLOTS;
	struct authors_row *row;

	for (; slots[at] != 0; at = (at + 1) % ROW_SLOTS) {
		row = &authors->rows[slots[at] - 1];
		if (row->hash == hash && row->domain == index &&
		    slice_equal(row->key, key))
			return row;
	}
	row = authors_row_new(authors, domain, key, hash);
	if (row != NULL)
		slots[at] = (uint32_t)authors->row_count;
	return row;
}

/* ---- what the messages of a row have ------------------------------------ */

static void
key_add(struct str *key, struct slice value)
{
	value = slice_first(value, DMARC_NOTE_NAME_BYTES);
	for (size_t i = 0; i < value.n; i++)
		str_addc(key, (unsigned char)value.p[i] < ' ' ? '?' :
		    value.p[i]);
	str_addc(key, KEY_END);
}

/* All that makes a row; the policy is the domain's, not the message's. */
static void
key_write(struct str *key, const struct authors_message *message)
{
	struct dmarc_note note = message->note;

	note.p = note.sp = note.np = note.asked = DMARC_NONE;
	note.is_dkim_strict = note.is_spf_strict = note.is_testing = false;
	str_reset(key);
	key_add(key, message->client);
	key_add(key, message->has_from ? message->from : SLICE("<>"));
	key_add(key, message->sealer);
	key_add(key, slice_of(origin_text(message->spf)));
	str_addf(key, "%d%d%d%c", (int)message->done, (int)message->reason,
	    (int)message->is_passed, KEY_END);
	dmarc_note_add(key, &note);
}

void
authors_key_read(struct slice key, struct authors_message *out)
{
	struct slice spf, words;

	*out = (struct authors_message){ .has_from = false };
	if (!slice_cut(&key, KEY_END, &out->client) ||
	    !slice_cut(&key, KEY_END, &out->from) ||
	    !slice_cut(&key, KEY_END, &out->sealer) ||
	    !slice_cut(&key, KEY_END, &spf) ||
	    !slice_cut(&key, KEY_END, &words) || words.n != 3)
		return;
	out->has_from = !slice_is(out->from, "<>");
	(void)origin_of_text(spf, &out->spf);
	out->done = (enum authors_done)(words.p[0] - '0');
	out->reason = (enum authors_reason)(words.p[1] - '0');
	out->is_passed = words.p[2] == '1';
	(void)dmarc_note_read(key, &out->note);
}

/* ---- a line ------------------------------------------------------------- */

enum member { MEMBER_CLIENT, MEMBER_FROM, MEMBER_REPORT, MEMBER_SPF,
	MEMBER_DMARC, MEMBER_SEALER };

static void
authors_take_members(struct authors *authors, struct slice line)
{
	static const char *const keys[MEMBER_COUNT] = { "client", "from",
		"report", "spf", "dmarc", "sealer" };

	for (size_t i = 0; i < MEMBER_COUNT; i++) {
		str_reset(&authors->members[i]);
		(void)json_get(line, keys[i], &authors->members[i]);
	}
}

static struct slice
authors_member(const struct authors *authors, enum member member)
{
	return str_slice(&authors->members[member]);
}

/* "192.0.2.1:4711", "[2001:db8::1]:4711" without the port; false: it is not
 * such an address. */
static bool
client_address(struct slice text, char out[CLIENT_BYTES], struct slice *address)
{
	struct sockaddr_storage storage;
	socklen_t length;
	struct err err;

	if (net_endpoint_parse(text, 25, &storage, &length, &err) != 0)
		return false;
	net_endpoint_text((const struct sockaddr *)&storage, out,
	    CLIENT_BYTES);
	*address = slice_of(out);
	if (address->n > 0 && address->p[0] == '[') {
		*address = slice_from(*address, 1);
		*address = slice_first(*address, slice_find(*address, ']'));
	} else {
		*address = slice_first(*address, slice_find(*address, ':'));
	}
	return address->n > 0;
}

static enum dmarc_policy
note_policy(const struct dmarc_note *note)
{
	return note->is_testing && note->asked > DMARC_NONE ?
	    note->asked - 1 : note->asked;
}

static enum authors_reason
message_reason(const struct authors_message *message, bool is_trouble)
{
	enum dmarc_policy done = message->done == AUTHORS_QUARANTINED ?
	    DMARC_QUARANTINE : DMARC_NONE;

	if (message->is_passed || done == message->note.asked)
		return AUTHORS_AS_ASKED;
	if (message->sealer.n > 0)
		return AUTHORS_FORWARDED;
	if (is_trouble)
		return AUTHORS_UNKNOWN;
	return message->note.is_testing && done ==
	    note_policy(&message->note) ? AUTHORS_TESTING : AUTHORS_LOCAL;
}

/* The part after the last "@"; false: the sender is <>. */
static bool
message_from(struct slice from, struct slice *out)
{
	size_t at = from.n;

	while (at > 0 && from.p[at - 1] != '@')
		at--;
	*out = slice_from(from, at);
	return from.n > 0 && !slice_is(from, "<>");
}

static bool
authors_read_message(const struct authors *authors,
    char client[CLIENT_BYTES], struct authors_message *out)
{
	struct slice dmarc = authors_member(authors, MEMBER_DMARC);

	*out = (struct authors_message){
		.sealer = authors_member(authors, MEMBER_SEALER),
		.is_passed = slice_is(dmarc, "pass") };
	if (!client_address(authors_member(authors, MEMBER_CLIENT), client,
	    &out->client) || !origin_of_text(authors_member(authors,
	    MEMBER_SPF), &out->spf) || !dmarc_note_read(authors_member(
	    authors, MEMBER_REPORT), &out->note))
		return false;
	out->has_from = message_from(authors_member(authors, MEMBER_FROM),
	    &out->from);
	if (out->is_passed)
		out->done = note_policy(&out->note) > DMARC_NONE ?
		    AUTHORS_PASSED : AUTHORS_NONE;
	else
		out->done = out->note.is_set_aside ? AUTHORS_QUARANTINED :
		    AUTHORS_NONE;
	out->reason = message_reason(out, slice_is(dmarc, "temperror"));
	if (out->reason != AUTHORS_FORWARDED)
		out->sealer = SLICE("");
	return rua_domain_is(out->note.record_at);
}

static void
authors_take_policy(struct authors_domain *domain,
    const struct dmarc_note *note)
{
	domain->p = note->p;
	domain->sp = note->sp;
	domain->np = note->np;
	domain->is_dkim_strict = note->is_dkim_strict;
	domain->is_spf_strict = note->is_spf_strict;
	domain->is_testing = note->is_testing;
}

static void
authors_count_line(struct authors *authors, struct slice line)
{
	struct authors_message message;
	struct authors_domain *domain;
	struct authors_row *row;
	char client[CLIENT_BYTES];

	authors_take_members(authors, line);
	if (!authors_read_message(authors, client, &message))
		return;
	domain = authors_domain_find(authors, message.note.record_at);
	if (domain == NULL) {
		authors->left_out++;
		return;
	}
	authors_take_policy(domain, &message.note);
	key_write(&authors->key, &message);
	row = authors_row_find(authors, domain, str_slice(&authors->key));
	if (row == NULL) {
		domain->left_out++;
		return;
	}
	row->count++;
	domain->messages++;
	domain->failed += message.is_passed ? 0 : 1;
}

static bool
authors_is_of_day(struct authors *authors, struct slice line)
{
	str_reset(&authors->key);
	return json_get(line, "t", &authors->key) && slice_is(slice_first(
	    str_slice(&authors->key), strlen(authors->day)), authors->day);
}

/* Told already.  A domain that had no mail has a row then, without one. */
static void
authors_take_told(struct authors *authors, struct slice line)
{
	struct authors_domain *domain;

	str_reset(&authors->key);
	if (!json_get(line, "domain", &authors->key) ||
	    !rua_domain_is(str_slice(&authors->key)))
		return;
	domain = authors_domain_find(authors, str_slice(&authors->key));
	if (domain != NULL)
		domain->is_told = true;
}

void
authors_take_line(struct authors *authors, struct slice line)
{
	if (json_is(line, "ev", "message.accepted")) {
		if (authors_is_of_day(authors, line))
			authors_count_line(authors, line);
	} else if (json_is(line, "ev", "report.sent") &&
	    json_is(line, "kind", "dmarc") &&
	    json_is(line, "day", authors->day)) {
		authors_take_told(authors, line);
	}
}

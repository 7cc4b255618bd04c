/* books.c - what became of every recipient: what the journal says
 *
 * In     the files in the spool, then the lines of the journal
 * Out    sums, and the messages that do not add up
 * Holds  a row for each message of the window that has not ended, eight
 *        bytes for each that has
 * Trusts nothing in a line
 * Spec   books.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/siphash.h"
#include "journal/event.h"
#include "mail/spool/spool.h"
#include "tools/zmailer/audit/books_internal.h"

#include "base/banned.h"

enum { BUCKETS_FIRST = 1024 };

const struct audit_fate_row audit_fates[AUDIT_FATE_COUNT] = {
#define AUDIT_FATE(symbol, name, text) { name, text },
	AUDIT_FATES(AUDIT_FATE)
#undef AUDIT_FATE
};

struct books *
books_new(const struct journal_span *window)
{
	struct books *books = mem_alloc(1, sizeof(*books));

	books->window = *window;
	books->bucket_count = BUCKETS_FIRST;
	books->buckets = mem_alloc(BUCKETS_FIRST, sizeof(*books->buckets));
	str_init(&books->value);
	str_init(&books->other);
	return books;
}

static void
account_free(struct books_account *account)
{
	mem_free(&account->ends.slots);
	mem_free(&account->reopened.slots);
	mem_free(&account);
}

void
books_free(struct books **books)
{
	struct books *dead = *books;

	if (dead == NULL)
		return;
	for (size_t i = 0; i < dead->bucket_count; i++)
		while (dead->buckets[i] != NULL) {
			struct books_account *next = dead->buckets[i]->next;

			account_free(dead->buckets[i]);
			dead->buckets[i] = next;
		}
	mem_free(&dead->buckets);
	mem_free(&dead->ended.slots);
	mem_free(&dead->damaged);
	str_release(&dead->value);
	str_release(&dead->other);
	mem_free(books);
}

/* ---- sets of numbers --------------------------------------------------- */

static uint64_t *
set_slot(uint64_t *slots, size_t size, uint64_t number)
{
	size_t at = (size_t)number & (size - 1);

	while (slots[at] != 0 && slots[at] != number)
		at = (at + 1) & (size - 1);
	return &slots[at];
}

static void
set_grow(struct number_set *set)
{
	size_t size = set->size == 0 ? 8 : set->size * 2;
	uint64_t *slots = mem_alloc(size, sizeof(*slots));

	for (size_t i = 0; i < set->size; i++)
		if (set->slots[i] != 0)
			*set_slot(slots, size, set->slots[i]) = set->slots[i];
	mem_free(&set->slots);
	set->slots = slots;
	set->size = size;
}

/* False: it was there before. */
static bool
set_add(struct number_set *set, uint64_t number)
{
	uint64_t *slot;

	if (set->count * 2 >= set->size)
		set_grow(set);
	slot = set_slot(set->slots, set->size, number);
	if (*slot != 0)
		return false;
	*slot = number;
	set->count++;
	return true;
}

static bool
set_has(const struct number_set *set, uint64_t number)
{
	return set->size > 0 &&
	    *set_slot(set->slots, set->size, number) != 0;
}

/* Never 0. */
static uint64_t
number_of(struct slice text)
{
	return siphash(siphash_process_key(), text).low | 1;
}

/* ---- accounts ---------------------------------------------------------- */

static void
buckets_grow(struct books *books)
{
	size_t size = books->bucket_count * 2;
	struct books_account **grown = mem_alloc(size, sizeof(*grown));

	for (size_t i = 0; i < books->bucket_count; i++)
		while (books->buckets[i] != NULL) {
			struct books_account *row = books->buckets[i];

			books->buckets[i] = row->next;
			row->next = grown[row->number & (size - 1)];
			grown[row->number & (size - 1)] = row;
		}
	mem_free(&books->buckets);
	books->buckets = grown;
	books->bucket_count = size;
}

static struct books_account **
account_slot(struct books *books, uint64_t number)
{
	struct books_account **slot =
	    &books->buckets[number & (books->bucket_count - 1)];

	while (*slot != NULL && (*slot)->number != number)
		slot = &(*slot)->next;
	return slot;
}

/* Born in the window? */
static bool
id_is_meant(const struct books *books, struct slice id)
{
	int64_t born_ms;

	if (!spool_id_is(id))
		return false;
	born_ms = spool_id_time_us(id) / 1000;
	return born_ms >= books->window.since_ms &&
	    born_ms < books->window.until_ms;
}

/* NULL: it has ended. */
static struct books_account *
account_find(struct books *books, struct slice id)
{
	uint64_t number = number_of(id);
	struct books_account **slot = account_slot(books, number), *row;

	if (*slot != NULL)
		return *slot;
	if (set_has(&books->ended, number))
		return NULL;
	row = mem_alloc(1, sizeof(*row));
	row->number = number;
	row->last_ms = -1;
	snprintf(row->id, sizeof(row->id), SLICE_FMT, SLICE_ARG(id));
	*slot = row;
	if (++books->account_count > books->bucket_count)
		buckets_grow(books);
	return row;
}

/* It has ended and is written down: a number is enough from now on. */
static void
account_end(struct books *books, struct books_account *account)
{
	struct books_account **slot = account_slot(books, account->number);

	account_add_up(books, account);
	set_add(&books->ended, account->number);
	*slot = account->next;
	books->account_count--;
	account_free(account);
}

void
books_see_file(struct books *books, const char *id,
    const struct audit_file *file)
{
	struct books_account *account;

	if (!id_is_meant(books, slice_of(id))) {
		books->sums.before++;
		return;
	}
	account = account_find(books, slice_of(id));
	account->is_there = true;
	account->there = *file;
}

void
books_see_damaged(struct books *books, ino_t inode, enum audit_fate fate)
{
	if (books->damaged_count == books->damaged_room) {
		books->damaged_room = books->damaged_room * 2 + 16;
		books->damaged = mem_grow(books->damaged,
		    books->damaged_room, sizeof(*books->damaged));
	}
	books->damaged[books->damaged_count++] = (struct books_damaged){
	    .inode = inode, .fate = fate };
}

/* ---- lines ------------------------------------------------------------- */

static uint64_t
line_number(struct books *books, struct slice line, const char *key)
{
	uint64_t value;

	str_reset(&books->value);
	return json_get(line, key, &books->value) &&
	    slice_number(str_slice(&books->value), 0, 1 << 24, &value) ?
	    value : 0;
}

/* Whom an outcome is of, by which way, and how often that way was open again
 * before. */
static uint64_t
outcome_number(struct books *books, const struct books_account *account,
    struct slice line)
{
	static const char *const keys[] = { "to", "channel", "host" };

	str_reset(&books->other);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (json_get(line, keys[i], &books->value))
			str_add_slice(&books->other, str_slice(&books->value));
		str_addc(&books->other, '\n');
	}
	while (set_has(&account->reopened,
	    number_of(str_slice(&books->other))))
		str_addc(&books->other, '+');
	return number_of(str_slice(&books->other));
}

static void
on_outcome(struct books *books, struct books_account *account,
    struct slice line, bool is_ok)
{
	if (!set_add(&account->ends, outcome_number(books, account, line)))
		books->sums.twice += is_ok;
	else if (is_ok)
		account->delivered++;
	else
		account->failed++;
}

/* It was reopened: its earlier end does not count. */
static void
on_reopened(struct books *books, struct books_account *account,
    struct slice line)
{
	uint64_t number = outcome_number(books, account, line);

	if (!set_has(&account->ends, number))
		return;			/* that line is lost */
	set_add(&account->reopened, number);
	account->failed -= account->failed > 0;
}

static void
on_order(struct books *books, struct books_account *account, struct slice line)
{
	uint64_t count = line_number(books, line, "rcpts");

	if (json_is(line, "op", "reroute"))
		account->rerouted += count;
	else if (json_is(line, "op", "delete"))
		account->deleted += count;
	else if (json_is(line, "op", "undelete"))
		account->deleted -= count < account->deleted ? count :
		    account->deleted;
}

static void
on_report(struct books *books, struct slice line)
{
	if (json_is(line, "kind", "failed"))
		books->sums.reported += line_number(books, line, "rcpts");
}

/* What its files are called from now on: it was encoded, or came back under
 * another number.  A copy for people (postman/N._why) is none of them. */
static void
on_named(struct books *books, struct books_account *account,
    struct slice line, const char *key)
{
	int64_t at_ms = journal_line_ms(line);
	struct spool_name name;
	struct slice value;
	size_t at;

	str_reset(&books->value);
	if (at_ms < account->named_ms || !json_get(line, key, &books->value))
		return;
	value = str_slice(&books->value);
	for (at = value.n; at > 0 && value.p[at - 1] != '/'; at--)
		;
	if (!spool_name_parse(slice_from(value, at), &name) ||
	    name.inode == 0 || slice_starts(name.why, "_"))
		return;
	account->inode = name.inode;
	account->named_ms = at_ms;
}

static void
on_other(struct books *books, struct books_account *account,
    enum event_kind kind, struct slice line)
{
	switch (kind) {
	case EV_MESSAGE_ACCEPTED:
		account->accepted = line_number(books, line, "rcpts");
		break;
	case EV_RCPT_ROUTED:
		account->expanding += json_is(line, "channel", "expand");
		break;
	case EV_MESSAGE_ROUTED:
		account->routed = line_number(books, line, "rcpts");
		account->expanded = account->expanding;
		account->expanding = 0;
		on_named(books, account, line, "file");
		break;
	case EV_MESSAGE_ENCODED:
		on_named(books, account, line, "file");
		break;
	case EV_RECOVERED:
		on_named(books, account, line, "to");
		break;
	case EV_RCPT_REOPENED:
		on_reopened(books, account, line);
		break;
	case EV_MESSAGE_ORDERED:
		on_order(books, account, line);
		break;
	case EV_MESSAGE_DELETED:
		account->is_deleted = true;
		break;
	case EV_RESTORED:
		on_named(books, account, line, "file");
		account->is_deleted = account->is_ended = false;
		break;
	case EV_MESSAGE_UNDELETED:
		account->is_deleted = account->is_ended = false;
		break;
	case EV_MILTER_LOCAL:
		account->is_discarded = json_is(line, "do", "discard");
		break;
	case EV_DSN_SENT:
		on_report(books, line);
		break;
	case EV_MESSAGE_DONE:
		account->is_ended = true;
		account->done = line_number(books, line, "rcpts");
		break;
	default:
		break;
	}
}

static bool
event_kind_of(struct slice name, enum event_kind *out)
{
	for (int i = 0; i < EV_COUNT; i++)
		if (slice_is(name, event_rows[i].name)) {
			*out = (enum event_kind)i;
			return true;
		}
	return false;
}

void
books_read_line(struct books *books, struct slice line)
{
	struct slice id = journal_line_id(line), name;
	struct books_account *account;
	enum event_kind kind;

	if (!id_is_meant(books, id) ||
	    !journal_line_has(line, "ev", &name) ||
	    !event_kind_of(name, &kind))
		return;
	account = account_find(books, id);
	if (account == NULL) {
		books->sums.twice += kind == EV_RCPT_OK;
		return;
	}
	account->last_ms = journal_line_ms(line);
	account->last = kind;
	if (kind == EV_RCPT_OK || kind == EV_RCPT_FAIL)
		on_outcome(books, account, line, kind == EV_RCPT_OK);
	else
		on_other(books, account, kind, line);
	/* an agent's line may be written after the scheduler's */
	if (account->is_ended && !account->is_there &&
	    account_ends(account) >= account->done)
		account_end(books, account);
}

/* sum.c - what became of every recipient: adding up
 *
 * In     accounts
 * Out    sums by fate; what is missing
 * Holds  nothing
 * Spec   books.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "tools/zmailer/audit/books_internal.h"

#include "base/banned.h"

/* Count as many of what is left with this fate. */
static void
fate_take(struct books *books, uint64_t *left, enum audit_fate fate,
    uint64_t count)
{
	if (count > *left)
		count = *left;
	books->sums.fates[fate] += count;
	*left -= count;
}

uint64_t
account_ends(const struct books_account *account)
{
	return account->delivered + account->failed + account->expanded +
	    account->rerouted + account->deleted;
}

/* How many recipients it has: as routed, else as accepted; if both lines are
 * lost, as many as have an outcome. */
static uint64_t
account_recipients(const struct books_account *account)
{
	const struct audit_file *file = &account->there;
	uint64_t there = file->delivered + file->failed + file->expanded +
	    file->open;

	if (account->routed > 0)
		return account->routed;
	if (account->done > 0)
		return account->done;
	if (account->is_there && there > 0)
		return there;
	return account->accepted > 0 ? account->accepted :
	    account_ends(account);
}

static void
finding_add(struct books *books, const struct books_account *account,
    uint64_t recipients, uint64_t missing)
{
	struct audit_finding *out;

	if (books->findings == NULL ||
	    books->finding_count == AUDIT_FINDINGS_MAX)
		return;
	out = &books->findings[books->finding_count++];
	strlcpy(out->id, account->id, sizeof(out->id));
	strlcpy(out->last, event_rows[account->last].name, sizeof(out->last));
	out->last_ms = account->last_ms;
	out->recipients = recipients;
	out->missing = missing;
}

/* The spool is the truth; the journal says what became of the rest. */
static void
there_add_up(struct books *books, const struct books_account *account,
    uint64_t *left)
{
	const struct audit_file *file = &account->there;

	fate_take(books, left, AUDIT_DELIVERED, file->delivered);
	fate_take(books, left, AUDIT_FAILED, file->failed);
	fate_take(books, left, AUDIT_REROUTED, account->rerouted);
	fate_take(books, left, AUDIT_EXPANDED, file->expanded >
	    account->rerouted ? file->expanded - account->rerouted : 0);
	/* before it is routed nobody knows how many there are */
	fate_take(books, left, file->fate, file->open > 0 ? file->open :
	    *left);
}

void
account_add_up(struct books *books, const struct books_account *account)
{
	uint64_t recipients = account_recipients(account), left = recipients;

	if (recipients == 0)
		return;			/* was never accepted */
	books->sums.messages++;
	books->sums.recipients += recipients;
	books->sums.finished += account->is_ended;
	if (account->is_there && !account->is_ended) {
		there_add_up(books, account, &left);
	} else {
		fate_take(books, &left, AUDIT_DELIVERED, account->delivered);
		fate_take(books, &left, AUDIT_FAILED, account->failed);
		fate_take(books, &left, AUDIT_EXPANDED, account->expanded);
		fate_take(books, &left, AUDIT_REROUTED, account->rerouted);
		fate_take(books, &left, AUDIT_DELETED, account->is_deleted ?
		    left : account->deleted);
		if (account->is_discarded)
			fate_take(books, &left, AUDIT_DISCARDED, left);
		if (account->is_damaged)
			fate_take(books, &left, account->damaged, left);
		if (account->is_ended)
			fate_take(books, &left, AUDIT_UNTOLD, left);
	}
	if (left > 0)
		finding_add(books, account, recipients, left);
	fate_take(books, &left, AUDIT_UNACCOUNTED, left);
}

/* ---- files that do not say whose they are ------------------------------- */

static int
damaged_compare(const void *a, const void *b)
{
	const struct books_damaged *one = a, *other = b;

	return (one->inode > other->inode) - (one->inode < other->inode);
}

/* Which number its files have, and since when. */
static ino_t
account_inode(const struct books_account *account, int64_t *out_ms)
{
	struct slice id = slice_of(account->id);

	*out_ms = account->inode != 0 ? account->named_ms :
	    spool_id_time_us(id) / 1000;
	return account->inode != 0 ? account->inode : spool_id_inode(id);
}

/* Has it that number later than the owner so far? */
static bool
damaged_is_newer(const struct books_account *owner,
    const struct books_account *account, int64_t since_ms)
{
	int64_t owner_ms;

	(void)account_inode(owner, &owner_ms);
	return since_ms > owner_ms || (since_ms == owner_ms &&
	    strcmp(owner->id, account->id) < 0);
}

/* An inode is used again: the last of several that had it has the file. */
static void
damaged_offer(struct books *books, struct books_account *account)
{
	int64_t since_ms;
	struct books_damaged key = { .inode = account_inode(account,
	    &since_ms) }, *found;

	if (books->damaged_count == 0 || account->is_there ||
	    account->is_ended)
		return;
	found = bsearch(&key, books->damaged, books->damaged_count, sizeof(key),
	    damaged_compare);
	if (found != NULL && (found->owner == NULL ||
	    damaged_is_newer(found->owner, account, since_ms)))
		found->owner = account;
}

static void
damaged_give_out(struct books *books)
{
	if (books->damaged_count == 0)
		return;
	qsort(books->damaged, books->damaged_count, sizeof(*books->damaged),
	    damaged_compare);
	for (size_t i = 0; i < books->bucket_count; i++)
		for (struct books_account *row = books->buckets[i];
		    row != NULL; row = row->next)
			damaged_offer(books, row);
	for (size_t i = 0; i < books->damaged_count; i++) {
		const struct books_damaged *file = &books->damaged[i];

		if (file->owner == NULL) {
			books->sums.before++;
			continue;
		}
		file->owner->is_damaged = true;
		file->owner->damaged = file->fate;
	}
}

/* ---- the end ------------------------------------------------------------- */

static int
finding_compare(const void *a, const void *b)
{
	return strcmp(((const struct audit_finding *)a)->id,
	    ((const struct audit_finding *)b)->id);
}

void
books_close(struct books *books, struct audit_sums *out,
    struct audit_finding *findings, size_t *out_count)
{
	books->findings = findings;
	damaged_give_out(books);
	for (size_t i = 0; i < books->bucket_count; i++)
		for (const struct books_account *row = books->buckets[i];
		    row != NULL; row = row->next)
			account_add_up(books, row);
	*out = books->sums;
	*out_count = books->finding_count;
	qsort(findings, *out_count, sizeof(*findings), finding_compare);
	books->findings = NULL;
}

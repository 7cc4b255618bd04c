/* rcpts.c - where one message goes: each recipient once
 *
 * In     recipients as routing finds them
 * Out    the list of different ones, or lines of the control file
 * Holds  RCPTS_HELD_MAX rcpts, a fingerprint of each
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "router/rcpts/rcpts.h"

#include "base/banned.h"

/* ---- senders ---------------------------------------------------------- */

static unsigned
rcpts_add_sender(struct rcpts *rcpts, struct slice key,
    const struct rcpt_sender *sender)
{
	struct rcpt_sender **grown;
	size_t number;

	if (!memo_add(&rcpts->sender_keys, key, &number))
		return (unsigned)number;
	if (number == rcpts->sender_capacity) {
		rcpts->sender_capacity = number * 2 + 1;
		grown = arena_alloc(rcpts->arena, rcpts->sender_capacity *
		    sizeof(struct rcpt_sender *));
		if (number > 0)
			memcpy(grown, rcpts->senders, number *
			    sizeof(struct rcpt_sender *));
		rcpts->senders = grown;
	}
	rcpts->senders[number] = arena_alloc(rcpts->arena,
	    sizeof(*sender));
	*rcpts->senders[number] = *sender;
	return (unsigned)number;
}

unsigned
rcpts_sender(struct rcpts *rcpts, const struct rcpt_sender *sender)
{
	return rcpts_add_sender(rcpts, slice_of(arena_printf(rcpts->arena,
	    SLICE_FMT "\t" SLICE_FMT "\t" SLICE_FMT,
	    SLICE_ARG(sender->address), SLICE_ARG(sender->errors_to),
	    SLICE_ARG(sender->verp))), sender);
}

/* ---- a message -------------------------------------------------------- */

void
rcpts_init(struct rcpts *rcpts, struct arena *arena)
{
	*rcpts = (struct rcpts){ .arena = arena };
	fingerprints_init(&rcpts->known);
	str_init(&rcpts->key);
	rcpts_reset(rcpts, 0, NULL, SLICE(""));
}

void
rcpts_release(struct rcpts *rcpts)
{
	fingerprints_release(&rcpts->known);
	str_release(&rcpts->key);
}

void
rcpts_reset(struct rcpts *rcpts, size_t expected, struct control_draft *draft,
    struct slice sender)
{
	struct rcpt_sender as_it_came = { .address = sender };

	rcpts->draft = draft;
	rcpts->capacity = expected < 4 ? 4 : expected < RCPTS_HELD_MAX ?
	    expected : RCPTS_HELD_MAX;
	rcpts->list = arena_alloc(rcpts->arena,
	    rcpts->capacity * sizeof(*rcpts->list));
	rcpts->held = rcpts->count = 0;
	rcpts->is_streaming = false;
	rcpts->is_check = false;
	rcpts->is_from_null = sender.n == 0;
	rcpts->envelope = NULL;
	rcpts->deferral = SLICE("");
	rcpts->asker = (struct rcpts_asker){ .user = { NULL, 0 } };
	rcpts->is_released = rcpts->is_frozen = rcpts->met_death = false;
	rcpts->bad_lines = 0;
	rcpts->notes = NULL;
	rcpts->was_redirected = false;
	rcpts->user = (struct slice){ NULL, 0 };
	rcpts->copies = NULL;
	rcpts->generic.header = 0;
	rcpts->redirect = 0;
	rcpts->id[0] = 0;
	rcpts->trouble[0] = 0;
	fingerprints_reset(&rcpts->known);
	memo_init(&rcpts->expanded, rcpts->arena, 0);
	memo_init(&rcpts->sender_keys, rcpts->arena, 0);
	rcpts->senders = NULL;
	rcpts->sender_capacity = 0;
	rcpts_add_sender(rcpts, SLICE(""), &as_it_came);
	rcpts_mark(rcpts);
}

void
rcpts_verp(struct rcpts *rcpts, const char *delimiters)
{
	struct rcpt_sender *sender = rcpts->senders[0];
	struct slice address = sender->address;
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	if (at < 2)			/* null, or without a domain */
		return;
	sender->address = slice_first(address, at - 1);
	sender->verp = slice_from(address, at);
	sender->delimiter = strcmp(delimiters, "none") == 0 ? '+' :
	    delimiters[0];
}

/* ---- what goes into the control file ---------------------------------- */

static const struct rcpt_sender *
rcpts_sender_of(const struct rcpts *rcpts, const struct draft_rcpt *rcpt)
{
	return rcpts->senders[rcpts->is_from_null ? 0 : rcpt->sender];
}

static struct slice
rcpts_key(struct rcpts *rcpts, const struct draft_rcpt *rcpt)
{
	struct str *key = &rcpts->key;

	str_reset(key);
	str_add_slice(key, rcpt->channel);
	str_addc(key, '\0');
	str_add_slice(key, rcpt->host);
	str_addc(key, '\0');
	str_add(key, &rcpt->uid, sizeof(rcpt->uid));
	str_add_slice(key, rcpt->user);
	return str_slice(key);
}

static struct slice
rcpts_add_part(char **at, struct slice part)
{
	char *start = *at;

	if (part.n > 0)
		memcpy(start, part.p, part.n);
	*at = start + part.n + 1;	/* the arena's zero parts them */
	return (struct slice){ start, part.n };
}

static void
rcpts_hold(struct rcpts *rcpts, const struct draft_rcpt *rcpt)
{
	size_t n = rcpt->channel.n + rcpt->host.n + rcpt->user.n + 3;
	char *at = arena_alloc(rcpts->arena, n);
	struct draft_rcpt copy = *rcpt;

	copy.channel = rcpts_add_part(&at, rcpt->channel);
	copy.host = rcpts_add_part(&at, rcpt->host);
	copy.user = rcpts_add_part(&at, rcpt->user);
	if (rcpts->held == rcpts->capacity) {
		struct draft_rcpt *grown = arena_alloc(rcpts->arena,
		    rcpts->capacity * 2 * sizeof(*grown));

		memcpy(grown, rcpts->list, rcpts->held * sizeof(*grown));
		rcpts->list = grown;
		rcpts->capacity *= 2;
	}
	rcpts->list[rcpts->held++] = copy;
}

/* From now on recipients go into the control file.  The mark stays where it
 * was: between the recipients before it and those after. */
static void
rcpts_stream(struct rcpts *rcpts)
{
	for (size_t i = 0; i < rcpts->count; i++) {
		if (i == rcpts->mark.count)
			control_draft_mark(rcpts->draft);
		control_draft_add(rcpts->draft, &rcpts->list[i],
		    rcpts_sender_of(rcpts, &rcpts->list[i]));
	}
	if (rcpts->mark.count == rcpts->count)
		control_draft_mark(rcpts->draft);
	rcpts->is_streaming = true;
	rcpts->held = 0;
}

bool
rcpts_add(struct rcpts *rcpts, const struct draft_rcpt *rcpt)
{
	if (!fingerprints_add(&rcpts->known, rcpts_key(rcpts, rcpt)))
		return false;
	if (rcpts->count == RCPTS_HELD_MAX && rcpts->draft != NULL &&
	    rcpts->draft->sink != NULL && !rcpts->is_streaming)
		rcpts_stream(rcpts);
	if (rcpts->is_streaming)
		control_draft_add(rcpts->draft, rcpt, rcpts_sender_of(rcpts,
		    rcpt));
	else if (rcpts->draft != NULL || rcpts->held < RCPTS_HELD_MAX)
		rcpts_hold(rcpts, rcpt);
	rcpts->count++;
	return true;
}

void
rcpts_mark(struct rcpts *rcpts)
{
	rcpts->mark.count = rcpts->count;
	rcpts->mark.expanded = rcpts->expanded.count;
	if (rcpts->is_streaming)
		control_draft_mark(rcpts->draft);
}

void
rcpts_back(struct rcpts *rcpts)
{
	if (rcpts->is_streaming)
		control_draft_back(rcpts->draft);
	fingerprints_truncate(&rcpts->known, rcpts->mark.count);
	memo_truncate(&rcpts->expanded, rcpts->mark.expanded);
	rcpts->count = rcpts->mark.count;
	if (rcpts->held > rcpts->count)
		rcpts->held = rcpts->count;
}

/* Those of one header, grouped by sender. */
static void
rcpts_finish_header(struct rcpts *rcpts, unsigned header)
{
	size_t senders = rcpts->is_from_null ? 1 : rcpts->sender_keys.count;

	for (size_t s = 0; s < senders; s++)
		for (size_t i = 0; i < rcpts->held; i++)
			if (rcpts->list[i].header == header &&
			    (rcpts->is_from_null ||
			    rcpts->list[i].sender == s))
				control_draft_add(rcpts->draft, &rcpts->list[i],
				    rcpts->senders[s]);
}

void
rcpts_finish(struct rcpts *rcpts)
{
	unsigned header = 0, next = 0, most = 0;

	if (rcpts->is_streaming)
		return;
	for (size_t i = 0; i < rcpts->held; i++)
		if (rcpts->list[i].header > most)
			most = rcpts->list[i].header;
	for (; header <= most; header = next) {
		rcpts_finish_header(rcpts, header);
		next = most + 1;
		for (size_t i = 0; i < rcpts->held; i++)
			if (rcpts->list[i].header > header &&
			    rcpts->list[i].header < next)
				next = rcpts->list[i].header;
	}
}

void
rcpt_rule_add(struct str *out, const struct rcpt_rule *rule)
{
	char room[DECIMAL_BYTES];

	str_adds(out, rule->kind != NULL ? rule->kind : "none");
	if (rule->where != NULL) {
		str_addc(out, ' ');
		str_adds(out, rule->where);
	}
	if (rule->line > 0) {
		str_addc(out, ':');
		str_add_slice(out, slice_decimal(rule->line, room));
	}
}

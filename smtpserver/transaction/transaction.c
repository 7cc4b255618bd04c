/* transaction.c - the envelope that is being built
 *
 * In     parsed paths and parameters
 * Out    the envelope lines of a message file, in a draft
 * Holds  an arena, the recipients' lines, the draft (row S0)
 * Trusts that paths were parsed; the encoder checks every line again
 * Spec   RFC 5321 section 3.3; zmailer-message(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "smtpserver/transaction/transaction.h"

#include "base/banned.h"

struct transaction *
transaction_new(const struct path *sender)
{
	struct transaction *transaction = mem_alloc(1, sizeof(*transaction));

	transaction->arena = arena_new();
	transaction->envelope.is_external = true;
	transaction->envelope.is_error = path_is_null(sender);
	transaction->envelope.from.local =
	    slice_copy(transaction->arena, sender->local);
	transaction->envelope.from.domain =
	    slice_copy(transaction->arena, sender->domain);
	str_init(&transaction->rcpt_lines);
	str_init(&transaction->fields);
	str_init(&transaction->said);
	str_init(&transaction->rcpt_facts);
	return transaction;
}

void
transaction_free(struct transaction **transaction)
{
	struct transaction *t = *transaction;

	if (t == NULL)
		return;
	if (t->is_receiving)
		draft_abort(&t->draft);	/* row S0: nothing was promised */
	promise_end(&t->promise);
	str_release(&t->rcpt_lines);
	str_release(&t->fields);
	str_release(&t->said);
	str_release(&t->rcpt_facts);
	arena_free(&t->arena);
	mem_free(transaction);
}

static bool
has_domain(const struct transaction *t, const struct path *rcpt)
{
	for (unsigned i = 0; i < t->domain_count; i++)
		if (slice_equal_nocase(t->domains[i], rcpt->domain))
			return true;
	return false;
}

bool
transaction_has_domain_room(const struct transaction *t,
    const struct path *rcpt)
{
	return t->domains_max == 0 || t->domain_count < t->domains_max ||
	    has_domain(t, rcpt);
}

static void
keep_domain(struct transaction *t, const struct path *rcpt)
{
	if (t->domains_max == 0 || has_domain(t, rcpt))
		return;
	if (t->domains == NULL)
		t->domains = arena_alloc(t->arena,
		    t->domains_max * sizeof(*t->domains));
	t->domains[t->domain_count++] = slice_copy(t->arena, rcpt->domain);
}

static void
keep_first(struct transaction *transaction, const struct path *path)
{
	struct str text = STR_INIT;

	path_add(&text, path);
	transaction->rcpt_first = slice_copy(transaction->arena,
	    str_slice(&text));
	str_release(&text);
}

int
transaction_add_rcpt(struct transaction *transaction,
    const struct envelope_rcpt *rcpt, struct err *err)
{
	if (envelope_add_rcpt(&transaction->rcpt_lines, rcpt, err) < 0)
		return -1;
	keep_domain(transaction, &rcpt->path);
	if (transaction->rcpt_count++ == 0)
		keep_first(transaction, &rcpt->path);
	return 0;
}

void
transaction_prepend(struct transaction *transaction, const char *field)
{
	struct str *fields = &transaction->fields;
	struct slice rest = str_slice(fields), line;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line))
		if (slice_is(line, field))
			return;
	if (fields->len + strlen(field) + 1 <= TRANSACTION_FIELDS_BYTES_MAX)
		str_addf(fields, "%s\n", field);
}

static int
write_envelope(struct transaction *transaction, struct err *err)
{
	struct str *lines = &transaction->rcpt_lines;
	struct draft *draft = &transaction->draft;
	struct str head = STR_INIT, end = STR_INIT;
	int result = -1;

	envelope_add_end(&end);
	if (envelope_add_head(&head, &transaction->envelope, err) != 1)
		errno = EINVAL;
	else if (draft_write(draft, head.buf, head.len, err) == 0 &&
	    draft_write(draft, lines->buf, lines->len, err) == 0 &&
	    draft_write(draft, end.buf, end.len, err) == 0) {
		transaction->envelope_bytes = draft->bytes;
		result = draft_write(draft, transaction->fields.buf,
		    transaction->fields.len, err);
	}
	str_release(&head);
	str_release(&end);
	str_release(lines);
	transaction->envelope.rcvdfrom = (struct slice){ NULL, 0 };
	return result;
}

/* The rule as it stands now: its line may be another one's tomorrow. */
static void
transaction_keep_rule(struct transaction *transaction)
{
	const struct conf_rule *rule = transaction->freeze;
	struct str text = STR_INIT, words = STR_INIT;

	if (rule == NULL)
		return;
	conf_rule_add(&words, rule);
	str_addf(&text, "%s:%u: %s %s", rule->at.file ? rule->at.file : "",
	    rule->at.line, rule->word, words.buf);
	str_release(&words);
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.buf[i] < ' ' || text.buf[i] == 0x7f)
			text.buf[i] = '?';
	transaction->envelope.aside = slice_copy(transaction->arena,
	    slice_first(str_slice(&text), FREEZE_RULE_BYTES_MAX));
	str_release(&text);
}

int
transaction_open(struct transaction *transaction, struct spool *spool,
    struct slice rcvdfrom, struct slice with, struct err *err)
{
	struct envelope *envelope = &transaction->envelope;

	/* row S0 begins: public/ has an incomplete file */
	if (draft_open(spool, NULL, &transaction->draft, err) != 0)
		return -1;
	envelope->rcvdfrom = rcvdfrom;
	envelope->with = slice_copy(transaction->arena, with);
	_Static_assert(sizeof(envelope->id) == sizeof(transaction->draft.id),
	    "both are spool ids");
	memcpy(envelope->id, transaction->draft.id, sizeof(envelope->id));
	transaction_keep_rule(transaction);
	if ((transaction->promise.is_reserved &&
	    draft_reserve(&transaction->draft, transaction->size_bytes,
	    err) != 0) || write_envelope(transaction, err) != 0) {
		int saved = errno;

		draft_abort(&transaction->draft);
		errno = saved;
		return -1;
	}
	transaction->is_receiving = true;
	return 0;
}

void
transaction_freeze(struct transaction *transaction, const char *cause,
    const char *because)
{
	snprintf(transaction->milter_cause, sizeof(transaction->milter_cause),
	    "%s", cause);
	if (transaction->freeze == NULL)
		transaction->envelope.aside = slice_copy(transaction->arena,
		    slice_of(because));
}

void
transaction_keep_reason(struct transaction *transaction)
{
	char text[SPOOL_REASON_BYTES];
	struct slice aside;

	if (transaction->envelope.aside.n == 0)
		transaction_keep_rule(transaction);	/* decided at the end */
	aside = transaction->envelope.aside;
	if (!transaction_is_frozen(transaction) || aside.n == 0)
		return;
	snprintf(text, sizeof(text), SLICE_FMT, SLICE_ARG(aside));
	(void)spool_reason_write(transaction->draft.fd, text);
}

bool
transaction_is_frozen(const struct transaction *transaction)
{
	return transaction->freeze != NULL ||
	    transaction->milter_cause[0] != '\0';
}

void
transaction_freeze_cause(const struct transaction *transaction,
    char out_cause[FREEZE_CAUSE_BYTES])
{
	if (transaction->freeze == NULL) {
		snprintf(out_cause, FREEZE_CAUSE_BYTES, "%s",
		    transaction->milter_cause);
		return;
	}
	snprintf(out_cause, FREEZE_CAUSE_BYTES, "policy-%u",
	    transaction->freeze->at.line);
}

void
transaction_add_sender(const struct transaction *transaction,
    struct str *out)
{
	if (transaction->envelope.is_error)
		str_adds(out, "<>");
	else
		path_add(out, &transaction->envelope.from);
}

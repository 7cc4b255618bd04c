/* kept.c - answers of the DNS that count for a while
 *
 * In     questions; answers, from anywhere
 * Out    the same answers
 * Holds  two slots a pair: [0] what was found again, [1] what came last
 * Trusts no answer about more than its own question, and for no longer than
 *        DNS_KEPT_FOR_MAX_S; no name: the hash is keyed, and names are
 *        compared whole
 * Spec   kept.h; RFC 1035 section 3.2.1; RFC 2308 section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "base/siphash.h"
#include "io/dns/kept.h"

#include "base/banned.h"

enum { QUESTION_BYTES_MAX = 2 + 255 };

struct kept_slot {
	struct str	text;		/* the question, then the answer */
	size_t		question_bytes;	/* 0: empty */
	enum dns_result	result;
	int64_t		until_ms;
};

struct dns_kept {
	struct kept_slot slots[DNS_KEPT_PAIRS][2];
};

struct kept_question {
	char		bytes[QUESTION_BYTES_MAX];
	size_t		n;		/* 0: no name of the DNS */
};

struct dns_kept *
dns_kept_new(void)
{
	struct dns_kept *kept = mem_alloc(1, sizeof(*kept));

	for (size_t i = 0; i < DNS_KEPT_PAIRS; i++)
		for (size_t k = 0; k < 2; k++)
			str_init(&kept->slots[i][k].text);
	return kept;
}

void
dns_kept_free(struct dns_kept **kept)
{
	if (*kept == NULL)
		return;
	for (size_t i = 0; i < DNS_KEPT_PAIRS; i++)
		for (size_t k = 0; k < 2; k++)
			str_release(&(*kept)->slots[i][k].text);
	mem_free(kept);
}

static void
kept_question_set(struct kept_question *question, enum dns_type type,
    struct slice name)
{
	question->n = 0;
	if (name.n == 0 || name.n > QUESTION_BYTES_MAX - 2)
		return;
	question->bytes[0] = (char)((unsigned)type >> 8);
	question->bytes[1] = (char)((unsigned)type & 0xff);
	for (size_t i = 0; i < name.n; i++)
		question->bytes[2 + i] = ascii_lower(name.p[i]);
	question->n = 2 + name.n;
}

static struct kept_slot *
kept_pair(struct dns_kept *kept, const struct kept_question *question)
{
	struct siphash hash = siphash(siphash_process_key(),
	    (struct slice){ question->bytes, question->n });

	return kept->slots[hash.low & (DNS_KEPT_PAIRS - 1)];
}

static bool
kept_is_of(const struct kept_slot *slot, const struct kept_question *question)
{
	return slot->question_bytes == question->n && slice_equal(
	    slice_first(str_slice(&slot->text), question->n),
	    (struct slice){ question->bytes, question->n });
}

bool
dns_kept_find(struct dns_kept *kept, enum dns_type type, struct slice name,
    int64_t now_ms, enum dns_result *out_result, struct slice *out_bytes)
{
	struct kept_question question;
	struct kept_slot *pair, last;

	kept_question_set(&question, type, name);
	if (question.n == 0)
		return false;
	pair = kept_pair(kept, &question);
	if (kept_is_of(&pair[1], &question) && now_ms < pair[1].until_ms) {
		last = pair[1];		/* found again: it changes places */
		pair[1] = pair[0];
		pair[0] = last;
	}
	if (!kept_is_of(&pair[0], &question) || now_ms >= pair[0].until_ms)
		return false;
	*out_result = pair[0].result;
	*out_bytes = slice_from(str_slice(&pair[0].text), question.n);
	return true;
}

void
dns_kept_add(struct dns_kept *kept, enum dns_type type, struct slice name,
    int64_t now_ms, enum dns_result result, struct slice bytes)
{
	struct kept_question question;
	struct kept_slot *pair, *slot;
	uint32_t for_s = 0;

	kept_question_set(&question, type, name);
	if (question.n == 0 || bytes.n > DNS_KEPT_BYTES_MAX ||
	    (result != DNS_OK && result != DNS_NO_NAME) ||
	    !dns_answer_lasts((const unsigned char *)bytes.p, bytes.n,
	    &for_s) || for_s == 0)
		return;
	if (for_s > DNS_KEPT_FOR_MAX_S)
		for_s = DNS_KEPT_FOR_MAX_S;
	pair = kept_pair(kept, &question);
	slot = kept_is_of(&pair[0], &question) ? &pair[0] : &pair[1];
	str_reset(&slot->text);
	str_add(&slot->text, question.bytes, question.n);
	str_add_slice(&slot->text, bytes);
	slot->question_bytes = question.n;
	slot->result = result;
	slot->until_ms = now_ms + (int64_t)for_s * 1000;
}

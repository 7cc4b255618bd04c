/* ask.c - many questions to the DNS at once, in rounds
 *
 * In     names and types
 * Out    answers as they came
 * Holds  one asker and its loop for a round
 * Trusts nothing in answers: dns/wire.c reads them
 * Spec   doctor.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "io/dns/ask.h"
#include "origin/answers.h"
#include "tools/zmailer/doctor/doctor.h"

#include "base/banned.h"

enum { TURN_MS = 100 };

static struct doctor_answer *
doctor_find(const struct doctor_asking *asking, const char *name,
    enum dns_type type)
{
	for (size_t i = 0; i < asking->count; i++)
		if (asking->answers[i]->type == type && slice_is_nocase(
		    slice_of(asking->answers[i]->name), name))
			return asking->answers[i];
	return NULL;
}

int64_t
doctor_dns_end(struct doctor *doctor)
{
	if (doctor->dns_end_ms == 0)
		doctor->dns_end_ms = clock_steady_ms() + doctor->dns_ms;
	return doctor->dns_end_ms;
}

void
doctor_ask(struct doctor_asking *asking, const char *name,
    enum dns_type type)
{
	struct arena *arena = asking->doctor->arena;
	struct doctor_answer *answer, **wider;

	if (doctor_find(asking, name, type) != NULL)
		return;
	if (asking->count % 64 == 0) {
		wider = arena_alloc(arena,
		    (asking->count + 64) * sizeof(*wider));
		if (asking->count > 0)
			memcpy(wider, asking->answers,
			    asking->count * sizeof(*wider));
		asking->answers = wider;
	}
	answer = arena_alloc(arena, sizeof(*answer));
	answer->name = arena_printf(arena, "%s", name);
	answer->type = type;
	answer->result = DNS_TRY_AGAIN;
	answer->asking = asking;
	asking->answers[asking->count++] = answer;
}

static void
doctor_take(void *context, enum dns_result result, const unsigned char *bytes,
    size_t n)
{
	struct doctor_answer *answer = context;

	answer->asking->pending--;
	answer->result = result;
	if (result == DNS_OK) {
		answer->bytes = (const unsigned char *)arena_dup(
		    answer->asking->doctor->arena, (const char *)bytes, n);
		answer->n = n;
	}
}

void
doctor_ask_round(struct doctor_asking *asking)
{
	struct loop *loop = loop_new();
	struct dns_asker *asker = dns_asker_new(loop);
	size_t all = 0;

	for (size_t i = 0; i < asking->count; i++) {
		struct doctor_answer *answer = asking->answers[i];

		if (answer->is_asked)
			continue;
		answer->is_asked = true;
		asking->pending++;
		all++;
		dns_ask(asker, answer->name, answer->type, doctor_take, answer);
	}
	while (asking->pending > 0 &&
	    clock_steady_ms() < asking->end_at_ms) {
		doctor_progress(asking->doctor, "asking the DNS",
		    all - asking->pending, all);
		loop_turn(loop, TURN_MS);
	}
	doctor_progress(asking->doctor, "", 0, 0);
	asking->pending = 0;
	dns_asker_free(&asker);
	loop_free(&loop);
}

const struct doctor_answer *
doctor_answered(const struct doctor_asking *asking, const char *name,
    enum dns_type type)
{
	static const struct doctor_answer never = { .result = DNS_TRY_AGAIN };
	const struct doctor_answer *answer = doctor_find(asking, name, type);

	return answer == NULL ? &never : answer;
}

enum dns_result
doctor_addresses(const struct doctor_asking *asking, const char *host,
    struct dns_address *out, size_t *out_n)
{
	static const enum dns_type types[] = { DNS_TYPE_A, DNS_TYPE_AAAA };
	enum dns_result worst = DNS_NONE;
	struct err err;

	*out_n = 0;
	for (size_t i = 0; i < 2; i++) {
		const struct doctor_answer *answer = doctor_answered(asking,
		    host, types[i]);

		if (answer->result == DNS_OK)
			(void)dns_parse_addresses(answer->bytes, answer->n,
			    out, out_n, &err);
		else
			worst = answer->result;
	}
	return *out_n > 0 ? DNS_OK : worst;
}

void
doctor_ask_answers(struct doctor_asking *asking, struct answers *answers)
{
	const struct origin_answer *question;
	const struct doctor_answer *from;
	size_t cursor = 0;

	while ((question = answers_next_question(answers, &cursor)) != NULL)
		doctor_ask(asking, slice_dup(asking->doctor->arena,
		    question->name), question->type);
	doctor_ask_round(asking);
	while ((question = answers_question(answers)) != NULL) {
		const char *name = slice_dup(asking->doctor->arena,
		    question->name);
		enum dns_type type = question->type;

		from = doctor_answered(asking, name, type);
		answers_put_wire(answers, type, slice_of(name), from->result,
		    (struct slice){ (const char *)from->bytes, from->n });
	}
}

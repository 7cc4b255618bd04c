/* look.c - the DNS asked what a judgement wants to know
 *
 * In     questions of judgements
 * Out    answers; none of them is validated, so none is secure
 * Spec   origin/answers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "io/dns.h"
#include "tools/zmailer/auth/auth.h"
#include "tools/zmailer/doctor/doctor.h"

#include "base/banned.h"

enum { ROUND_MS = 10000 };

struct auth_look {
	struct arena	    *arena;
	struct doctor	     doctor;
	struct doctor_asking asking;
};

struct auth_look *
auth_look_new(struct arena *arena, const struct conf *conf, struct err *err)
{
	struct auth_look *look = arena_alloc(arena, sizeof(*look));

	*look = (struct auth_look){ .arena = arena };
	look->doctor.arena = arena;
	look->doctor.conf = conf;
	look->asking.doctor = &look->doctor;
	return dns_use(conf->dns_server, err) == 0 ? look : NULL;
}

static void
records_of_addresses(const struct doctor_answer *from, struct answer *out)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	size_t n = 0;
	struct err err;

	(void)dns_parse_addresses(from->bytes, from->n, addresses, &n, &err);
	for (size_t i = 0; i < n; i++)
		net_of_sockaddr((const struct sockaddr *)&addresses[i].address,
		    &out->records[out->record_count++].address);
}

static void
records_of_hosts(const struct doctor_answer *from, struct arena *arena,
    struct answer *out)
{
	struct dns_mx mx[DNS_MX_MAX];
	struct dns_name names[DNS_PTR_MAX];
	size_t n = 0;
	struct err err;

	if (from->type == DNS_TYPE_MX) {
		(void)dns_parse_mx(from->bytes, from->n, mx, &n, &err);
		for (size_t i = 0; i < n; i++)
			out->records[out->record_count++] =
			    (struct answer_record){ .preference =
			    mx[i].preference, .text = slice_lower(arena,
			    slice_of(mx[i].host)) };
		return;
	}
	(void)dns_parse_ptr(from->bytes, from->n, names, &n, &err);
	for (size_t i = 0; i < n; i++)
		out->records[out->record_count++].text = slice_lower(arena,
		    slice_of(names[i].text));
}

static void
records_of_texts(const struct doctor_answer *from, struct arena *arena,
    struct answer *out)
{
	size_t ends[ANSWER_RECORDS_MAX], count = 0, at = 0;
	struct str bytes = STR_INIT;
	struct slice all;
	struct err err;

	(void)dns_parse_texts(from->bytes, from->n, &bytes, ends,
	    ANSWER_RECORDS_MAX, &count, &err);
	all = slice_copy(arena, str_slice(&bytes));
	for (size_t i = 0; i < count; i++) {
		out->records[out->record_count++].text = slice_first(
		    slice_from(all, at), ends[i] - at);
		at = ends[i];
	}
	str_release(&bytes);
}

static void
auth_take(struct auth_look *look, struct answers *answers,
    const struct doctor_answer *from)
{
	struct answer_record records[ANSWER_RECORDS_MAX] = { { .text = { NULL,
	    0 } } };
	struct answer answer = { .type = from->type,
	    .name = slice_of(from->name), .records = records,
	    .status = from->result == DNS_NONE ||
	    from->result == DNS_NO_NAME ? ANSWER_NONE : ANSWER_SERVFAIL,
	    .is_no_name = from->result == DNS_NO_NAME };

	if (from->result == DNS_OK) {
		if (from->type == DNS_TYPE_TXT)
			records_of_texts(from, look->arena, &answer);
		else if (from->type == DNS_TYPE_A ||
		    from->type == DNS_TYPE_AAAA)
			records_of_addresses(from, &answer);
		else
			records_of_hosts(from, look->arena, &answer);
		answer.status = answer.record_count > 0 ? ANSWER_INSECURE :
		    ANSWER_NONE;
	}
	answers_put(answers, &answer);
}

void
auth_look_round(struct auth_look *look, struct answers *answers)
{
	const struct answer *question;

	look->asking.end_at_ms = clock_steady_ms() + ROUND_MS;
	while ((question = answers_question(answers)) != NULL) {
		const char *name = slice_dup(look->arena, question->name);
		enum dns_type type = question->type;

		doctor_ask(&look->asking, name, type);
		doctor_ask_round(&look->asking);
		auth_take(look, answers, doctor_answered(&look->asking, name,
		    type));
	}
}

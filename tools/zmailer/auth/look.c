/* look.c - the DNS asked what a judgement wants to know
 *
 * In     questions of judgements
 * Out    answers; none of them is validated, so none is secure
 * Spec   origin/answers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "io/dns/dns.h"
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

void
auth_look_round(struct auth_look *look, struct answers *answers)
{
	look->asking.end_at_ms = clock_steady_ms() + ROUND_MS;
	doctor_ask_answers(&look->asking, answers);
}

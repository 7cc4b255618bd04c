/* resolver.c - what stands still: our own resolver
 *
 * In     the answer about its numbers, which needs nobody else's name server
 * Out    a row, when there is none
 * Holds  nothing
 * Spec   standstill.h; zmailer-dns(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "io/dns/ask.h"
#include "tools/run/standstill/parts.h"

#include "base/banned.h"

struct resolver_knock {
	struct loop	*loop;
	struct timer	 timer;
	bool		 has_answer;
};

/* dns_answer_fn */
static void
resolver_on_answer(void *context, enum dns_result result,
    const unsigned char *answer, size_t n)
{
	struct resolver_knock *knock = context;

	knock->has_answer = answer != NULL;
	loop_stop(knock->loop);
}

static void
resolver_on_late(void *context)
{
	struct resolver_knock *knock = context;

	loop_stop(knock->loop);
}

static bool
resolver_answers(const struct conf *conf)
{
	struct resolver_knock knock = { .has_answer = false };
	struct dns_asker *asker;
	struct err err;

	if (dns_use(conf->dns_server, &err) < 0)
		return false;
	knock.loop = loop_new();
	asker = dns_asker_new(knock.loop);
	timer_set(knock.loop, &knock.timer, clock_steady_ms() +
	    STANDSTILL_KNOCK_MS, resolver_on_late, &knock);
	dns_ask(asker, RESOLVER_STATUS_NAME, DNS_TYPE_TXT, resolver_on_answer,
	    &knock);
	loop_run(knock.loop);
	timer_clear(&knock.timer);
	dns_asker_free(&asker);
	loop_free(&knock.loop);
	return knock.has_answer;
}

void
standstill_resolver(struct standstill *all, const struct conf *conf)
{
	struct standstill_row *row;
	struct str text = STR_INIT;

	if (!conf_has_resolver(conf) || resolver_answers(conf))
		return;
	row = standstill_row(all, "resolver", "");
	str_addf(&text, "the resolver at %s does not answer: mail to other "
	    "domains waits", conf->resolver.address);
	standstill_say(all, row, &text);
	row->next = "zmailer restart";
	str_release(&text);
}

/* test_dane.c - what is asked about a next hop, and what follows: each
 * combination of answers
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "tls/dane.h"
#include "transports/smtp/security/dane.h"

#define NO DANE_NOT_ASKED
#define GOOD DANE_USABLE
#define ODD DANE_UNUSABLE
#define NONE DANE_NOTHING
#define SICK DANE_FAILED

static const struct {
	const char	 *name;
	struct dane_facts facts;
	enum dane_step	  step;
} rows[] = {
	/* nobody vouches for the name of the host, or its address */
	{ "MX insecure", { false, true, false, NO, NO, NO }, DANE_WITHOUT },
	{ "MX insecure, alias", { false, true, true, NO, NO, NO },
	    DANE_WITHOUT },
	{ "address insecure", { true, false, false, NO, NO, NO },
	    DANE_WITHOUT },
	/* a host without alias */
	{ "ask", { true, true, false, NO, NO, NO }, DANE_ASK_AT_HOST },
	{ "records", { true, true, false, NO, NO, GOOD }, DANE_MATCH },
	{ "unusable", { true, true, false, NO, NO, ODD }, DANE_ENCRYPT },
	{ "none", { true, true, false, NO, NO, NONE }, DANE_WITHOUT },
	{ "SERVFAIL", { true, true, false, NO, NO, SICK }, DANE_DEFER },
	/* an alias, all of it secure: its end first */
	{ "alias, ask", { true, true, true, NO, NO, NO }, DANE_ASK_AT_END },
	{ "alias, records", { true, true, true, NO, GOOD, NO }, DANE_MATCH },
	{ "alias, unusable", { true, true, true, NO, ODD, NO },
	    DANE_ENCRYPT },
	{ "alias, SERVFAIL", { true, true, true, NO, SICK, NO },
	    DANE_DEFER },
	{ "alias, none: its name", { true, true, true, NO, NONE, NO },
	    DANE_ASK_AT_HOST },
	{ "alias, its name has", { true, true, true, NO, NONE, GOOD },
	    DANE_MATCH },
	{ "alias, its name has unusable", { true, true, true, NO, NONE,
	    ODD }, DANE_ENCRYPT },
	{ "alias, its name has none", { true, true, true, NO, NONE, NONE },
	    DANE_WITHOUT },
	{ "alias, its name SERVFAIL", { true, true, true, NO, NONE, SICK },
	    DANE_DEFER },
	/* an alias to where nobody vouches: is the alias itself secure? */
	{ "far alias, ask", { true, false, true, NO, NO, NO },
	    DANE_ASK_ALIAS },
	{ "far alias, insecure", { true, false, true, NONE, NO, NO },
	    DANE_WITHOUT },
	{ "far alias, SERVFAIL", { true, false, true, SICK, NO, NO },
	    DANE_DEFER },
	{ "far alias, secure", { true, false, true, GOOD, NO, NO },
	    DANE_ASK_AT_HOST },
	{ "far alias, records", { true, false, true, GOOD, NO, GOOD },
	    DANE_MATCH },
	{ "far alias, unusable", { true, false, true, GOOD, NO, ODD },
	    DANE_ENCRYPT },
	{ "far alias, none", { true, false, true, GOOD, NO, NONE },
	    DANE_WITHOUT },
	{ "far alias, TLSA SERVFAIL", { true, false, true, GOOD, NO, SICK },
	    DANE_DEFER },
};

Test(dane, each_answer_leads_somewhere)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(dane_decide(&rows[i].facts), rows[i].step,
		    "%s: %d", rows[i].name, dane_decide(&rows[i].facts));
}

/* Trouble never ends in the clear, whatever else was said. */
Test(dane, no_answer_is_no_permission)
{
	for (unsigned i = 0; i < 8; i++)
		for (enum dane_answer answer = NO; answer <= SICK; answer++) {
			struct dane_facts facts = { i & 1, i & 2, i & 4,
			    answer, answer, SICK };
			enum dane_step step = dane_decide(&facts);
			bool is_asked = facts.is_name_secure &&
			    (facts.are_addresses_secure ||
			    (facts.is_alias && answer != NONE));

			if (step == DANE_WITHOUT)
				cr_expect_not(is_asked, "%u %d", i, answer);
		}
}

/* What stands there in full must be readable. */
Test(dane, a_certificate_in_full_that_is_none_is_not_used)
{
	struct tlsa tlsa = { TLSA_DANE_EE, TLSA_CERTIFICATE, TLSA_FULL,
	    SLICE("0\3\2\1\1") };

	cr_expect_not(tls_tlsa_is_usable(&tlsa));
	tlsa.selector = TLSA_KEY;
	cr_expect_not(tls_tlsa_is_usable(&tlsa));
	tlsa.usage = TLSA_PKIX_EE;
	cr_expect_not(tls_tlsa_is_usable(&tlsa));
}

/* ---- connections that may be shared ------------------------------------ */

static void
records_set(struct dns_records *records, const char *a, const char *b)
{
	dns_records_init(records);
	str_adds(&records->bytes, a);
	records->ends[records->count++] = records->bytes.len;
	str_adds(&records->bytes, b);
	records->ends[records->count++] = records->bytes.len;
}

Test(dane, other_records_are_another_policy_their_order_is_not)
{
	struct dns_records first, turned, other;
	struct client_policy policy = { .level = TLS_LEVEL_DANE_ONLY };
	char key[4][CLIENT_KEY_BYTES];

	records_set(&first, "311a", "201bb");
	records_set(&turned, "201bb", "311a");
	records_set(&other, "311a2", "01bb");
	client_policy_make_key(&policy);
	strlcpy(key[0], policy.key, sizeof(key[0]));
	policy.tlsa = &first;
	client_policy_make_key(&policy);
	strlcpy(key[1], policy.key, sizeof(key[1]));
	policy.tlsa = &turned;
	client_policy_make_key(&policy);
	strlcpy(key[2], policy.key, sizeof(key[2]));
	policy.tlsa = &other;
	client_policy_make_key(&policy);
	strlcpy(key[3], policy.key, sizeof(key[3]));
	cr_expect_str_neq(key[0], key[1]);
	cr_expect_str_eq(key[1], key[2]);
	cr_expect_str_neq(key[1], key[3]);
	dns_records_release(&first);
	dns_records_release(&turned);
	dns_records_release(&other);
}

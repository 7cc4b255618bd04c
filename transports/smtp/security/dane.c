/* dane.c - TLSA records of next hops: what to ask, and what follows
 *
 * In     a host of a target with its addresses; answers of the DNS
 * Out    the policy for that host, or why it gets no mail
 * Holds  nothing
 * Trusts only answers that a resolver on loopback calls secure; the want of
 *        one never makes a protected host an unprotected one
 * Spec   RFC 6698, RFC 7672 section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "journal/event.h"
#include "tls/dane.h"
#include "transports/smtp/security/dane.h"

#include "base/banned.h"

/* ---- the choice -------------------------------------------------------- */

static enum dane_step
dane_by_records(enum dane_answer answer)
{
	switch (answer) {
	case DANE_USABLE:
		return DANE_MATCH;
	case DANE_UNUSABLE:
		return DANE_ENCRYPT;
	case DANE_FAILED:
		return DANE_DEFER;
	default:
		return DANE_WITHOUT;
	}
}

/* RFC 7672 section 2.2.2: where the aliases lead, if all of them are secure;
 * the name that was told, else, if that one alias is. */
enum dane_step
dane_decide(const struct dane_facts *facts)
{
	if (!facts->is_name_secure ||
	    (!facts->are_addresses_secure && !facts->is_alias))
		return DANE_WITHOUT;
	if (facts->are_addresses_secure && facts->is_alias) {
		if (facts->at_end == DANE_NOT_ASKED)
			return DANE_ASK_AT_END;
		if (facts->at_end != DANE_NOTHING)
			return dane_by_records(facts->at_end);
	} else if (facts->is_alias) {
		if (facts->alias == DANE_NOT_ASKED)
			return DANE_ASK_ALIAS;
		if (facts->alias != DANE_USABLE)
			return dane_by_records(facts->alias);
	}
	return facts->at_host == DANE_NOT_ASKED ? DANE_ASK_AT_HOST :
	    dane_by_records(facts->at_host);
}

/* ---- the questions ----------------------------------------------------- */

struct dane {
	const struct client_hosts *hosts;
	const char		*host;
	char			 base[256];	/* of the records */
	struct dns_records	*records;
	struct dane_facts	 facts;
	struct err		 trouble;	/* of DANE_FAILED */
};

static enum dane_answer
dane_judge(const struct dns_records *records)
{
	struct tlsa tlsa;

	for (size_t i = 0; i < records->count; i++)
		if (tlsa_parse(dns_records_at(records, i), &tlsa) == 0 &&
		    tls_tlsa_is_usable(&tlsa))
			return DANE_USABLE;
	return DANE_UNUSABLE;
}

/* One question; records that are not secure are as good as none. */
static enum dane_answer
dane_ask(struct dane *dane, const char *name, enum dns_type type)
{
	struct err err;

	switch (dns_ask_records(name, type, dane->records, &err)) {
	case DNS_OK:
		if (!dane->records->is_secure)
			return DANE_NOTHING;
		return type == DNS_TYPE_TLSA ? dane_judge(dane->records) :
		    DANE_USABLE;
	case DNS_NONE:
	case DNS_NO_NAME:
		return DANE_NOTHING;
	default:
		err_set(&dane->trouble, "%s of %.255s could not be had: %.230s",
		    type == DNS_TYPE_TLSA ? "TLSA" : "CNAME (where TLSA is "
		    "looked for hangs on it)", dane->host, err.text);
		return DANE_FAILED;
	}
}

static enum dane_answer
dane_ask_tlsa(struct dane *dane, const char *base)
{
	char name[300];
	size_t n = strlen(base);

	if (n > 0 && base[n - 1] == '.')
		n--;
	snprintf(dane->base, sizeof(dane->base), "%.*s", (int)n, base);
	snprintf(name, sizeof(name), "_%u._tcp.%s", dane->hosts->target->port,
	    dane->base);
	return dane_ask(dane, name, DNS_TYPE_TLSA);
}

static enum dane_step
dane_run(struct dane *dane)
{
	const char *end = dane->hosts->trust.name;
	enum dane_step step;

	for (;;) {
		step = dane_decide(&dane->facts);
		if (step == DANE_ASK_ALIAS)
			dane->facts.alias = dane_ask(dane, dane->host,
			    DNS_TYPE_CNAME);
		else if (step == DANE_ASK_AT_END)
			dane->facts.at_end = dane_ask_tlsa(dane, end);
		else if (step == DANE_ASK_AT_HOST)
			dane->facts.at_host = dane_ask_tlsa(dane, dane->host);
		else
			return step;
	}
}

/* ---- what follows ------------------------------------------------------ */

static bool
dane_refuse(const struct dane *dane, const char *status, const char *words,
    struct verdict *out)
{
	verdict_set(out, VERDICT_DEFERRED, status, dane->host, "%s", words);
	out->host_trouble = true;
	event(EV_DANE_REFUSED, NULL, "host", slice_of(dane->host), "reason",
	    slice_of(words), NULL);
	return false;
}

/* Does a record name an authority, not the certificate itself? */
static bool
dane_has_authority(const struct dns_records *records)
{
	struct tlsa tlsa;

	for (size_t i = 0; i < records->count; i++)
		if (tlsa_parse(dns_records_at(records, i), &tlsa) == 0 &&
		    tlsa.usage == TLSA_DANE_TA)
			return true;
	return false;
}

/* Whose name the certificate of an authority must have: RFC 7672 section
 * 3.2.2.  Without one names do not count (section 3.1.1), and all domains
 * that have this host share connections and sessions. */
static void
dane_add_names(const struct dane *dane, struct client_policy *policy)
{
	const struct client_target *target = dane->hosts->target;

	policy->name_count = 0;
	snprintf(policy->base, sizeof(policy->base), "%s", dane->base);
	policy->names[policy->name_count++] = policy->base;
	if (!dane_has_authority(dane->records))
		return;
	snprintf(policy->name_text[0], sizeof(policy->name_text[0]), "%s",
	    target->name);
	policy->names[policy->name_count++] = policy->name_text[0];
	if (target->kind != TARGET_MX)
		return;
	snprintf(policy->name_text[1], sizeof(policy->name_text[1]), "%s",
	    dane->host);
	policy->names[policy->name_count++] = policy->name_text[1];
}

static bool
dane_apply(const struct dane *dane, enum dane_step step,
    struct client_policy *policy, struct verdict *out)
{
	bool is_only = policy->level == TLS_LEVEL_DANE_ONLY;

	if (step == DANE_DEFER)
		return dane_refuse(dane, "4.7.5", dane->trouble.text, out);
	if (step == DANE_MATCH) {
		policy->level = TLS_LEVEL_DANE_ONLY;
		policy->tlsa = dane->records;
		dane_add_names(dane, policy);
	} else if (is_only) {
		return dane_refuse(dane, "4.7.4", step == DANE_ENCRYPT ?
		    "no TLSA record of the host can be used, and dane-only "
		    "asks for one" : "the host has no TLSA records that the "
		    "DNS vouches for, and dane-only asks for them", out);
	} else if (step == DANE_ENCRYPT) {
		policy->are_tlsa_unusable = true;
		if (policy->level < TLS_LEVEL_ENCRYPT)
			policy->level = TLS_LEVEL_ENCRYPT;
	}
	client_policy_make_key(policy);
	return true;
}

bool
client_dane(const struct client_hosts *hosts, size_t index,
    struct client_policy *policy, struct dns_records *records,
    struct verdict *out)
{
	struct dane dane = {
		.hosts = hosts, .records = records,
		.host = hosts->target->kind == TARGET_UNIX ?
		    hosts->target->name : hosts->mx[index].host,
	};

	if (!policy->asks_tlsa)
		return true;
	if (hosts->target->kind == TARGET_UNIX)
		return dane_apply(&dane, DANE_WITHOUT, policy, out);
	dane.facts = (struct dane_facts){
		.is_name_secure = hosts->is_secure,
		.are_addresses_secure = hosts->trust.is_secure,
		.is_alias = hosts->trust.name[0] != '\0' &&
		    strcasecmp(hosts->trust.name, dane.host) != 0,
	};
	return dane_apply(&dane, dane_run(&dane), policy, out);
}

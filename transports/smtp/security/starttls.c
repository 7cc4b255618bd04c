/* starttls.c - TLS with a next hop, and what happens where there is none
 *
 * In     a connection, the policy for it
 * Out    a protected connection; or why mail waits or goes back
 * Holds  nothing
 * Trusts nothing that came before TLS
 * Spec   RFC 3207 section 4; RFC 7672 section 2.2; RFC 8689 section 4.2.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "grammar/tlsa.h"
#include "journal/event.h"
#include "transports/smtp/security/sts.h"

#include "base/banned.h"

enum { STARTTLS_RECORDS_TOLD = 8 };

static const char no_starttls[] = "starttls-not-supported";

/* What the DNS said of this host was not in vain. */
static bool
starttls_has_records(const struct client_policy *policy)
{
	return policy->tlsa != NULL || policy->are_tlsa_unusable;
}

/* What a policy asks for cannot be had.  What a sender asked for (RFC 8689)
 * will not be had later either: it goes back. */
static void
starttls_unprotected(struct smtp_client *client,
    const struct client_policy *policy,
    const char *status, const char *words, struct verdict *out_trouble)
{
	if (starttls_has_records(policy))
		event(EV_DANE_REFUSED, NULL, "host", slice_of(client->who),
		    "reason", slice_of(words), NULL);
	if (policy->is_required) {
		verdict_set(out_trouble, VERDICT_FAILED, "5.7.30",
		    client->who, "the sender requires TLS (REQUIRETLS): %s",
		    words);
		return;
	}
	verdict_set(out_trouble, VERDICT_DEFERRED, status, client->who, "%s",
	    words);
	out_trouble->host_trouble = true;
}

static bool
starttls_none(struct smtp_client *client, const struct client_policy *policy,
    const char *words, struct verdict *out_trouble)
{
	char text[ERR_TEXT_BYTES];

	if (policy->level < TLS_LEVEL_ENCRYPT)
		return true;
	if (starttls_has_records(policy)) {
		snprintf(text, sizeof(text), "%.300s (the host's TLSA "
		    "records ask for it)", words);
		words = text;
	} else if (policy->sts_domain != NULL) {
		snprintf(text, sizeof(text), "%.200s (the MTA-STS policy of "
		    "%.200s asks for it)", words, policy->sts_domain);
		words = text;
	}
	starttls_unprotected(client, policy, "4.7.4", words, out_trouble);
	client_quit(client);
	return false;
}

static void
starttls_tell_unusable(struct smtp_client *client,
    const struct client_policy *policy)
{
	if (policy->are_tlsa_unusable)
		snprintf(client->tls.tlsa, sizeof(client->tls.tlsa),
		    "no TLSA record could be used");
}

/* With the records that were to be matched, if there are any. */
static void
starttls_words(const struct client_policy *policy, const struct err *err,
    char words[ERR_TEXT_BYTES])
{
	struct str list = STR_INIT;
	struct tlsa tlsa;

	for (size_t i = 0; policy->tlsa != NULL &&
	    i < policy->tlsa->count && i < STARTTLS_RECORDS_TOLD; i++)
		if (tlsa_parse(dns_records_at(policy->tlsa, i), &tlsa) == 0)
			tlsa_add_words(&list, &tlsa);
	if (policy->tlsa == NULL && policy->sts_domain == NULL)
		snprintf(words, ERR_TEXT_BYTES, "TLS handshake: %.400s",
		    err->text);
	else if (policy->tlsa == NULL)
		snprintf(words, ERR_TEXT_BYTES, "TLS handshake: %.200s "
		    "(MTA-STS policy of %.200s)", err->text,
		    policy->sts_domain);
	else
		snprintf(words, ERR_TEXT_BYTES, "TLS handshake: %.100s "
		    "(TLSA of %.200s: %.100s)", err->text, policy->base,
		    list.buf);
	str_release(&list);
}

bool
client_start_tls(struct smtp_client *client, struct client_hello *hello,
    struct verdict *out_trouble)
{
	const struct client_policy *policy = hello->policy;
	bool is_strict = policy->level >= TLS_LEVEL_VERIFY;
	char key[TLS_KEY_BYTES];
	struct tls_goal goal = {
		.key = key, .names = policy->names,
		.sni = policy->tlsa != NULL ? policy->base : hello->name,
		.name_count = policy->name_count, .is_strict = is_strict,
		.tlsa = policy->tlsa, .is_judged = policy->is_judged,
	};
	enum peer_result result;
	struct err err;
	char words[ERR_TEXT_BYTES];

	client->reply_bytes = 0;
	snprintf(key, sizeof(key), "%.200s %.300s", client->who,
	    policy->key);
	result = peer_start_tls(&client->peer, policy->tls, &goal,
	    clock_steady_ms() + client_wait_ms(client,
	    client->conf->timeouts.helo_ms), &client->tls, &err);
	if (result == PEER_OK) {
		hello->result = client->tls.is_verified ||
		    !policy->is_judged ? "success" :
		    client_tls_result(client->tls.why);
		starttls_tell_unusable(client, policy);
		return true;
	}
	hello->result = client_tls_result(err.text);
	starttls_words(policy, &err, words);
	client_drop(client);
	hello->is_tls_broken = policy->level < TLS_LEVEL_ENCRYPT;
	/* a line that broke may hold tomorrow, a wrong certificate not */
	if (policy->is_required && !slice_starts(slice_of(err.text),
	    "certificate"))
		verdict_set(out_trouble, VERDICT_DEFERRED, "4.7.5",
		    client->who, "%s", words);
	else
		starttls_unprotected(client, policy, "4.7.5", words,
		    out_trouble);
	return false;
}

bool
client_starttls(struct smtp_client *client, struct client_hello *hello,
    struct verdict *out_trouble)
{
	const struct client_policy *policy = hello->policy;
	struct str words = STR_INIT;
	struct reply reply;
	bool is_good;

	if (policy->level == TLS_LEVEL_NONE ||
	    (policy->level == TLS_LEVEL_MAY &&
	    client_has(client, &client->address, TROUBLE_TLS)))
		return true;
	if (!(client->offer.extensions & CLIENT_STARTTLS)) {
		hello->result = no_starttls;
		return starttls_none(client, policy,
		    "the host does not offer TLS, "
		    "without which it gets no mail", out_trouble);
	}
	str_adds(&client->peer.out, "STARTTLS\r\n");
	if (!client_ask(client, "waiting for the reply to STARTTLS", &reply,
	    out_trouble))
		return false;
	if (reply.code == 421)
		return client_refused(client, &reply, out_trouble);
	if (reply.code != 220) {
		hello->result = no_starttls;
		reply_add_text(&words, &reply);
		is_good = starttls_none(client, policy, words.buf, out_trouble);
		str_release(&words);
		return is_good;
	}
	return client_start_tls(client, hello, out_trouble);
}

bool
client_requiretls(struct smtp_client *client,
    const struct client_policy *policy, struct verdict *out_trouble)
{
	if (!policy->is_required ||
	    (client->offer.extensions & CLIENT_REQUIRETLS))
		return true;
	starttls_unprotected(client, policy, "4.7.30",
	    "the host does not announce "
	    "REQUIRETLS", out_trouble);
	client_quit(client);
	return false;
}

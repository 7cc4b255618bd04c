/* starttls.c - TLS with a next hop, and what happens where there is none
 *
 * In     a connection, the policy for it
 * Out    a protected connection; or why mail waits or goes back
 * Holds  nothing
 * Trusts nothing that came before TLS
 * Spec   RFC 3207 section 4; RFC 8689 section 4.2.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

/* What a policy asks for cannot be had.  What a sender asked for (RFC 8689)
 * will not be had later either: it goes back. */
static void
starttls_unprotected(struct client *client, const struct client_policy *policy,
    const char *status, const char *words, struct verdict *out_trouble)
{
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
starttls_none(struct client *client, const struct client_policy *policy,
    const char *words, struct verdict *out_trouble)
{
	if (policy->level < TLS_LEVEL_ENCRYPT)
		return true;
	starttls_unprotected(client, policy, "4.7.4", words, out_trouble);
	client_quit(client);
	return false;
}

bool
client_start_tls(struct client *client, struct client_hello *hello,
    struct verdict *out_trouble)
{
	const struct client_policy *policy = hello->policy;
	bool is_strict = policy->level == TLS_LEVEL_VERIFY;
	char key[TLS_KEY_BYTES];
	struct tls_goal goal = {
		.key = key, .sni = hello->name, .names = policy->names,
		.name_count = policy->name_count, .is_strict = is_strict,
	};
	enum peer_result result;
	struct err err;
	char words[ERR_TEXT_BYTES];

	client->reply_bytes = 0;
	snprintf(key, sizeof(key), "%.200s %.300s", client->who,
	    policy->key);
	result = peer_start_tls(&client->peer, policy->tls, &goal,
	    clock_steady_ms() + client->conf->timeouts.helo_ms, &client->tls,
	    &err);
	if (result == PEER_OK)
		return true;
	snprintf(words, sizeof(words), "TLS handshake: %.400s", err.text);
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
client_starttls(struct client *client, struct client_hello *hello,
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
	if (!(client->offer.extensions & CLIENT_STARTTLS))
		return starttls_none(client, policy,
		    "the host does not offer TLS, "
		    "without which it gets no mail", out_trouble);
	str_adds(&client->peer.out, "STARTTLS\r\n");
	if (!client_ask(client, "waiting for the reply to STARTTLS", &reply,
	    out_trouble))
		return false;
	if (reply.code == 421)
		return client_refused(client, &reply, out_trouble);
	if (reply.code != 220) {
		reply_add_text(&words, &reply);
		is_good = starttls_none(client, policy, words.buf, out_trouble);
		str_release(&words);
		return is_good;
	}
	return client_start_tls(client, hello, out_trouble);
}

bool
client_requiretls(struct client *client, const struct client_policy *policy,
    struct verdict *out_trouble)
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

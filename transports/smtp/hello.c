/* hello.c - greeting, EHLO, STARTTLS, what the peer can do, and QUIT
 *
 * In     a fresh connection, the policy for it
 * Out    a session that is ready for mail; or why there is none
 * Trusts nothing the peer announces but what the table knows, and nothing
 *        at all that it announced before TLS
 * Spec   RFC 5321 sections 3.1, 3.2, 4.1.1.1; RFC 2033 section 4.1; RFC
 *        3207 section 4; RFC 8689 section 4.2.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

bool
client_ask(struct client *client, const char *step, struct reply *out,
    struct verdict *out_trouble)
{
	int64_t timeout_ms = client->conf->timeouts.helo_ms;
	enum peer_result result;
	struct err err;

	result = client_flush(client, timeout_ms, &err);
	if (result == PEER_OK)
		result = client_reply(client, timeout_ms, out, &err);
	if (result == PEER_OK)
		return true;
	client_broken(client, result, &err, step, out_trouble);
	out_trouble->host_trouble = true;
	return false;
}

static bool
greeting(struct client *client, bool is_by_mx, struct verdict *out_trouble)
{
	enum peer_result result;
	struct slice text, name;
	struct reply reply;
	struct err err;
	size_t cursor = 0;

	result = client_reply(client, client->conf->timeouts.greeting_ms,
	    &reply, &err);
	if (result != PEER_OK) {
		client_broken(client, result, &err, "waiting for the greeting",
		    out_trouble);
		out_trouble->host_trouble = true;
		return false;
	}
	if (reply.code / 100 != 2)
		return client_refused(client, &reply, out_trouble);
	if (is_by_mx && reply_line(&reply, &cursor, &text) &&
	    slice_word(&text, &name) &&
	    slice_is_nocase(name, client->conf->host)) {
		verdict_set(out_trouble, VERDICT_FAILED, "5.4.6", client->who,
		    "the host that should take the mail is this one: a loop");
		client_quit(client);
		return false;
	}
	return true;
}

/* HELO for a server that is older. */
bool
client_ehlo(struct client *client, const char *name,
    struct verdict *out_trouble)
{
	const char *verb = client->is_lmtp ? "LHLO" : "EHLO";
	struct reply reply;

	memset(&client->offer, 0, sizeof(client->offer));
	str_addf(&client->peer.out, "%s %s\r\n", verb, name);
	if (!client_ask(client, client->is_lmtp ?
	    "waiting for the reply to LHLO" : "waiting for the reply to EHLO",
	    &reply, out_trouble))
		return false;
	if (reply.code / 100 == 2) {
		client_offer_take(&client->offer, &reply);
		return true;
	}
	if (reply.code / 100 == 5 && !client->is_lmtp) {
		str_addf(&client->peer.out, "HELO %s\r\n", name);
		if (!client_ask(client, "waiting for the reply to HELO",
		    &reply, out_trouble))
			return false;
		if (reply.code / 100 == 2)
			return true;
	}
	return client_refused(client, &reply, out_trouble);
}

/* ---- TLS --------------------------------------------------------------- */

/* What a policy asks for cannot be had.  What a sender asked for (RFC 8689)
 * will not be had later either: it goes back. */
static void
unprotected(struct client *client, const struct client_policy *policy,
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
no_tls(struct client *client, const struct client_policy *policy,
    const char *words, struct verdict *out_trouble)
{
	if (policy->level < TLS_LEVEL_ENCRYPT)
		return true;
	unprotected(client, policy, "4.7.4", words, out_trouble);
	client_quit(client);
	return false;
}

static bool
handshake(struct client *client, struct client_hello *hello,
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
		unprotected(client, policy, "4.7.5", words, out_trouble);
	return false;
}

/* After EHLO in the clear. */
static bool
starttls(struct client *client, struct client_hello *hello,
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
		return no_tls(client, policy, "the host does not offer TLS, "
		    "without which it gets no mail", out_trouble);
	str_adds(&client->peer.out, "STARTTLS\r\n");
	if (!client_ask(client, "waiting for the reply to STARTTLS", &reply,
	    out_trouble))
		return false;
	if (reply.code == 421)
		return client_refused(client, &reply, out_trouble);
	if (reply.code != 220) {
		reply_add_text(&words, &reply);
		is_good = no_tls(client, policy, words.buf, out_trouble);
		str_release(&words);
		return is_good;
	}
	return handshake(client, hello, out_trouble) &&
	    client_ehlo(client, client_helo(client), out_trouble);
}

/* RFC 8689 section 4.2.1: the next host must promise to go on like that. */
static bool
requiretls(struct client *client, const struct client_policy *policy,
    struct verdict *out_trouble)
{
	if (!policy->is_required ||
	    (client->offer.extensions & CLIENT_REQUIRETLS))
		return true;
	unprotected(client, policy, "4.7.30", "the host does not announce "
	    "REQUIRETLS", out_trouble);
	client_quit(client);
	return false;
}

bool
client_hello(struct client *client, struct client_hello *hello,
    struct verdict *out_trouble)
{
	memset(&client->offer, 0, sizeof(client->offer));
	memset(&client->tls, 0, sizeof(client->tls));
	if (hello->policy->is_implicit &&
	    !handshake(client, hello, out_trouble))
		return false;
	if (!greeting(client, hello->is_by_mx, out_trouble) ||
	    !client_ehlo(client, client_helo(client), out_trouble))
		return false;
	if (!hello->policy->is_implicit &&
	    !starttls(client, hello, out_trouble))
		return false;
	if (!requiretls(client, hello->policy, out_trouble))
		return false;
	return hello->secret == NULL ||
	    client_auth(client, hello->secret, out_trouble);
}

/* ---- a pause ----------------------------------------------------------- */

/* A line that nobody said goodbye on may still be gone (a host that was
 * restarted, an address translation that forgot): MAIL would wait minutes for
 * its answer, and the message would have lost an attempt. */
bool
client_answers(struct client *client)
{
	enum peer_result result;
	struct reply reply;
	struct err err;

	str_adds(&client->peer.out, client->needs_reset ? "RSET\r\n" :
	    "NOOP\r\n");
	result = client_flush(client, CLIENT_DOUBT_FOR_MS, &err);
	if (result == PEER_OK)
		result = client_reply(client, CLIENT_DOUBT_FOR_MS, &reply,
		    &err);
	if (result != PEER_OK) {
		client_drop(client);
		return false;
	}
	if (reply.code / 100 != 2 || !client_is_level(client)) {
		client_quit(client);
		return false;
	}
	client->needs_reset = false;
	return true;
}

/* ---- goodbye ----------------------------------------------------------- */

void
client_quit_for(struct client *client, int64_t timeout_ms)
{
	struct reply reply;
	struct err err;

	if (peer_is_open(&client->peer)) {
		str_reset(&client->peer.out);
		str_adds(&client->peer.out, "QUIT\r\n");
		if (client_flush(client, timeout_ms, &err) == PEER_OK &&
		    timeout_ms > 0)
			(void)client_reply(client, timeout_ms, &reply, &err);
	}
	client_drop(client);
	client->messages = 0;
	client->needs_reset = false;
	client->host[0] = '\0';
}

void
client_quit(struct client *client)
{
	client_quit_for(client, 0);
}

/* hello.c - greeting and EHLO, until a connection is ready for mail
 *
 * In     a fresh connection, the policy for it
 * Out    a session that is ready for mail; or why there is none
 * Trusts nothing the peer announces but what the table knows, and nothing
 *        at all that it announced before TLS
 * Spec   RFC 5321 sections 3.1, 3.2, 4.1.1.1; RFC 2033 section 4.1; RFC
 *        3207 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

static bool
hello_greeting(struct smtp_client *client, bool is_by_mx,
    struct verdict *out_trouble)
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
client_ehlo(struct smtp_client *client, const char *name,
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

bool
client_hello(struct smtp_client *client, struct client_hello *hello,
    struct verdict *out_trouble)
{
	memset(&client->offer, 0, sizeof(client->offer));
	memset(&client->tls, 0, sizeof(client->tls));
	if (hello->policy->is_implicit &&
	    !client_start_tls(client, hello, out_trouble))
		return false;
	if (!hello_greeting(client, hello->is_by_mx, out_trouble) ||
	    !client_ehlo(client, client_helo(client), out_trouble))
		return false;
	if (!hello->policy->is_implicit) {
		if (!client_starttls(client, hello, out_trouble))
			return false;
		/* what was announced in the clear is forgotten */
		if (client->tls.version[0] != '\0' && !client_ehlo(client,
		    client_helo(client), out_trouble))
			return false;
	}
	if (!client_requiretls(client, hello->policy, out_trouble))
		return false;
	return hello->secret == NULL ||
	    client_auth(client, hello->secret, out_trouble);
}

/* ---- a pause ----------------------------------------------------------- */

/* A line that nobody said goodbye on may still be gone (a host that was
 * restarted, an address translation that forgot): MAIL would wait minutes for
 * its answer, and the message would have lost an attempt. */
bool
client_answers(struct smtp_client *client)
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

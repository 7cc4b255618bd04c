/* client_hello.c - greeting, EHLO, what the peer can do, and QUIT
 *
 * In     a fresh connection
 * Out    the extensions of the peer; or why it does not serve us
 * Trusts nothing the peer announces but what the table knows
 * Spec   RFC 5321 sections 3.1, 3.2, 4.1.1.1; RFC 2033 section 4.1
 *
 *   ehlo-line    = keyword *( SP param )
 *   size-param   = 1*20DIGIT                  RFC 1870 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "transports/smtp/client.h"

#include "base/banned.h"

static const struct {
	const char	*keyword;
	unsigned	 extension;
} extension_rows[] = {
	{ "PIPELINING", CLIENT_PIPELINING },
	{ "SIZE", CLIENT_SIZE },
	{ "8BITMIME", CLIENT_8BITMIME },
	{ "DSN", CLIENT_DSN },
	{ "ENHANCEDSTATUSCODES", CLIENT_STATUSCODES },
	{ "SMTPUTF8", CLIENT_SMTPUTF8 },
};

static void
extension_take(struct client *client, struct slice line)
{
	struct slice keyword, value;
	uint64_t size;

	if (!slice_word(&line, &keyword))
		return;
	for (size_t i = 0; i < sizeof(extension_rows) /
	    sizeof(extension_rows[0]); i++)
		if (slice_is_nocase(keyword, extension_rows[i].keyword))
			client->extensions |= extension_rows[i].extension;
	if (slice_is_nocase(keyword, "SIZE") && slice_word(&line, &value) &&
	    slice_number(value, 1, UINT64_MAX / 2, &size))
		client->size_limit_bytes = size;
}

/* The first line names the peer, the others its extensions. */
static void
extensions_take(struct client *client, const struct reply *reply)
{
	struct slice line;
	size_t cursor = 0;

	client->extensions = 0;
	client->size_limit_bytes = 0;
	if (!reply_line(reply, &cursor, &line))
		return;
	while (reply_line(reply, &cursor, &line))
		extension_take(client, line);
}

/* A host that refuses us as a whole: deferred, whatever it says, because
 * another one, or the same one later, may be of another mind. */
static void
refused(struct client *client, const struct reply *reply,
    struct verdict *out_trouble)
{
	client_verdict(client, reply, VERDICT_DEFERRED, out_trouble);
	out_trouble->kind = VERDICT_DEFERRED;
	out_trouble->status[0] = '4';
	out_trouble->host_trouble = true;
	client_quit(client);
}

static bool
command(struct client *client, const char *verb, struct reply *out,
    struct verdict *out_trouble)
{
	int64_t timeout_ms = client->conf->timeouts.helo_ms;
	enum peer_result result;
	struct err err;
	char step[64] = "waiting for the reply to ";

	str_addf(&client->peer.out, "%s %s\r\n", verb, client->conf->host);
	result = client_flush(client, timeout_ms, &err);
	if (result == PEER_OK)
		result = client_reply(client, timeout_ms, out, &err);
	if (result == PEER_OK)
		return true;
	strlcat(step, verb, sizeof(step));
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
	if (reply.code / 100 != 2) {
		refused(client, &reply, out_trouble);
		return false;
	}
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

bool
client_hello(struct client *client, bool is_by_mx,
    struct verdict *out_trouble)
{
	struct reply reply;

	client->extensions = 0;
	client->size_limit_bytes = 0;
	if (!greeting(client, is_by_mx, out_trouble) ||
	    !command(client, client->is_lmtp ? "LHLO" : "EHLO", &reply,
	    out_trouble))
		return false;
	if (reply.code / 100 == 2) {
		extensions_take(client, &reply);
		return true;
	}
	if (reply.code / 100 == 5 && !client->is_lmtp) {
		if (!command(client, "HELO", &reply, out_trouble))
			return false;
		if (reply.code / 100 == 2)
			return true;
	}
	refused(client, &reply, out_trouble);
	return false;
}

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

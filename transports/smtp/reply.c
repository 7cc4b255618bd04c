/* reply.c - what the peer says, and what that means for mail
 *
 * In     bytes of the connection
 * Out    whole replies; verdicts in the peer's own words
 * Holds  the bytes of the last reply, until the next is asked for
 * Trusts no length, no code, no order
 * Spec   RFC 5321 section 4.2 and 4.5.3.2; RFC 3463
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

int64_t
client_wait_ms(const struct smtp_client *client, int64_t timeout_ms)
{
	int64_t left_ms = client->until_ms - clock_steady_ms();

	if (client->until_ms == 0 || left_ms >= timeout_ms)
		return timeout_ms;
	return left_ms > 0 ? left_ms : 0;
}

enum peer_result
client_flush(struct smtp_client *client, int64_t timeout_ms, struct err *err)
{
	if (client->said_left > 0)
		client_said_sent(client);
	return peer_flush(&client->peer, clock_steady_ms() +
	    client_wait_ms(client, timeout_ms), err);
}

enum peer_result
client_reply(struct smtp_client *client, int64_t timeout_ms, struct reply *out,
    struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + client_wait_ms(client,
	    timeout_ms);

	peer_consume(&client->peer, client->reply_bytes);
	client->reply_bytes = 0;
	for (;;) {
		struct slice unread = peer_unread(&client->peer);
		enum peer_result result;
		int got = unread.n > 0 ? reply_parse(unread, out, err) : 0;

		if (got > 0) {
			client->reply_bytes = out->bytes;
			if (client->said_left > 0)
				client_said_heard(client, out);
			return PEER_OK;
		}
		if (got < 0)
			return PEER_ERROR;
		result = peer_fill(&client->peer, deadline_ms, err);
		if (result != PEER_OK)
			return result;
	}
}

/* The peer's status if it fits the code's class, else one by the code. */
static void
client_reply_status(const struct reply *reply, char class, char out[12])
{
	reply_status(reply->code, slice_of(reply->status), out);
	out[0] = class;
}

void
client_verdict(const struct smtp_client *client, const struct reply *reply,
    enum verdict_kind good, struct verdict *out)
{
	enum verdict_kind kind = VERDICT_DEFERRED;
	struct str text = STR_INIT;
	char status[12] = "4.5.0";

	reply_add_text(&text, reply);
	switch (reply->code / 100) {
	case 2:
		kind = good;
		client_reply_status(reply, '2', status);
		break;
	case 4:
		client_reply_status(reply, '4', status);
		break;
	case 5:
		kind = VERDICT_FAILED;
		client_reply_status(reply, '5', status);
		break;
	}
	verdict_set(out, kind, status, client->who, "%s", text.buf);
	out->host_trouble = reply->code == 421;
	str_release(&text);
}

bool
client_refused(struct smtp_client *client, const struct reply *reply,
    struct verdict *out_trouble)
{
	client_verdict(client, reply, VERDICT_DEFERRED, out_trouble);
	out_trouble->kind = VERDICT_DEFERRED;
	out_trouble->status[0] = '4';
	out_trouble->host_trouble = true;
	client_quit(client);
	return false;
}

bool
client_unfit(struct smtp_client *client, const char *status, const char *words,
    struct verdict *out_trouble)
{
	verdict_set(out_trouble, VERDICT_DEFERRED, status, client->who, "%s",
	    words);
	out_trouble->host_trouble = true;
	client_quit(client);
	return false;
}

void
client_broken(struct smtp_client *client, enum peer_result result,
    const struct err *err, const char *step, struct verdict *out)
{
	if (result == PEER_TIMEOUT)
		verdict_set(out, VERDICT_DEFERRED, "4.4.2", client->who,
		    "timed out while %s", step);
	else if (result == PEER_EOF)
		verdict_set(out, VERDICT_DEFERRED, "4.4.2", client->who,
		    "connection lost while %s", step);
	else
		verdict_set(out, VERDICT_DEFERRED, "4.4.2", client->who,
		    "connection broken while %s: %s", step, err->text);
	client_drop(client);
}

void
client_drop(struct smtp_client *client)
{
	peer_close(&client->peer);
	client->reply_bytes = 0;
}

bool
client_is_level(const struct smtp_client *client)
{
	return peer_unread(&client->peer).n == client->reply_bytes;
}

bool
client_ask(struct smtp_client *client, const char *step, struct reply *out,
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

/* ---- goodbye ----------------------------------------------------------- */

void
client_quit_for(struct smtp_client *client, int64_t timeout_ms)
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
client_quit(struct smtp_client *client)
{
	client_quit_for(client, 0);
}

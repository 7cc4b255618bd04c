/* client.c - the life of a client: begun once, used for many messages
 *
 * In     a configuration
 * Out    a client that is ready to deliver
 * Holds  a connection, the secrets and the TLS contexts
 * Spec   zmailer-smtp(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/smtp/client.h"

#include <string.h>

#include "base/clock.h"

#include "base/banned.h"

enum { OUT_KEPT_BYTES = 4096 };

void
client_init(struct smtp_client *client, const struct conf *conf, bool is_lmtp)
{
	memset(client, 0, sizeof(*client));
	client->conf = conf;
	client->is_lmtp = is_lmtp;
	client->port = is_lmtp ? 24 : conf->mx_port;
	peer_init(&client->peer);
	str_init(&client->xclient);
	str_init(&client->piece);
}

size_t
client_piece(struct smtp_client *client, uint64_t message_bytes,
    char **out_piece)
{
	size_t bytes = CLIENT_PIECE_BYTES;

	if (message_bytes < CLIENT_PIECE_BYTES_MIN)
		bytes = CLIENT_PIECE_BYTES_MIN;
	else if (message_bytes < CLIENT_PIECE_BYTES)
		bytes = (size_t)message_bytes + 1;
	*out_piece = str_room(&client->piece, bytes);
	return bytes;
}

void
client_shrink(struct smtp_client *client)
{
	str_release(&client->piece);
	if (client->peer.out.len == 0 && client->peer.out.cap > OUT_KEPT_BYTES)
		str_release(&client->peer.out);
}

void
client_join(struct smtp_client *client, const struct smtp_client *first)
{
	client->tls_clients = first->tls_clients;
	client->secrets = first->secrets;
	client->is_joined = true;
}

int
client_start(struct smtp_client *client, struct err *err)
{
	if (client_policy_start(client, err) < 0)
		return -1;
	return client_auth_start(client, err);
}

void
client_release(struct smtp_client *client)
{
	client_quit(client);
	peer_release(&client->peer);
	str_release(&client->xclient);
	str_release(&client->piece);
	mem_free(&client->memory);
	if (client->is_joined)
		return;
	client_auth_release(client);
	client_policy_release(client);
}

void
client_idle(struct smtp_client *client, int64_t idle_ms)
{
	if (peer_is_open(&client->peer) &&
	    clock_steady_ms() - client->used_at_ms >= idle_ms)
		client_quit_for(client, client->conf->timeouts.quit_ms);
}

/* clients.c - how many sessions each client has (`sessions-per-client`)
 *
 * In     addresses
 * Out    counts
 * Holds  a node for each client that is here: at most as many as sessions
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "smtpserver/listener/clients.h"

#include "base/banned.h"

enum { IPV6_PREFIX_BYTES = 8, BUCKETS = 4096 };

struct client_count {
	unsigned char		 bytes[16];
	unsigned		 sessions;
	struct client_count	*next, **at;
};

struct clients {
	uint32_t		 seed;	/* chains cannot be aimed at */
	struct client_count	*buckets[BUCKETS];
};

struct clients *
clients_new(void)
{
	struct clients *clients = mem_alloc(1, sizeof(*clients));

	clients->seed = arc4random();
	return clients;
}

/* FNV-1a over the seed and the address. */
static struct client_count **
clients_bucket(struct clients *clients, const unsigned char bytes[16])
{
	uint32_t hash = clients->seed ^ 2166136261u;

	for (int i = 0; i < 16; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return &clients->buckets[(hash ^ hash >> 16) % BUCKETS];
}

static void
client_remove(struct client_count *client)
{
	*client->at = client->next;
	if (client->next != NULL)
		client->next->at = client->at;
	mem_free(&client);
}

void
clients_free(struct clients **clients)
{
	if (*clients == NULL)
		return;
	for (int i = 0; i < BUCKETS; i++)
		while ((*clients)->buckets[i] != NULL)
			client_remove((*clients)->buckets[i]);
	mem_free(clients);
}

static bool
is_ipv4(const struct net *address)
{
	static const unsigned char prefix[12] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff
	};

	return memcmp(address->bytes, prefix, sizeof(prefix)) == 0;
}

struct client_count *
clients_enter(struct clients *clients, const struct net *address,
    unsigned *out_sessions)
{
	unsigned char key[16] = { 0 };
	struct client_count *client, **bucket;

	memcpy(key, address->bytes,
	    is_ipv4(address) ? sizeof(key) : IPV6_PREFIX_BYTES);
	bucket = clients_bucket(clients, key);
	for (client = *bucket; client != NULL; client = client->next)
		if (memcmp(client->bytes, key, sizeof(key)) == 0)
			break;
	if (client == NULL) {
		client = mem_alloc(1, sizeof(*client));
		memcpy(client->bytes, key, sizeof(key));
		client->next = *bucket;
		client->at = bucket;
		if (client->next != NULL)
			client->next->at = &client->next;
		*bucket = client;
	}
	*out_sessions = ++client->sessions;
	return client;
}

unsigned
clients_sessions(const struct client_count *client)
{
	return client->sessions;
}

void
clients_leave(struct clients *clients, struct client_count **client)
{
	struct client_count *leaving = *client;

	*client = NULL;
	if (leaving != NULL && --leaving->sessions == 0)
		client_remove(leaving);
}

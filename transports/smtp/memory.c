/* memory.c - what was wrong with an address lately
 *
 * In     troubles as they are met
 * Out    whether an address has one
 * Holds  CLIENT_MEMORY_MAX of them, the oldest forgotten first
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

static const int64_t keep_ms[] = {
	[TROUBLE_DOWN] = CLIENT_DOWN_FOR_MS,
	[TROUBLE_TLS] = CLIENT_TLS_FOR_MS,
	[TROUBLE_PIPELINING] = CLIENT_PIPES_FOR_MS,
};

static struct client_memory *
memory_find(struct smtp_client *client, const struct sockaddr_storage *address,
    enum client_trouble trouble)
{
	for (size_t i = 0; client->memory != NULL && i < CLIENT_MEMORY_MAX;
	    i++)
		if (client->memory[i].trouble == trouble &&
		    memcmp(&client->memory[i].address, address,
		    sizeof(*address)) == 0)
			return &client->memory[i];
	return NULL;
}

void
client_note(struct smtp_client *client, const struct sockaddr_storage *address,
    enum client_trouble trouble)
{
	struct client_memory *memory = memory_find(client, address, trouble);

	if (client->memory == NULL)
		client->memory = mem_alloc(CLIENT_MEMORY_MAX,
		    sizeof(*client->memory));
	if (memory == NULL)
		memory = &client->memory[client->memory_next++ %
		    CLIENT_MEMORY_MAX];
	memory->trouble = trouble;
	memory->address = *address;
	memory->until_ms = clock_steady_ms() + keep_ms[trouble];
}

bool
client_has(struct smtp_client *client, const struct sockaddr_storage *address,
    enum client_trouble trouble)
{
	struct client_memory *memory = memory_find(client, address, trouble);

	if (memory == NULL)
		return false;
	if (clock_steady_ms() < memory->until_ms)
		return true;
	memory->trouble = 0;
	return false;
}

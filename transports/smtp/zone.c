/* zone.c - the address that mail is sent from, and its name
 *
 * In     the zone of the jobs, an address family, a connection
 * Out    a source address; a name for EHLO
 * Holds  nothing
 * Spec   zmailer.conf(5), zone; RFC 5321 section 4.1.4
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "transports/smtp/client.h"

#include "base/banned.h"

bool
client_source(const struct smtp_client *client, sa_family_t family,
    const struct sockaddr_storage **out)
{
	const struct conf_zone *zone = client->zone;
	unsigned sum = 0, pick;

	*out = NULL;
	if (zone == NULL || zone->source_count == 0)
		return true;
	for (size_t i = 0; i < zone->source_count; i++)
		if (zone->sources[i].address.ss_family == family)
			sum += zone->sources[i].weight;
	if (sum == 0)
		return false;
	pick = arc4random_uniform(sum);
	for (size_t i = 0; *out == NULL && i < zone->source_count; i++) {
		const struct conf_outlet *source = &zone->sources[i];

		if (source->address.ss_family != family)
			continue;
		if (pick < source->weight)
			*out = &source->address;
		pick -= source->weight;
	}
	return true;
}

static bool
zone_is_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		    ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
	    &((const struct sockaddr_in6 *)b)->sin6_addr,
	    sizeof(struct in6_addr)) == 0;
}

const char *
client_helo(const struct smtp_client *client)
{
	const struct conf_zone *zone = client->zone;
	struct sockaddr_storage own = { .ss_family = AF_UNSPEC };
	socklen_t length = sizeof(own);

	if (zone == NULL)
		return client->conf->host;
	if (getsockname(client->peer.fd, (struct sockaddr *)&own, &length) ==
	    0)
		for (size_t i = 0; i < zone->source_count; i++)
			if (zone->sources[i].helo != NULL &&
			    zone_is_same(&zone->sources[i].address, &own))
				return zone->sources[i].helo;
	return zone->helo ? zone->helo : client->conf->host;
}

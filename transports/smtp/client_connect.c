/* client_connect.c - from a host field to a connection that said hello
 *
 * In     a host field
 * Out    a connection; or one verdict for all recipients
 * Holds  which addresses did not answer lately
 * Trusts the DNS as far as its counts are bounded; an MX that is ourselves
 *        and all behind it are not tried
 * Spec   RFC 5321 section 5.1; RFC 7505 (null MX)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "base/clock.h"
#include "grammar/net.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

struct search {			/* one hunt for a host that serves us */
	struct client		*client;
	struct client_target	 target;
	struct dns_mx		 hosts[DNS_MX_MAX];
	size_t			 host_count;
	unsigned		 tried;		/* addresses */
	unsigned		 skipped;	/* lately found down */
	bool			 is_last_resort;	/* try those, too */
	struct verdict		*trouble;	/* the last one */
};

/* ---- addresses that did not answer ------------------------------------- */

static struct client_down *
down_find(struct client *client, const struct sockaddr_storage *address)
{
	for (size_t i = 0; i < CLIENT_DOWN_MAX; i++)
		if (client->down[i].until_ms != 0 &&
		    memcmp(&client->down[i].address, address,
		    sizeof(*address)) == 0)
			return &client->down[i];
	return NULL;
}

static bool
is_down(struct client *client, const struct sockaddr_storage *address)
{
	struct client_down *down = down_find(client, address);

	if (down == NULL)
		return false;
	if (clock_steady_ms() < down->until_ms)
		return true;
	down->until_ms = 0;
	return false;
}

static void
down_note(struct client *client, const struct sockaddr_storage *address)
{
	struct client_down *down =
	    &client->down[client->down_next++ % CLIENT_DOWN_MAX];

	down->address = *address;
	down->until_ms = clock_steady_ms() + CLIENT_DOWN_FOR_MS;
}

/* ---- one address ------------------------------------------------------- */

static bool
try_socket(struct search *search, const struct sockaddr_storage *address,
    socklen_t length)
{
	struct client *client = search->client;
	enum peer_result result;
	struct err err;

	search->tried++;
	result = peer_connect(&client->peer, (const struct sockaddr *)address,
	    length, clock_steady_ms() + client->conf->timeouts.connect_ms,
	    &err);
	client->reply_bytes = 0;
	if (result != PEER_OK) {
		down_note(client, address);
		verdict_set(search->trouble, VERDICT_DEFERRED, "4.4.1",
		    client->who, "%s", err.text);
		search->trouble->host_trouble = true;
		return false;
	}
	client->messages = 0;
	client->needs_reset = false;
	return client_hello(client, search->target.kind == TARGET_MX,
	    search->trouble);
}

static void
port_set(struct sockaddr_storage *address, unsigned port)
{
	if (address->ss_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port =
		    htons((uint16_t)port);
	else
		((struct sockaddr_in6 *)address)->sin6_port =
		    htons((uint16_t)port);
}

static bool
try_address(struct search *search, const char *name,
    struct dns_address *address)
{
	struct client *client = search->client;
	char text[80];

	dns_address_text((struct sockaddr *)&address->address, text,
	    sizeof(text));
	snprintf(client->who, sizeof(client->who), "%s[%s]:%u", name, text,
	    search->target.port);
	port_set(&address->address, search->target.port);
	if (search->is_last_resort || !is_down(client, &address->address))
		return try_socket(search, &address->address, address->length);
	search->skipped++;
	return false;
}

/* ---- one host ---------------------------------------------------------- */

/* A name that is not there is final when it came from an address; when it
 * came from the configuration a person will mend it. */
static void
dns_trouble(struct search *search, const char *name, enum dns_result result,
    const struct err *err)
{
	bool is_gone = (result == DNS_NO_NAME || result == DNS_NONE) &&
	    search->target.kind == TARGET_MX;
	const char *status = "4.4.3";

	if (is_gone)
		status = result == DNS_NO_NAME &&
		    strcmp(name, search->target.name) == 0 ? "5.1.2" : "5.4.4";
	verdict_set(search->trouble,
	    is_gone ? VERDICT_FAILED : VERDICT_DEFERRED, status, "dns", "%s",
	    err->text);
	search->trouble->host_trouble = !is_gone;
}

/* A loop is final: no other host of the list would be any better. */
static bool
is_final(const struct search *search)
{
	return search->tried >= CLIENT_ADDRESSES_MAX ||
	    strcmp(search->trouble->status, "5.4.6") == 0;
}

static bool
try_host(struct search *search, const char *name)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct verdict before = *search->trouble;
	enum dns_result result;
	struct err err;
	size_t count;

	result = dns_addresses(name, addresses, &count, &err);
	if (result != DNS_OK) {
		dns_trouble(search, name, result, &err);
		/* a host that may come back outweighs one that is not there */
		if (before.kind == VERDICT_DEFERRED &&
		    search->trouble->kind == VERDICT_FAILED &&
		    before.who[0] != '\0')
			*search->trouble = before;
		return false;
	}
	for (size_t i = 0; i < count && !is_final(search); i++)
		if (try_address(search, name, &addresses[i]))
			return true;
	return false;
}

static bool
try_unix(struct search *search)
{
	struct sockaddr_storage address;
	struct sockaddr_un *un = (struct sockaddr_un *)&address;
	struct client *client = search->client;

	memset(&address, 0, sizeof(address));
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, search->target.name,
	    strlen(search->target.name) + 1);
	snprintf(client->who, sizeof(client->who), "%s", search->target.name);
	return try_socket(search, &address, sizeof(*un));
}

/* ---- all hosts of a domain --------------------------------------------- */

/* Leave out ourselves and every host that is not better than we are.
 * returns false when nobody is left: we are the best, the mail loops. */
static bool
hosts_before_us(struct search *search)
{
	const char *own = search->client->conf->host;
	size_t kept = 0;
	unsigned ours = UINT32_MAX;

	for (size_t i = 0; i < search->host_count; i++)
		if (strcasecmp(search->hosts[i].host, own) == 0 &&
		    search->hosts[i].preference < ours)
			ours = search->hosts[i].preference;
	if (ours == UINT32_MAX)
		return true;
	for (size_t i = 0; i < search->host_count; i++)
		if (search->hosts[i].preference < ours)
			search->hosts[kept++] = search->hosts[i];
	search->host_count = kept;
	if (kept > 0)
		return true;
	verdict_set(search->trouble, VERDICT_FAILED, "5.4.6", "dns",
	    "the MX of %s is this host, which does not deliver its mail",
	    search->target.name);
	return false;
}

/* The hosts of search->target.name in the order to be tried; a domain
 * without MX is its own (RFC 5321 section 5.1). */
static bool
hosts_find(struct search *search)
{
	enum dns_result result;
	struct err err;

	result = dns_mx(search->target.name, search->hosts,
	    &search->host_count, &err);
	if (result == DNS_NONE) {
		snprintf(search->hosts[0].host, sizeof(search->hosts[0].host),
		    "%s", search->target.name);
		search->host_count = 1;
		return true;
	}
	if (result != DNS_OK) {
		dns_trouble(search, search->target.name, result, &err);
		return false;
	}
	if (search->host_count == 1 && search->hosts[0].host[0] == '\0') {
		verdict_set(search->trouble, VERDICT_FAILED, "5.1.10", "dns",
		    "%s takes no mail (null MX)", search->target.name);
		return false;
	}
	return hosts_before_us(search);
}

static bool
search_run(struct search *search)
{
	if (search->target.kind == TARGET_UNIX)
		return try_unix(search);
	if (search->target.kind == TARGET_HOST)
		return try_host(search, search->target.name);
	if (!hosts_find(search))
		return false;
	for (size_t i = 0; i < search->host_count && !is_final(search); i++)
		if (search->hosts[i].host[0] != '\0' &&
		    try_host(search, search->hosts[i].host))
			return true;
	return false;
}

/* ---- the connection for a job ------------------------------------------ */

static bool
kept_is_good(struct client *client, const char *host)
{
	if (!peer_is_open(&client->peer) || !client_is_level(client) ||
	    strcmp(client->host, host) != 0)
		return false;
	if (clock_steady_ms() - client->used_at_ms < CLIENT_FRESH_MS)
		return true;
	peer_consume(&client->peer, client->reply_bytes);
	client->reply_bytes = 0;
	return peer_is_quiet(&client->peer);
}

bool
client_open(struct client *client, const char *host,
    struct verdict *out_trouble)
{
	struct search search = { .client = client, .trouble = out_trouble };
	struct err err;

	if (kept_is_good(client, host))
		return true;
	client_quit(client);
	verdict_set(out_trouble, VERDICT_DEFERRED, "4.4.4", "",
	    "no host of %s could be tried", host);
	out_trouble->host_trouble = true;
	if (client_target_parse(slice_of(host), client->port, &search.target,
	    &err) < 0) {
		verdict_set(out_trouble, VERDICT_FAILED, "5.1.2",
		    client->is_lmtp ? "lmtp" : "smtp", "%s", err.text);
		return false;
	}
	/* What was down lately is left for the end, not left out: that it is
	 * time for another try is the scheduler's to say. */
	if (!search_run(&search)) {
		if (search.tried > 0 || search.skipped == 0)
			return false;
		search.is_last_resort = true;
		if (!search_run(&search))
			return false;
	}
	strlcpy(client->host, host, sizeof(client->host));
	return true;
}

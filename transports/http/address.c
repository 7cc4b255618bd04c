/* address.c - from a URL to a connection that may carry mail
 *
 * In     a URL, the policies of tls-to
 * Out    a connection, with TLS where the URL says https; or why not
 * Holds  one connection, kept for the next POST to the same place
 * Trusts no name that only the DNS said: an https URL's certificate must
 *        have the name that stands in it, unless a tls-to says otherwise
 * Spec   RFC 9110 section 4.3.4; RFC 8305; zmailer-http(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "io/race.h"
#include "transports/http/http.h"

#include "base/banned.h"

struct search {
	struct http		*http;
	const struct http_url	*url;
	struct client_target	 target;
	struct client_policy	 policy;
	struct client_hosts	 hosts;
	struct race_entry	 entries[RACE_MAX];
	size_t			 count;
	struct verdict		*trouble;
};

void
http_close(struct http *http)
{
	client_drop(&http->client);
	http->key[0] = '\0';
	http->posts = 0;
}

/* ---- how it must be protected ------------------------------------------ */

static bool
address_refuse(struct search *search, enum verdict_kind kind,
    const char *status,
    const char *words)
{
	verdict_set(search->trouble, kind, status, "http", "%s", words);
	search->trouble->host_trouble = kind == VERDICT_DEFERRED;
	return false;
}

static bool
address_policy(struct search *search, bool needs_tls)
{
	struct client_policy *policy = &search->policy;

	client_policy(&search->http->client, &search->target, WISH_NONE,
	    policy);
	/* nobody publishes TLSA records for this */
	if (search->url->is_tls && (needs_tls || policy->asks_tlsa ||
	    strcmp(policy->source, "default") == 0))
		policy->level = TLS_LEVEL_VERIFY;
	if (search->url->is_tls)
		return true;
	if (needs_tls)		/* RFC 8689 section 4.2.1 */
		return address_refuse(search, VERDICT_FAILED, "5.7.30",
		    "the sender "
		    "requires TLS (REQUIRETLS), and the URL is not of https");
	if (policy->level >= TLS_LEVEL_ENCRYPT)
		return address_refuse(search, VERDICT_DEFERRED, "4.7.4",
		    "tls-to asks "
		    "for TLS, and the URL is not of https");
	return true;
}

static bool
address_secret(struct search *search)
{
	struct http *http = search->http;

	http->secret = client_auth_find(&http->client, &search->target);
	if (http->secret == NULL || search->url->is_tls ||
	    http->client.conf->auth_to.is_plain_ok)
		return true;
	return address_refuse(search, VERDICT_DEFERRED, "4.7.11",
	    "auth-to has a "
	    "password for this host, which is sent under TLS only");
}

static bool
address_prepare(struct search *search, bool needs_tls)
{
	const struct http_url *url = search->url;
	struct client_target *target = &search->target;

	memset(target, 0, sizeof(*target));
	target->kind = TARGET_HOST;
	target->is_implicit = url->is_tls;
	target->port = url->port;
	snprintf(target->name, sizeof(target->name), "%s", url->host);
	return address_policy(search, needs_tls) && address_secret(search);
}

/* ---- connecting -------------------------------------------------------- */

static void
address_fill_entries(struct search *search)
{
	const struct client_hosts *hosts = &search->hosts;
	const struct sockaddr_storage *source;

	for (size_t i = 0; i < hosts->address_count &&
	    search->count < CLIENT_ADDRESSES_MAX; i++) {
		const struct dns_address *one = &hosts->addresses[i];

		if (client_source(&search->http->client,
		    one->address.ss_family, &source))
			search->entries[search->count++] = (struct race_entry){
				.address = one->address,
				.length = one->length,
				.source = source
			};
	}
}

static void
address_set_who(struct search *search, const struct race_entry *entry)
{
	struct smtp_client *client = &search->http->client;
	char text[80];

	dns_address_text((const struct sockaddr *)&entry->address, text,
	    sizeof(text));
	snprintf(client->who, sizeof(client->who), "%.200s[%.60s]:%u",
	    search->url->host, text, search->url->port);
}

static void
address_lost(struct search *search, struct race_entry *entry)
{
	struct err err;

	address_set_who(search, entry);
	errno = entry->trouble;
	if (entry->trouble == ETIMEDOUT)
		err_set(&err, "connect: timed out");
	else
		err_sys(&err, "connect");
	entry->trouble = 0;
	verdict_set(search->trouble, VERDICT_DEFERRED, "4.4.1",
	    search->http->client.who, "%s", err.text);
	search->trouble->host_trouble = true;
}

static bool
address_handshake(struct search *search)
{
	struct smtp_client *client = &search->http->client;
	const struct client_policy *policy = &search->policy;
	char key[TLS_KEY_BYTES];
	struct tls_goal goal = {
		.key = key, .sni = search->url->host, .names = policy->names,
		.name_count = policy->name_count,
		.is_strict = policy->level == TLS_LEVEL_VERIFY,
	};
	struct err err;

	snprintf(key, sizeof(key), "http %.200s %.300s", client->who,
	    policy->key);
	if (peer_start_tls(&client->peer, policy->tls, &goal,
	    clock_steady_ms() + client->conf->timeouts.helo_ms, &client->tls,
	    &err) == PEER_OK)
		return true;
	verdict_set(search->trouble, VERDICT_DEFERRED, "4.7.5", client->who,
	    "TLS handshake: %s", err.text);
	search->trouble->host_trouble = true;
	client_drop(client);
	return false;
}

/* One of the addresses that answer, until there is none left. */
static bool
address_connect(struct search *search)
{
	struct smtp_client *client = &search->http->client;

	for (size_t turn = 0; turn < search->count; turn++) {
		int winner = race_run(&client->peer, search->entries,
		    search->count, client->conf->timeouts.connect_ms);

		for (size_t i = 0; i < search->count; i++)
			if (search->entries[i].state == RACE_LOST &&
			    search->entries[i].trouble != 0)
				address_lost(search, &search->entries[i]);
		if (winner < 0)
			return false;
		address_set_who(search, &search->entries[winner]);
		memset(&client->tls, 0, sizeof(client->tls));
		if (!search->url->is_tls || address_handshake(search))
			return true;
		search->entries[winner].state = RACE_LOST;
		search->entries[winner].trouble = 0;
	}
	return false;
}

/* ---- the connection for a POST ----------------------------------------- */

static bool
address_is_kept(const struct http *http, const char *key)
{
	struct smtp_client *client =
	    (struct smtp_client *)(uintptr_t)&http->client;

	if (strcmp(http->key, key) != 0 || (client->messages_max > 0 &&
	    http->posts >= client->messages_max))
		return false;
	return peer_is_open(&client->peer) &&
	    peer_unread(&client->peer).n == 0 && peer_is_quiet(&client->peer);
}

static bool
address_find(struct search *search)
{
	struct http *http = search->http;

	if (!client_hosts_find(&http->client, &search->target, &search->hosts,
	    search->trouble) || !client_hosts_ask(&search->hosts, 0,
	    search->trouble))
		return false;
	address_fill_entries(search);
	return search->count > 0 || address_refuse(search, VERDICT_DEFERRED,
	    "4.4.4", "no address of the host can be reached from this zone");
}

bool
http_open(struct http *http, const struct http_url *url, bool needs_tls,
    struct verdict *out_trouble)
{
	struct search search = { .http = http, .url = url,
	    .trouble = out_trouble };
	char key[sizeof(http->key)];
	bool is_found;

	if (!address_prepare(&search, needs_tls))
		return false;
	snprintf(key, sizeof(key), "%d %s %u %s", search.policy.level,
	    url->host, url->port, search.policy.key);
	if (address_is_kept(http, key))
		return true;
	http_close(http);
	is_found = address_find(&search);
	client_hosts_release(&search.hosts);
	if (!is_found)
		return false;
	if (!address_connect(&search))
		return false;
	snprintf(http->key, sizeof(http->key), "%s", key);
	return true;
}

/* connect.c - from a host field to a connection that said hello
 *
 * In     a host field
 * Out    a connection; or one verdict for all recipients
 * Holds  nothing beside the client
 * Trusts nothing: addresses and time are bounded
 * Spec   RFC 5321 section 5.1; RFC 8305
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/clock.h"
#include "journal/event.h"
#include "io/race.h"
#include "transports/smtp/security/dane.h"
#include "transports/smtp/security/sts.h"

#include "base/banned.h"

struct search {			/* one hunt for a host that serves us */
	struct smtp_client		*client;
	struct client_target	 target;
	struct client_policy	 policy;	/* of the target */
	struct client_policy	 host_policy;	/* of the host in hand */
	struct dns_records	 tlsa;		/* of it */
	struct client_sts	 sts;		/* of the target */
	const struct client_secret *secret;
	struct client_hosts	 hosts;
	struct race_entry	 entries[RACE_MAX];
	size_t			 entry_count;
	unsigned		 tried;		/* addresses */
	unsigned		 skipped;	/* lately found down */
	bool			 is_last_resort;	/* try those, too */
	struct verdict		*trouble;	/* the last one */
};

/* ---- one connection ---------------------------------------------------- */

static void
search_set_who(struct search *search, const char *name,
    const struct race_entry *entry)
{
	struct smtp_client *client = search->client;
	char text[80];

	if (entry->address.ss_family == AF_UNIX) {
		snprintf(client->who, sizeof(client->who), "%s", name);
		return;
	}
	dns_address_text((const struct sockaddr *)&entry->address, text,
	    sizeof(text));
	snprintf(client->who, sizeof(client->who), "%s[%s]:%u", name, text,
	    search->target.port);
}

static void
search_lost(struct search *search, const char *name,
    const struct race_entry *entry)
{
	struct smtp_client *client = search->client;
	struct err err;

	client_note(client, &entry->address, TROUBLE_DOWN);
	search_set_who(search, name, entry);
	errno = entry->trouble;
	if (entry->trouble == ETIMEDOUT)
		err_set(&err, "connect: timed out");
	else
		err_sys(&err, "connect");
	verdict_set(search->trouble, VERDICT_DEFERRED, "4.4.1", client->who,
	    "%s", err.text);
	search->trouble->host_trouble = true;
}

static bool
search_hello(struct search *search, const char *name,
    const struct race_entry *entry, bool *out_tls_broken)
{
	struct smtp_client *client = search->client;
	struct client_hello how = {
		.policy = &search->host_policy, .name = name,
		.is_by_mx = search->target.kind == TARGET_MX,
		.secret = search->secret,
	};
	bool is_good;

	client->reply_bytes = 0;
	client->messages = 0;
	client->is_used = client->needs_reset = false;
	str_reset(&client->xclient);
	client->address = entry->address;
	client->no_pipelining = client_has(client, &entry->address,
	    TROUBLE_PIPELINING);
	search_set_who(search, name, entry);
	is_good = client_hello(client, &how, search->trouble);
	client_tell_session(client, search->target.name, &how);
	*out_tls_broken = how.is_tls_broken;
	return is_good;
}

/* The host's TLS is broken and may is all that was asked: once more, in the
 * clear, and so for a while. */
static bool
search_again_in_the_clear(struct search *search, const char *name,
    struct race_entry *entry)
{
	struct smtp_client *client = search->client;
	bool is_broken;

	client_note(client, &entry->address, TROUBLE_TLS);
	event(EV_TLS_BROKEN, NULL, "host", slice_of(client->who), "reason",
	    slice_of(search->trouble->text), NULL);
	entry->state = RACE_NEW;
	if (race_run(&client->peer, entry, 1,
	    client_wait_ms(client, client->conf->timeouts.connect_ms)) != 0) {
		search_lost(search, name, entry);
		return false;
	}
	return search_hello(search, name, entry, &is_broken);
}

static bool
search_won(struct search *search, const char *name, struct race_entry *entry)
{
	bool is_broken;

	search->tried++;
	if (search_hello(search, name, entry, &is_broken) ||
	    (is_broken && search_again_in_the_clear(search, name, entry)))
		return true;
	entry->state = RACE_LOST;
	entry->trouble = 0;
	return false;
}

/* ---- the addresses of one host ----------------------------------------- */

/* IPv6 was begun and did not answer before IPv4 did: a while of IPv4 first. */
static void
search_judge_families(struct search *search, size_t winner)
{
	if (search->entries[winner].address.ss_family != AF_INET)
		return;
	for (size_t i = 0; i < search->entry_count; i++)
		if (search->entries[i].address.ss_family == AF_INET6 &&
		    search->entries[i].begun_ms != 0)
			search->client->six_until_ms = clock_steady_ms() +
			    CLIENT_SIX_FOR_MS;
}

static void
search_count_losers(struct search *search, const char *name)
{
	for (size_t i = 0; i < search->entry_count; i++) {
		struct race_entry *entry = &search->entries[i];

		if (entry->state != RACE_LOST || entry->trouble == 0)
			continue;
		search->tried++;
		search_lost(search, name, entry);
		entry->trouble = 0;
	}
}

/* A loop is final: no other host of the list would be any better; nor when
 * the job's time is over. */
static bool
search_is_final(const struct search *search)
{
	return search->tried >= CLIENT_ADDRESSES_MAX ||
	    client_wait_ms(search->client, 1) == 0 ||
	    strcmp(search->trouble->status, "5.4.6") == 0;
}

static bool
search_has_new(const struct search *search)
{
	for (size_t i = 0; i < search->entry_count; i++)
		if (search->entries[i].state == RACE_NEW)
			return true;
	return false;
}

static bool
search_try_entries(struct search *search, const char *name)
{
	struct smtp_client *client = search->client;

	while (search_has_new(search) && !search_is_final(search)) {
		int winner = race_run(&client->peer, search->entries,
		    search->entry_count, client_wait_ms(client,
		    client->conf->timeouts.connect_ms));

		search_count_losers(search, name);
		if (winner < 0)
			return false;
		search_judge_families(search, (size_t)winner);
		if (search_won(search, name, &search->entries[winner]))
			return true;
	}
	return false;
}

static void
search_add_entry(struct search *search, const struct dns_address *address)
{
	struct race_entry *entry = &search->entries[search->entry_count];
	const struct sockaddr_storage *source;

	if (!search->is_last_resort && client_has(search->client,
	    &address->address, TROUBLE_DOWN)) {
		search->skipped++;
		return;
	}
	if (search->entry_count + search->tried >= CLIENT_ADDRESSES_MAX ||
	    search->entry_count >= RACE_MAX)
		return;
	if (!client_source(search->client, address->address.ss_family,
	    &source))
		return;
	*entry = (struct race_entry){ .address = address->address,
	    .length = address->length, .source = source };
	search->entry_count++;
}

/* In the order of the list; the family that leads nowhere at the end. */
static void
search_fill_entries(struct search *search)
{
	const struct client_hosts *hosts = &search->hosts;
	bool is_four_first = clock_steady_ms() < search->client->six_until_ms;

	search->entry_count = 0;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < hosts->address_count; i++) {
			const struct dns_address *one = &hosts->addresses[i];
			bool is_late = is_four_first &&
			    one->address.ss_family == AF_INET6;

			if (is_late == (turn == 1))
				search_add_entry(search, one);
		}
}

/* RFC 5321 section 5.1: an MX whose address is ours is ourselves, under
 * whatever name; neither it nor those after it are to be tried. */
static bool
search_is_ourselves(struct search *search, size_t index)
{
	struct client_hosts *hosts = &search->hosts;
	const unsigned ours = hosts->mx[index].preference;

	if (search->target.kind != TARGET_MX)
		return false;
	for (size_t i = 0; i < hosts->address_count; i++) {
		if (!client_is_own(search->client,
		    &hosts->addresses[i].address))
			continue;
		while (hosts->count > 0 &&
		    hosts->mx[hosts->count - 1].preference >= ours)
			hosts->count--;
		if (search->tried == 0 && search->skipped == 0)
			verdict_set(search->trouble, VERDICT_FAILED, "5.4.6",
			    "dns", "%s, where mail for %s goes, is this host, "
			    "which does not deliver it",
			    hosts->mx[index].host, search->target.name);
		return true;
	}
	return false;
}

/* How this host must be protected.  False: it gets nothing now. */
static bool
search_settle(struct search *search, size_t index, struct verdict *trouble)
{
	search->host_policy = search->policy;
	return client_dane(&search->hosts, index, &search->host_policy,
	    &search->tlsa, trouble) && client_sts(search->client,
	    &search->hosts, index, &search->sts, &search->host_policy,
	    trouble);
}

static bool
search_try_host(struct search *search, size_t index)
{
	struct verdict before = *search->trouble;

	if (client_hosts_ask(&search->hosts, index, search->trouble)) {
		if (search_is_ourselves(search, index) ||
		    !search_settle(search, index, search->trouble))
			return false;
		search_fill_entries(search);
		return search_try_entries(search, search->hosts.mx[index].host);
	}
	/* a host that may come back outweighs one that is not there */
	if (before.kind == VERDICT_DEFERRED && before.who[0] != '\0' &&
	    search->trouble->kind == VERDICT_FAILED)
		*search->trouble = before;
	return false;
}

/* ---- all hosts --------------------------------------------------------- */

static bool
search_try_unix(struct search *search)
{
	struct race_entry *entry = &search->entries[0];
	struct sockaddr_un *un = (struct sockaddr_un *)&entry->address;

	search->hosts.target = &search->target;
	if (!search_settle(search, 0, search->trouble))
		return false;
	*entry = (struct race_entry){ .length = sizeof(*un) };
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, search->target.name,
	    strlen(search->target.name) + 1);
	search->entry_count = 1;
	return search_try_entries(search, search->target.name);
}

static bool
search_run(struct search *search)
{
	if (search->target.kind == TARGET_UNIX)
		return search_try_unix(search);
	for (size_t i = 0; i < search->hosts.count &&
	    !search_is_final(search); i++)
		if (search_try_host(search, i))
			return true;
	return false;
}

/* ---- the connection for a job ------------------------------------------ */

/* Nothing came since the last reply, and the peer is still there. */
static bool
client_is_alive(struct smtp_client *client)
{
	if (!peer_is_open(&client->peer) || !client_is_level(client) ||
	    (client->offer.mails > 0 &&
	    client->messages >= client->offer.mails) ||
	    (client->messages_max > 0 &&
	    client->messages >= client->messages_max))
		return false;
	if (clock_steady_ms() - client->used_at_ms < CLIENT_FRESH_MS)
		return true;
	peer_consume(&client->peer, client->reply_bytes);
	client->reply_bytes = 0;
	return peer_is_quiet(&client->peer);
}

/* It serves, unless it turns out to be dead after a pause. */
static bool
client_may_go_on(struct smtp_client *client)
{
	return clock_steady_ms() - client->used_at_ms < CLIENT_DOUBT_MS ||
	    client_answers(client);
}

/* Does the kept connection lead to one of the best hosts of this target,
 * too, and is it protected in the same way? */
static bool
client_is_shared(struct search *search)
{
	struct smtp_client *client = search->client;
	struct client_hosts *hosts = &search->hosts;
	struct verdict ignored;

	if (client->secret != search->secret)
		return false;
	for (size_t i = 0; i < hosts->count &&
	    hosts->mx[i].preference == hosts->mx[0].preference; i++) {
		if (!client_hosts_ask(hosts, i, &ignored))
			continue;
		for (size_t k = 0; k < hosts->address_count; k++)
			if (memcmp(&hosts->addresses[k].address,
			    &client->address, sizeof(client->address)) == 0)
				return search_settle(search, i, &ignored) &&
				    strcmp(client->key,
				    search->host_policy.key) == 0;
	}
	return false;
}

static void
client_serves(struct smtp_client *client, const char *host,
    enum client_wish wish)
{
	strlcpy(client->host, host, sizeof(client->host));
	client->is_required = wish == WISH_TLS;
	client->wish = wish;
}

/* Everything about the target but the connection. */
static bool
search_prepare(struct search *search, const char *host,
    enum client_wish wish)
{
	struct smtp_client *client = search->client;
	struct err err;

	verdict_set(search->trouble, VERDICT_DEFERRED, "4.4.4", "",
	    "no host of %s could be tried", host);
	search->trouble->host_trouble = true;
	if (client_target_parse(slice_of(host), client->port, &search->target,
	    &err) < 0) {
		verdict_set(search->trouble, VERDICT_FAILED, "5.1.2",
		    client->is_lmtp ? "lmtp" : "smtp", "%s", err.text);
		return false;
	}
	client_policy(client, &search->target, wish, &search->policy);
	search->secret = client_auth_find(client, &search->target);
	if (search->secret == NULL && search->target.login[0] != '\0') {
		verdict_set(search->trouble, VERDICT_DEFERRED, "4.7.0",
		    "smtp", "the route's login '%s' is no key of auth-to",
		    search->target.login);
		return false;
	}
	client->provider[0] = '\0';
	if (search->target.kind == TARGET_UNIX)
		return true;
	if (!client_hosts_find(client, &search->target, &search->hosts,
	    search->trouble))
		return false;
	if (search->target.kind == TARGET_MX && search->hosts.count > 0)
		client_provider(search->hosts.mx[0].host,
		    search->target.name, client->provider);
	return true;
}

/* A new connection.  What was down lately is left for the end, not left out:
 * that it is time for another try is the scheduler's to say. */
static bool
search_connect(struct search *search)
{
	struct smtp_client *client = search->client;

	client_quit(client);
	client_said_begin(client, search->target.name);
	if (!search_run(search)) {
		if (search->tried > 0 || search->skipped == 0)
			return false;
		search->is_last_resort = true;
		if (!search_run(search))
			return false;
	}
	strlcpy(client->key, search->host_policy.key, sizeof(client->key));
	client->is_xclient = search->policy.is_xclient;
	client->secret = search->secret;
	return true;
}

/* Many kilobytes, of which the stack of an agent in a thread would keep what
 * was once touched. */
static struct search *
search_new(struct smtp_client *client, struct verdict *trouble)
{
	struct search *search = mem_alloc(1, sizeof(*search));

	search->client = client;
	search->trouble = trouble;
	dns_records_init(&search->tlsa);
	return search;
}

static void
search_free(struct search **search)
{
	dns_records_release(&(*search)->tlsa);
	client_hosts_release(&(*search)->hosts);
	mem_free(search);
}

/* is_kept: there is a connection, which may serve this host, too. */
static bool
search_open(struct search *search, const char *host, enum client_wish wish,
    bool is_kept)
{
	struct smtp_client *client = search->client;
	bool is_shared;

	if (!search_prepare(search, host, wish))
		return false;
	is_shared = is_kept && search->target.kind != TARGET_UNIX &&
	    client_is_shared(search) && client_may_go_on(client);
	if (!is_shared && !search_connect(search))
		return false;
	client_serves(client, host, wish);
	if (!is_shared && client->opened != NULL)
		client->opened(client->opened_context, client);
	return true;
}

bool
client_open(struct smtp_client *client, const char *host,
    enum client_wish wish, struct verdict *out_trouble)
{
	bool is_kept = client_is_alive(client), is_open;
	struct search *search;

	if (is_kept && strcmp(client->host, host) == 0 &&
	    client->wish == wish && client_may_go_on(client))
		return true;
	search = search_new(client, out_trouble);
	is_open = search_open(search, host, wish, is_kept &&
	    peer_is_open(&client->peer));
	search_free(&search);
	return is_open;
}

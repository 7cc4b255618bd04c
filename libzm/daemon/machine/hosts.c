/* hosts.c - the hosts that routes name are in the DNS
 *
 * In     a conf that is right in itself
 * Out    a warning for each host that the DNS says is not there
 * Holds  the questions of one look, all beside each other
 * Trusts the DNS only to say no: silence, errors and an end of the time are
 *        no complaint
 * Spec   zmailer(8), check
 *
 * SPDX-License-Identifier: ISC
 */
#include <netdb.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/machine/look.h"
#include "daemon/machine/machine.h"
#include "io/dns/dns.h"
#include "io/dns/ask.h"
#include "io/loop.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { HOSTS_MAX = 50, HOSTS_WAIT_MS = 2000, HOSTS_TURN_MS = 50 };

struct named_host {
	const char	*name;
	struct conf_at	 at;
	unsigned	 asked, none;	/* answers: that there is nothing */
	struct hosts	*hosts;
};

struct hosts {
	struct machine_look	*look;
	struct named_host	 list[HOSTS_MAX];
	size_t			 count, pending;
};

/* dns_answer_fn */
static void
host_answer(void *context, enum dns_result result, const unsigned char *bytes,
    size_t n)
{
	struct named_host *host = context;
	struct dns_address found[DNS_ADDRESS_MAX];
	size_t count = 0;
	struct err err;

	host->hosts->pending--;
	if (result == DNS_OK)
		(void)dns_parse_addresses(bytes, n, found, &count, &err);
	if (result == DNS_NO_NAME || result == DNS_NONE ||
	    (result == DNS_OK && count == 0))
		host->none++;
}

/* Does /etc/hosts know it? */
static bool
host_is_local(const char *name)
{
	const struct hostent *one;
	bool is_known = strcmp(name, "localhost") == 0;

	sethostent(1);
	while (!is_known && (one = gethostent()) != NULL) {
		is_known = strcmp(one->h_name, name) == 0;
		for (char **alias = one->h_aliases; *alias != NULL; alias++)
			is_known = is_known || strcmp(*alias, name) == 0;
	}
	endhostent();
	return is_known;
}

/* "[relay.example]:25", "NAME@[...]", "smtps:[...]",
 * "inet:relay.example:24". */
static void
host_add(struct hosts *hosts, const char *target, struct conf_at at)
{
	struct slice host = conf_host_bare(slice_of(target));
	struct net net;
	const char *name;

	if (unix_socket_is_meant(host))
		return;
	if (slice_starts(host, "smtps:"))
		host = slice_from(host, 6);
	if (slice_starts(host, "inet:["))
		host = slice_from(host, 5);
	else if (slice_starts(host, "inet:"))
		host = slice_first(slice_from(host, 5),
		    slice_find(slice_from(host, 5), ':'));
	if (slice_starts(host, "["))
		host = slice_first(slice_from(host, 1),
		    slice_find(host, ']') - 1);
	if (host.n < 2 || net_parse(host, &net, NULL) == 0 ||
	    hosts->count == HOSTS_MAX)
		return;
	name = slice_dup(hosts->look->arena, host);
	for (size_t i = 0; i < hosts->count; i++)
		if (strcmp(hosts->list[i].name, name) == 0)
			return;
	if (host_is_local(name))
		return;
	hosts->list[hosts->count++] = (struct named_host){
		.name = name, .at = at, .hosts = hosts };
}

static bool
goes_to_host(const char *channel)
{
	return strcmp(channel, "smtp") == 0 || strcmp(channel, "lmtp") == 0;
}

static void
hosts_collect(struct hosts *hosts)
{
	const struct conf *conf = hosts->look->conf;

	for (size_t i = 0; i < conf->route_count; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->table == NULL && goes_to_host(route->channel))
			host_add(hosts, route->host, route->at);
		for (size_t k = 0; k < route->way_count; k++)
			if (goes_to_host(route->ways[k].channel))
				host_add(hosts, route->ways[k].host,
				    route->at);
	}
	for (size_t i = 0; i < conf->domain_count; i++)
		if (goes_to_host(conf->domains[i].deliver.channel))
			host_add(hosts, conf->domains[i].deliver.host,
			    conf->domains[i].at);
}

static void
hosts_ask(struct hosts *hosts)
{
	int64_t end_ms = clock_steady_ms() + HOSTS_WAIT_MS;
	struct loop *loop = loop_new();
	struct dns_asker *asker = dns_asker_new(loop);

	for (size_t i = 0; i < hosts->count; i++) {
		hosts->pending += 2;
		dns_ask(asker, hosts->list[i].name, DNS_TYPE_A, host_answer,
		    &hosts->list[i]);
		dns_ask(asker, hosts->list[i].name, DNS_TYPE_AAAA,
		    host_answer, &hosts->list[i]);
	}
	while (hosts->pending > 0 && clock_steady_ms() < end_ms)
		loop_turn(loop, HOSTS_TURN_MS);
	dns_asker_free(&asker);
	loop_free(&loop);
}

void
machine_check_hosts(const struct conf *conf, struct arena *arena,
    struct conf_report *report)
{
	struct machine_look look = { conf, arena, report, 5 };
	struct hosts hosts = { .look = &look };
	struct err err;

	hosts_collect(&hosts);
	if (hosts.count == 0 || dns_use(conf->dns_server, &err) != 0)
		return;
	hosts_ask(&hosts);
	for (size_t i = 0; i < hosts.count; i++)
		if (hosts.list[i].none == 2)
			machine_tell(&look, CONF_WARNING, hosts.list[i].at,
			    "write a name that has an address, or an address; "
			    "mail for it waits until then",
			    arena_printf(arena, "the DNS has no address of %s",
			    hosts.list[i].name));
	conf_report_sort(report, conf->book);
}

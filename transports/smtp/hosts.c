/* hosts.c - which hosts take a domain's mail, and their addresses
 *
 * In     a target
 * Out    hosts in the order to be tried; addresses, IPv6 and IPv4 in turn
 * Holds  nothing
 * Trusts the DNS as far as its counts are bounded; an MX that is ourselves
 *        and all after it are left out, addresses that are no host's, too
 * Spec   RFC 5321 section 5.1; RFC 7505 (null MX); RFC 8305 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

/* A name that is not there is final when it came from an address; when it
 * came from the configuration a person will mend it. */
static void
hosts_dns_trouble(const struct client_target *target, const char *name,
    enum dns_result result, const struct err *err, struct verdict *out)
{
	bool is_gone = (result == DNS_NO_NAME || result == DNS_NONE) &&
	    target->kind == TARGET_MX;
	const char *status = "4.4.3";

	if (is_gone)
		status = result == DNS_NO_NAME &&
		    strcmp(name, target->name) == 0 ? "5.1.2" : "5.4.4";
	verdict_set(out, is_gone ? VERDICT_FAILED : VERDICT_DEFERRED, status,
	    "dns", "%s", err->text);
	out->host_trouble = !is_gone;
}

/* ---- hosts ------------------------------------------------------------- */

/* Leave out ourselves and every host that is not better than we are.
 * returns false when nobody is left: we are the best, the mail loops. */
static bool
hosts_before_us(struct client_hosts *hosts, const char *own,
    struct verdict *out)
{
	unsigned ours = UINT32_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < hosts->count; i++)
		if (strcasecmp(hosts->mx[i].host, own) == 0 &&
		    hosts->mx[i].preference < ours)
			ours = hosts->mx[i].preference;
	if (ours == UINT32_MAX)
		return true;
	for (size_t i = 0; i < hosts->count; i++)
		if (hosts->mx[i].preference < ours)
			hosts->mx[kept++] = hosts->mx[i];
	hosts->count = kept;
	if (kept > 0)
		return true;
	verdict_set(out, VERDICT_FAILED, "5.4.6", "dns",
	    "the MX of %s is this host, which does not deliver its mail",
	    hosts->target->name);
	return false;
}

static bool
hosts_only_itself(struct client_hosts *hosts)
{
	hosts->mx = mem_grow(hosts->mx, 1, sizeof(*hosts->mx));
	snprintf(hosts->mx[0].host, sizeof(hosts->mx[0].host), "%s",
	    hosts->target->name);
	hosts->mx[0].preference = 0;
	hosts->count = 1;
	return true;
}

/* "." beside real hosts is no null MX (RFC 7505 section 3), but no host
 * either. */
static void
hosts_drop_nobodies(struct client_hosts *hosts)
{
	size_t kept = 0;

	for (size_t i = 0; i < hosts->count; i++)
		if (hosts->mx[i].host[0] != '\0')
			hosts->mx[kept++] = hosts->mx[i];
	hosts->count = kept;
}

/* The answer, in no more room than it needs: it is kept while the host is
 * waited for. */
static enum dns_result
hosts_ask_mx(struct client_hosts *hosts, struct err *err)
{
	struct dns_trust trust;
	enum dns_result result;

	hosts->mx = mem_grow(hosts->mx, DNS_MX_MAX, sizeof(*hosts->mx));
	result = dns_mx(hosts->target->name, hosts->mx, &hosts->count, &trust,
	    err);
	hosts->is_secure = trust.is_secure;
	if (result != DNS_OK)
		hosts->count = 0;
	hosts->mx = mem_grow(hosts->mx, hosts->count, sizeof(*hosts->mx));
	return result;
}

void
client_hosts_release(struct client_hosts *hosts)
{
	mem_free(&hosts->mx);
	hosts->count = 0;
}

bool
client_hosts_find(const struct smtp_client *client,
    const struct client_target *target, struct client_hosts *hosts,
    struct verdict *out)
{
	enum dns_result result;
	struct err err;

	hosts->target = target;
	hosts->asked = hosts->count = 0;
	hosts->is_secure = true;
	if (target->kind != TARGET_MX)
		return hosts_only_itself(hosts);
	result = hosts_ask_mx(hosts, &err);
	if (result == DNS_NONE)		/* RFC 5321 section 5.1: implicit MX */
		return hosts_only_itself(hosts);
	if (result != DNS_OK) {
		hosts_dns_trouble(target, target->name, result, &err, out);
		return false;
	}
	hosts_drop_nobodies(hosts);
	if (hosts->count == 0) {
		verdict_set(out, VERDICT_FAILED, "5.1.10", "dns",
		    "%s takes no mail (null MX)", target->name);
		return false;
	}
	return hosts_before_us(hosts, client->conf->host, out);
}

/* ---- addresses --------------------------------------------------------- */

static void
hosts_set_port(struct sockaddr_storage *address, unsigned port)
{
	if (address->ss_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port =
		    htons((uint16_t)port);
	else
		((struct sockaddr_in6 *)address)->sin6_port =
		    htons((uint16_t)port);
}

/* "This network", multicast, unspecified, IPv4 in disguise: no MX is
 * there, and some of them would be ourselves. */
static bool
hosts_is_address(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six =
	    (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET) {
		uint32_t first = ntohl(four->sin_addr.s_addr) >> 24;

		return first != 0 && first < 224;
	}
	return !IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr) &&
	    !IN6_IS_ADDR_MULTICAST(&six->sin6_addr) &&
	    !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
}

/* six four six four ...: a family that leads nowhere costs little. */
static void
hosts_mix_families(struct dns_address *addresses, size_t count)
{
	struct dns_address mixed[DNS_ADDRESS_MAX];
	sa_family_t turn = count > 0 ? addresses[0].address.ss_family : 0;
	bool used[DNS_ADDRESS_MAX] = { false };

	for (size_t n = 0; n < count; n++) {
		size_t pick = count, any = count;

		for (size_t i = count; i-- > 0;)
			if (!used[i]) {
				any = i;
				if (addresses[i].address.ss_family == turn)
					pick = i;
			}
		if (pick == count)
			pick = any;
		used[pick] = true;
		mixed[n] = addresses[pick];
		turn = mixed[n].address.ss_family == AF_INET ? AF_INET6 :
		    AF_INET;
	}
	memcpy(addresses, mixed, count * sizeof(*addresses));
}

static bool
hosts_nothing_usable(const struct client_hosts *hosts, const char *name,
    struct verdict *out)
{
	bool is_mx = hosts->target->kind == TARGET_MX;

	verdict_set(out, is_mx ? VERDICT_FAILED : VERDICT_DEFERRED,
	    is_mx ? "5.4.4" : "4.4.4", "dns",
	    "no address of %s can be a mail host's", name);
	out->host_trouble = !is_mx;
	return false;
}

bool
client_hosts_ask(struct client_hosts *hosts, size_t index,
    struct verdict *out)
{
	const char *name = hosts->mx[index].host;
	enum dns_result result;
	size_t kept = 0, count;
	struct err err;

	if (hosts->asked == index + 1)
		return true;
	hosts->asked = 0;
	result = dns_addresses(name, hosts->addresses, &count,
	    &hosts->trust, &err);
	if (result != DNS_OK) {
		hosts_dns_trouble(hosts->target, name, result, &err, out);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		struct dns_address *one = &hosts->addresses[i];

		if (hosts->target->kind == TARGET_MX &&
		    !hosts_is_address(&one->address))
			continue;
		hosts_set_port(&one->address, hosts->target->port);
		hosts->addresses[kept++] = *one;
	}
	if (kept == 0)
		return hosts_nothing_usable(hosts, name, out);
	hosts_mix_families(hosts->addresses, kept);
	hosts->address_count = kept;
	hosts->asked = index + 1;
	return true;
}

/* ---- ourselves --------------------------------------------------------- */

/* Does this machine have the address?  The kernel then sends to it from it.
 * Nothing leaves: a datagram socket that is connected is only a route. */
static bool
hosts_is_local(const struct sockaddr_storage *address)
{
	struct sockaddr_storage own;
	socklen_t length = sizeof(own), n =
	    address->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
	    sizeof(struct sockaddr_in6);
	int fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_good = fd >= 0 &&
	    connect(fd, (const struct sockaddr *)address, n) == 0 &&
	    getsockname(fd, (struct sockaddr *)&own, &length) == 0;
	struct net a, b;

	if (fd >= 0)
		close(fd);
	if (!is_good)
		return false;
	net_of_sockaddr((const struct sockaddr *)address, &a);
	net_of_sockaddr((const struct sockaddr *)&own, &b);
	return memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
}

static in_port_t
hosts_port(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET ?
	    ((const struct sockaddr_in *)address)->sin_port :
	    ((const struct sockaddr_in6 *)address)->sin6_port;
}

static bool
hosts_is_any(const struct net *address)
{
	static const unsigned char none[16], four[16] = { [10] = 0xff,
	    [11] = 0xff };

	return memcmp(address->bytes, none, 16) == 0 ||
	    memcmp(address->bytes, four, 16) == 0;
}

bool
client_is_own(const struct smtp_client *client,
    const struct sockaddr_storage *address)
{
	const struct conf *conf = client->conf;
	struct net theirs, ours;

	net_of_sockaddr((const struct sockaddr *)address, &theirs);
	for (size_t i = 0; i < conf->listen_count; i++) {
		const struct conf_listen *one = &conf->listens[i];

		if (one->address.ss_family != address->ss_family ||
		    hosts_port(&one->address) != hosts_port(address))
			continue;
		net_of_sockaddr((const struct sockaddr *)&one->address, &ours);
		if (memcmp(ours.bytes, theirs.bytes, 16) == 0 ||
		    (hosts_is_any(&ours) && hosts_is_local(address)))
			return true;
	}
	return false;
}

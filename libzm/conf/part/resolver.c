/* resolver.c - a resolver of our own
 *
 * In     the resolver statement and the items of its block
 * Out    where it listens, whom it asks, what it trusts; dns_server
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <netinet/in.h>
#include <string.h>

#include "base/ascii.h"
#include "conf/part/part.h"
#include "grammar/net.h"
#include "grammar/units.h"

#include "base/banned.h"

enum { DNS_PORT = 53, ZONE_BYTES_MAX = 253 };

static bool
resolver_endpoint(const char *text, struct sockaddr_storage *out)
{
	char bracketed[80];
	socklen_t length;
	struct net net;
	bool is_bare = net_parse(slice_of(text), &net, NULL) == 0 &&
	    text[0] != '[';

	/* an address alone, which is no endpoint yet */
	strlcpy(bracketed, "", sizeof(bracketed));
	if (is_bare && strchr(text, ':') != NULL)
		strlcpy(bracketed, "[", sizeof(bracketed));
	strlcat(bracketed, text, sizeof(bracketed));
	if (is_bare)
		strlcat(bracketed, strchr(text, ':') != NULL ? "]:53" : ":53",
		    sizeof(bracketed));
	return net_endpoint_parse(slice_of(bracketed), DNS_PORT, out, &length,
	    NULL) == 0;
}

static bool
resolver_is_loopback(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	return address->ss_family == AF_INET ?
	    ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET :
	    IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* As the system writes it, with its port. */
static const char *
resolver_text(struct conf_loader *loader,
    const struct sockaddr_storage *address)
{
	char text[80];

	net_endpoint_text((const struct sockaddr *)address, text,
	    sizeof(text));
	return arena_printf(loader->conf->arena, "%s", text);
}

static void
resolver_take_address(struct conf_loader *loader,
    const struct conf_statement *statement, struct conf_resolver *resolver)
{
	const struct conf_value *where = statement->args;
	struct sockaddr_storage address;

	if (statement->arg_count == 0)
		return;
	if (strchr(where->text, ':') == NULL ||
	    !resolver_endpoint(where->text, &address) ||
	    !resolver_is_loopback(&address))
		conf_complain(loader, CONF_ERROR, where->token,
		    "write 127.0.0.1:PORT, [::1]:PORT, or nothing: "
		    RESOLVER_ADDRESS, "'%.100s' is no loopback address with a "
		    "port: it answers this machine alone", where->text);
	else
		resolver->address = resolver_text(loader, &address);
}

void
conf_apply_resolver(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	struct conf_resolver resolver = {
		.address = RESOLVER_ADDRESS,
		.cache_bytes = RESOLVER_CACHE_BYTES,
		.at = conf_at(statement->node->tokens),
	};

	if (conf->resolver.address != NULL) {
		conf_complain_twice(loader, statement->node->tokens,
		    conf->resolver.at, "'resolver' is said twice");
		return;
	}
#ifndef HAVE_UNBOUND
	conf_complain(loader, CONF_ERROR, statement->node->tokens,
	    "build it again where the package libunbound-dev is, or write "
	    "dns ADDRESS of a validating resolver", "this zmailer was built "
	    "without libunbound");
#endif
	resolver_take_address(loader, statement, &resolver);
	conf_check_list(loader, statement->node->children, GROUP_RESOLVER,
	    &resolver);
	conf->resolver = resolver;
}

/* ---- items ----------------------------------------------------------- */

void
conf_apply_resolver_anchor(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_resolver *resolver = target;

	resolver->anchor = statement->args[0].text;
}

/* Somebody else's, as text; NULL: it is no address, or our own. */
static const char *
resolver_take_server(struct conf_loader *loader,
    const struct conf_resolver *resolver, const struct conf_value *server)
{
	struct sockaddr_storage address;
	const char *text;

	if (!resolver_endpoint(server->text, &address)) {
		conf_complain(loader, CONF_ERROR, server->token,
		    "write 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53",
		    "'%.100s' is no address of a name server", server->text);
		return NULL;
	}
	text = resolver_text(loader, &address);
	if (strcmp(text, resolver->address) != 0)
		return text;
	conf_complain(loader, CONF_ERROR, server->token,
	    "name another server", "it would ask itself");
	return NULL;
}

static void
resolver_complain_many(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	conf_complain(loader, CONF_ERROR, statement->node->tokens, NULL,
	    "a resolver has at most %d of these", RESOLVER_SERVERS_MAX);
}

void
conf_apply_resolver_forward(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_resolver *resolver = target;

	for (size_t i = 0; i < statement->arg_count; i++) {
		const char *text = resolver_take_server(loader, resolver,
		    &statement->args[i]);

		if (text == NULL)
			continue;
		if (resolver->forward_count >= RESOLVER_SERVERS_MAX) {
			resolver_complain_many(loader, statement);
			return;
		}
		resolver->forwards = arena_grow(loader->conf->arena,
		    resolver->forwards, resolver->forward_count,
		    sizeof(*resolver->forwards));
		resolver->forwards[resolver->forward_count++] = text;
	}
}

static bool
stub_zone_is_good(struct slice zone)
{
	struct slice label;

	if (slice_is(zone, "."))
		return true;
	if (slice_ends(zone, "."))
		zone.n--;
	if (zone.n == 0 || zone.n > ZONE_BYTES_MAX)
		return false;
	for (size_t i = 0; i < zone.n; i++)
		if (!ascii_is_alnum(zone.p[i]) &&
		    !ascii_is_among(zone.p[i], "-_."))
			return false;
	while (slice_cut(&zone, '.', &label))
		if (label.n == 0 || label.n > 63)
			return false;
	return true;
}

void
conf_apply_resolver_stub(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_resolver *resolver = target;
	const struct conf_value *zone = &statement->args[0];
	struct conf_stub stub = { .zone = zone->text,
	    .server = resolver_take_server(loader, resolver,
		&statement->args[1]) };

	if (!stub_zone_is_good(slice_of(zone->text)))
		conf_complain(loader, CONF_ERROR, zone->token,
		    "write a domain: stub corp.example.org 192.0.2.54",
		    "'%.100s' is no zone", zone->text);
	else if (resolver->stub_count >= RESOLVER_SERVERS_MAX)
		resolver_complain_many(loader, statement);
	else if (stub.server != NULL) {
		resolver->stubs = arena_grow(loader->conf->arena,
		    resolver->stubs, resolver->stub_count,
		    sizeof(*resolver->stubs));
		resolver->stubs[resolver->stub_count++] = stub;
	}
}

/* ---- the whole ------------------------------------------------------- */

void
conf_check_resolver(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;

	if (!conf_has_resolver(conf))
		return;
	if (conf->dns_server != NULL)
		conf_complain_at(loader->report, loader->report_arena,
		    loader->book, CONF_ERROR, conf->resolver.at, 8,
		    "keep one of them; resolver { forward ADDRESS } asks the "
		    "server of dns, and validates", "resolver and dns both say "
		    "who answers about names");
	conf->dns_server = conf->resolver.address;
}

void
conf_resolver_add(struct str *out, const struct conf_resolver *resolver)
{
	str_addf(out, "%s {", resolver->address);
	if (resolver->anchor != NULL) {
		str_adds(out, " trust-anchor ");
		conf_add_word(out, resolver->anchor);
		str_addc(out, ';');
	}
	for (size_t i = 0; i < resolver->forward_count; i++)
		str_addf(out, "%s %s%s", i == 0 ? " forward" : "",
		    resolver->forwards[i],
		    i + 1 == resolver->forward_count ? ";" : "");
	for (size_t i = 0; i < resolver->stub_count; i++)
		str_addf(out, " stub %s %s;", resolver->stubs[i].zone,
		    resolver->stubs[i].server);
	str_adds(out, " cache ");
	units_add_bytes(out, resolver->cache_bytes);
	str_adds(out, " }");
}

/* resolver.c - what a resolver needs of this machine
 *
 * In     a conf that is right in itself; its trust anchor, its program
 * Out    complaints: not there, not to be read
 * Holds  nothing
 * Spec   zmailer.conf(5), resolver
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "daemon/machine/look.h"
#include "daemon/skeleton.h"
#include "io/dns/dns.h"

#include "base/banned.h"

enum { PROGRAM_BYTES = 4200 };

/* The keys of the root are copied to KEPT at the first start. */
static void
resolver_check_anchor(const struct machine_look *look)
{
	const struct conf_resolver *resolver = &look->conf->resolver;
	const char *kept = arena_printf(look->arena,
	    "%s/" RESOLVER_DIR "/root.key", look->conf->spool_dir);
	const char *path = resolver->anchor;
	bool is_denied;

	if (path == NULL)
		path = access(kept, F_OK) == 0 ? kept : RESOLVER_ANCHOR;
	if (access(path, R_OK) == 0)
		return;
	is_denied = geteuid() != 0 && errno == EACCES;
	machine_tell(look, is_denied ? CONF_WARNING : CONF_ERROR,
	    resolver->at, is_denied ? "check it as root" :
	    resolver->anchor != NULL ? "name a file of DS or DNSKEY records" :
	    "install the package dns-root-data, or name another file: "
	    "resolver { trust-anchor FILE }", arena_printf(look->arena,
	    "the trust anchor of DNSSEC, %s: %s", path, strerror(errno)));
}

/* What it says is believed: nobody else may stand in its place. */
static void
resolver_check_port(const struct machine_look *look)
{
	const char *colon = strrchr(look->conf->resolver.address, ':');
	uint64_t port;

	if (daemon_is_private(look->conf) || colon == NULL ||
	    !slice_number(slice_of(colon + 1), 1, 65535, &port) ||
	    port < IPPORT_RESERVED)
		return;
	machine_tell(look, CONF_WARNING, look->conf->resolver.at,
	    "choose a port below 1024, or none: " RESOLVER_ADDRESS,
	    "while zmailer stands, any user of this machine can listen at "
	    "this port, and what is said there is believed");
}

void
machine_check_resolver(const struct machine_look *look)
{
	char path[PROGRAM_BYTES];

	if (!conf_has_resolver(look->conf))
		return;
	resolver_check_anchor(look);
	resolver_check_port(look);
	daemon_libexec("resolver", path, sizeof(path));
	if (access(path, X_OK) != 0)
		machine_tell(look, CONF_ERROR, look->conf->resolver.at,
		    "install it", arena_printf(look->arena, "the program that "
		    "answers about names, %s: %s", path, strerror(errno)));
}

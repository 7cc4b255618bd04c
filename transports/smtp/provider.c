/* provider.c - one name for the hosts that take a domain's mail
 *
 * In     the MX hosts of a domain
 * Out    a name that domains with the same hosts share
 * Holds  nothing
 * Trusts the names only as bytes that fit
 * Spec   doc/protocol/agent.md, #mx
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

static size_t
provider_labels(struct slice name)
{
	struct slice label;
	size_t count = 0;

	while (slice_cut(&name, '.', &label))
		count++;
	return count;
}

/* "co.uk", "com.au": nobody's own domain, most likely. */
static bool
provider_is_registry(struct slice name)
{
	size_t dot = slice_find(name, '.');

	return provider_labels(name) == 2 && dot <= 3 && name.n - dot - 1 == 2;
}

void
client_provider(const char *host, const char *domain,
    char out[CLIENT_PROVIDER_BYTES])
{
	struct slice name = slice_of(host), rest;

	if (slice_ends(name, "."))
		name.n--;
	rest = slice_from(name, slice_find(name, '.'));
	rest = rest.n > 0 ? slice_from(rest, 1) : rest;
	if (provider_labels(name) > 2 && !slice_is_nocase(name, domain) &&
	    !provider_is_registry(rest))
		name = rest;
	if (name.n >= CLIENT_PROVIDER_BYTES)
		name.n = 0;
	for (size_t i = 0; i < name.n; i++)
		out[i] = ascii_is_upper(name.p[i]) ?
		    (char)(name.p[i] + ('a' - 'A')) : name.p[i];
	out[name.n] = '\0';
}

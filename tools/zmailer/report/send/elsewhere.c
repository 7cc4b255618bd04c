/* elsewhere.c - reports to hosts of others, so many a day
 *
 * In     domains, and where they want reports about them sent
 * Out    the addresses that get one
 * Holds  a number a host; the journal has it for other runs about that day
 * Trusts no record: a domain may name a victim
 * Spec   elsewhere.h; RFC 8460 section 7
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "tools/zmailer/report/send/elsewhere.h"

#include "base/banned.h"

/* Is name equal to top, or below it? */
static bool
elsewhere_is_below(struct slice name, struct slice top)
{
	return slice_equal_nocase(name, top) || (name.n > top.n &&
	    name.p[name.n - top.n - 1] == '.' &&
	    slice_equal_nocase(slice_from(name, name.n - top.n), top));
}

/* The host of an address that is neither the domain's own nor above or below
 * it; empty: it is. */
static struct slice
elsewhere_of(const char *domain, const struct rua_address *to)
{
	const char *at = strrchr(to->text, '@');
	struct slice host = slice_of(at == NULL ? "" : at + 1);
	struct slice about = slice_of(domain);

	return elsewhere_is_below(host, about) ||
	    elsewhere_is_below(about, host) ? SLICE("") : host;
}

static struct elsewhere_host *
elsewhere_host(struct elsewhere *elsewhere, struct slice name)
{
	struct elsewhere_host *hosts = elsewhere->hosts;

	for (size_t i = 0; i < elsewhere->host_count; i++)
		if (slice_is_nocase(name, hosts[i].name))
			return &hosts[i];
	elsewhere->hosts = hosts = arena_grow(elsewhere->arena, hosts,
	    elsewhere->host_count, sizeof(*hosts));
	hosts += elsewhere->host_count++;
	hosts->name = slice_dup(elsewhere->arena, name);
	hosts->count = 0;
	return hosts;
}

size_t
elsewhere_keep(struct elsewhere *elsewhere, const char *domain,
    struct rua_address to[RUA_MAX], size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct slice host = elsewhere_of(domain, &to[i]);
		struct elsewhere_host *one;

		if (host.n > 0) {
			one = elsewhere_host(elsewhere, host);
			if (one->count >= ELSEWHERE_MAX)
				continue;
			one->count++;
		}
		if (kept != i)
			to[kept] = to[i];
		kept++;
	}
	return kept;
}

void
elsewhere_add_hosts(struct str *out, const char *domain,
    const struct rua_address *to, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct slice host = elsewhere_of(domain, &to[i]);

		if (host.n > 0 && out->len > 0)
			str_addc(out, ' ');
		str_add_slice(out, host);
	}
}

void
elsewhere_take_line(struct elsewhere *elsewhere, const char *day,
    struct slice line)
{
	struct str hosts = STR_INIT;
	struct slice rest, host;

	if (json_is(line, "ev", "report.sent") && json_is(line, "day", day) &&
	    json_get(line, "elsewhere", &hosts)) {
		rest = str_slice(&hosts);
		while (slice_word(&rest, &host))
			elsewhere_host(elsewhere, host)->count++;
	}
	str_release(&hosts);
}

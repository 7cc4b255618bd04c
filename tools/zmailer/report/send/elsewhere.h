/* elsewhere.h - reports to hosts of others, so many a day
 *
 * TLS reporting knows no consent: a domain may have reports about itself sent
 * to anybody (RFC 8460 section 7).  Who has many domains, and has us send mail
 * to each of them, would have a victim flooded by us.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_ELSEWHERE_H
#define ZM_TOOLS_REPORT_ELSEWHERE_H

#include "base/mem.h"
#include "grammar/rua.h"

enum { ELSEWHERE_MAX = 100 };	/* copies a host, of one run (a day) */

struct elsewhere_host {
	const char	*name;
	unsigned	 count;
};

struct elsewhere {
	struct arena	*arena;
	struct elsewhere_host *hosts;
	size_t		 host_count;
};

/* Keep the addresses of a report about domain that may have it; those whose
 * host is the domain, above or below it, always may.
 * returns  how many are left, in their order */
size_t elsewhere_keep(struct elsewhere *elsewhere, const char *domain,
    struct rua_address to[RUA_MAX], size_t count);

#endif

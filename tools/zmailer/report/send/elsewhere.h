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

enum { ELSEWHERE_MAX = 100 };	/* copies a host, of a day */

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

/* Append the hosts that a report about domain counts for, blanks between: what
 * report.sent has as elsewhere=. */
void elsewhere_add_hosts(struct str *out, const char *domain,
    const struct rua_address *to, size_t count);
/* Count what an earlier run sent for that day, if the line says so. */
void elsewhere_take_line(struct elsewhere *elsewhere, const char *day,
    struct slice line);

#endif

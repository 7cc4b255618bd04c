/* sessions.h - connections to the hosts of domains, counted for a day
 *
 * In     lines of the journal (tls.session, sts.trouble, report.sent)
 * Out    a row for each domain: what was tried under which policy, what failed
 *
 * Bounded: SESSIONS_DOMAINS_MAX domains, with limits of hosts and kinds of
 * failures for each; beyond them only the sums are counted.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_SESSIONS_H
#define ZM_TOOLS_REPORT_SESSIONS_H

#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	SESSIONS_DOMAINS_MAX = 4096,
	SESSIONS_HOSTS_MAX = 8,		/* of a policy */
	SESSIONS_FAILURES_MAX = 32,	/* of a policy */
	SESSIONS_RECORDS_MAX = 16,	/* TLSA, of a domain's hosts */
	SESSIONS_RECORD_BYTES_MAX = 512
};

enum sessions_policy { SESSIONS_STS, SESSIONS_TLSA, SESSIONS_POLICIES };

struct sessions_failure {
	const char	*result;	/* RFC 8460 section 4.3 */
	const char	*host, *address, *source;	/* "": not known */
	uint64_t	 count;
};

struct sessions_count {
	uint64_t	 ok, failed;
	const char	*hosts[SESSIONS_HOSTS_MAX];
	size_t		 host_count;
	const char	**records;	/* SESSIONS_RECORDS_MAX; those that
					 * were in force, as in a zone file */
	size_t		 record_count;
	struct sessions_failure *failures;	/* SESSIONS_FAILURES_MAX */
	size_t		 failure_count;
};

struct sessions_domain {
	const char	*name;
	bool		 is_told;	/* an earlier run reported this day */
	struct sessions_count by[SESSIONS_POLICIES];
};

struct sessions {
	struct arena	*arena;
	const char	*day;		/* "2026-11-20", UTC */
	struct sessions_domain *domains;
	size_t		 domain_count;
	uint64_t	 left_out;	/* lines of domains beyond the bound */
	uint32_t	*slots;		/* hash: index + 1 */
	struct str	 value;			/* scratch */
	struct str	 members[4];		/* of a failure: the same */
};

/* Begin to count; day is borrowed. */
void sessions_init(struct sessions *sessions, const char *day);
void sessions_release(struct sessions *sessions);

/* Count one line of the journal, of the day or after it; others and damaged
 * ones are skipped. */
void sessions_take_line(struct sessions *sessions, struct slice line);

/* Append the report of one domain as RFC 8460 section 4.4 has it.
 * policies   the text of each policy's lines, LF between them; "": unknown,
 *            or for tlsa: the records of the row
 * id         of the report */
struct sessions_letter {
	const char	*organization, *contact, *id;
	const char	*policies[SESSIONS_POLICIES];
};
void sessions_add_report(struct str *out, const struct sessions *sessions,
    const struct sessions_domain *domain,
    const struct sessions_letter *letter);

#endif

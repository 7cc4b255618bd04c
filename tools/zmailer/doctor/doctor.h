/* doctor.h - is this machine ready for mail?  Findings, by areas
 *
 * An area is a row of areas.h and a function that adds findings.  It only looks
 * and asks, and changes nothing; each wait has a bound.  Words from outside
 * (names in the DNS, in certificates, of files) are escaped when added.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_DOCTOR_H
#define ZM_TOOLS_DOCTOR_H

#include "conf/conf.h"
#include "io/dns/dns.h"

enum {
	DOCTOR_DNS_MS = 20000,		/* for all questions, by default */
	DOCTOR_CONNECT_MS = 3000,	/* to one listener */
	DOCTOR_DOMAINS_MAX = 200,	/* whose records are checked */
	DOCTOR_HOSTS_MAX = 8,		/* of one MX answer */
	DOCTOR_FUTURE_S = 300		/* a time further ahead is wrong */
};

enum doctor_level { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD };

struct doctor_finding {
	enum doctor_level level;
	const char	*area;		/* static */
	const char	*where;		/* what it is about; may be "" */
	const char	*what, *advice;	/* advice: what to do; may be "" */
};

struct doctor {
	struct arena		*arena;
	const struct conf	*conf;		/* NULL: it is broken */
	const char		*conf_path;
	bool			 is_changed;	/* the files differ from what
						 * runs */
	const struct conf_report *report;	/* of reading it */
	const char		*outbound;	/* --outbound HOST; or NULL */
	int64_t			 dns_ms;	/* bound of all questions */
	int64_t			 dns_end_ms;	/* steady; 0: none was asked */
	bool			 shows_progress;
	bool			 is_running;	/* a zmailer has the spool */
	const char		*area;		/* of the one at work */
	const char *const	*domains;	/* that were asked about, */
	size_t			 domain_count;	/* or 0: all of ours */
	struct doctor_finding	*findings;
	size_t			 count;
};

/* Add a finding of the present area.  where may have any bytes. */
void doctor_add(struct doctor *doctor, enum doctor_level level,
    const char *where, const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Show "asking the DNS 12/40" on stderr, over its last state; or nothing. */
void doctor_progress(const struct doctor *doctor, const char *what,
    size_t done, size_t all);

/* Can others reach it: neither loopback nor private? (names.c) */
bool doctor_is_outside(const struct sockaddr *address);

/* The host that all mail leaves by, "[h]:587", where none comes in but from
 * this machine, none is signed, and no domain is ours but our name: nobody
 * looks up what the DNS says of it.  NULL: somebody does, or a domain was asked
 * about.  (names.c) */
const char *doctor_only_way(const struct doctor *doctor);

/* Have the other nodes of the cluster our configuration?  (published.c) */
void doctor_published(struct doctor *doctor);

/* ---- areas: AREA(name, text) is doctor_NAME --------------------------- */

typedef void doctor_fn(struct doctor *doctor);
#define AREA(name, needs_conf, text) doctor_fn doctor_##name;
#include "tools/zmailer/doctor/areas.h"
#undef AREA

/* ---- ask.c: many questions to the DNS at once ------------------------- */

struct doctor_answer {
	const char	*name;
	enum dns_type	 type;
	enum dns_result	 result;	/* DNS_TRY_AGAIN: none came */
	const unsigned char *bytes;	/* in the arena; with DNS_OK */
	size_t		 n;
	bool		 is_asked;	/* in a round that is over */
	struct doctor_asking *asking;
};

struct doctor_asking {
	struct doctor		*doctor;
	struct doctor_answer	**answers;
	size_t			 count, pending;
	int64_t			 end_at_ms;	/* steady */
};

/* When the questions of all areas must be answered (steady): counts from the
 * first call. */
int64_t doctor_dns_end(struct doctor *doctor);
/* Note a question for the next round, once. */
void doctor_ask(struct doctor_asking *asking, const char *name,
    enum dns_type type);
/* Ask all that were noted, and wait for the answers or the bound. */
void doctor_ask_round(struct doctor_asking *asking);
/* The answer; if the question was never asked: DNS_TRY_AGAIN. */
const struct doctor_answer *doctor_answered(
    const struct doctor_asking *asking, const char *name,
    enum dns_type type);
/* Ask all open questions of answers in a round, and put the answers in. */
struct answers;
void doctor_ask_answers(struct doctor_asking *asking,
    struct answers *answers);
/* The addresses of a host, A and AAAA; only if there is none, the worse of both
 * results is returned. */
enum dns_result doctor_addresses(const struct doctor_asking *asking,
    const char *host, struct dns_address *out, size_t *out_n);

#endif

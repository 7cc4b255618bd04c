/* walk.c - the records of an answer that are about the name asked for
 *
 * In     a whole answer, from anywhere
 * Out    its records
 * Trusts no answer: lengths are ns_parserr's, aliases end
 * Spec   walk.h; RFC 1034 section 3.6.2, RFC 2181 section 10.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <resolv.h>
#include <string.h>
#include <strings.h>

#include "io/dns/walk.h"

#include "base/banned.h"

/* The alias of name in the answer into out; false: it is none. */
static bool
cname_find(ns_msg *message, const char *name, char out[NS_MAXDNAME])
{
	ns_rr record;

	for (int i = 0; i < ns_msg_count(*message, ns_s_an); i++) {
		if (ns_parserr(message, ns_s_an, i, &record) < 0)
			return false;
		if (ns_rr_type(record) == ns_t_cname &&
		    ns_rr_class(record) == ns_c_in &&
		    strcasecmp(ns_rr_name(record), name) == 0)
			return dn_expand(ns_msg_base(*message),
			    ns_msg_end(*message), ns_rr_rdata(record), out,
			    NS_MAXDNAME) >= 0;
	}
	return false;
}

bool
dns_walk_begin(struct dns_walk *walk, const unsigned char *answer, size_t n)
{
	char next[NS_MAXDNAME];
	ns_rr question;

	memset(walk, 0, sizeof(*walk));
	if (ns_initparse(answer, (int)n, &walk->message) < 0 ||
	    ns_msg_count(walk->message, ns_s_qd) != 1 ||
	    ns_parserr(&walk->message, ns_s_qd, 0, &question) < 0)
		return false;
	walk->type = (int)ns_rr_type(question);
	strlcpy(walk->owner, ns_rr_name(question), sizeof(walk->owner));
	if (walk->type == ns_t_cname)
		return true;		/* the alias itself is asked for */
	for (int i = 0; i < DNS_ALIASES_MAX && cname_find(&walk->message,
	    walk->owner, next); i++)
		strlcpy(walk->owner, next, sizeof(walk->owner));
	return true;
}

bool
dns_walk_fits(const struct dns_walk *walk, const ns_rr *record)
{
	return ns_rr_class(*record) == ns_c_in &&
	    strcasecmp(ns_rr_name(*record), walk->owner) == 0;
}

bool
dns_walk_next(struct dns_walk *walk, ns_rr *record)
{
	while (!walk->is_damaged &&
	    walk->at < ns_msg_count(walk->message, ns_s_an)) {
		walk->is_damaged = ns_parserr(&walk->message, ns_s_an,
		    walk->at++, record) < 0;
		if (!walk->is_damaged && dns_walk_fits(walk, record))
			return true;
	}
	return false;
}

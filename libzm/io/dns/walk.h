/* walk.h - the records of an answer that are about the name asked for
 *
 * In     a whole answer, from anywhere
 * Out    its records, one after the other
 *
 * An answer may have records of any name.  Those that count are the name's that
 * was asked for, or of the name that its aliases lead to: others are nobody's
 * word about it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_DNS_WALK_H
#define ZM_IO_DNS_WALK_H

#include <arpa/nameser.h>
#include <stdbool.h>
#include <stddef.h>

enum { DNS_ALIASES_MAX = 16 };	/* followed in one answer */

struct dns_walk {
	ns_msg	 message;
	int	 type;		/* that was asked for */
	char	 owner[NS_MAXDNAME];	/* whose records count */
	int	 at;
	bool	 is_damaged;	/* a record could not be read, and ended it */
};

/* Begin; false: the answer cannot be read, or has not one question. */
bool dns_walk_begin(struct dns_walk *walk, const unsigned char *answer,
    size_t n);
/* Is this record the owner's, of class IN? */
bool dns_walk_fits(const struct dns_walk *walk, const ns_rr *record);
/* The next record of the owner, of any type.  false: there is no more. */
bool dns_walk_next(struct dns_walk *walk, ns_rr *record);

#endif

/* expand.h - the items of an alias
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_EXPAND_H
#define ZM_ROUTER_EXPAND_H

#include "router/route/routing.h"

struct here {			/* a local part and where it is looked up */
	const struct conf_domain *domain;	/* NULL: a virtual address */
	struct slice		 name;	/* of the domain */
	struct slice		 local;	/* plain */
	struct slice		 key;	/* plain, lower case */
	const struct path	*path;
};

struct found {			/* an alias */
	struct table	*table;
	struct slice	 value;
	unsigned	 line;
};

/* Expand an alias: route all its items.  what: the kind of the rule.  0, or -1:
 * trouble. */
int expand_alias(const struct routing *from, const struct here *here,
    const struct found *found, const char *what, struct err *err);

/* Expand a list file: route all its members, in the name of its owner.  They
 * get routing's sender, domain and rule.  0, or -1: trouble. */
int expand_file(const struct routing *from, const struct here *here,
    struct slice path, struct err *err);

/* Go one level deeper; false (and the request is given up) if that is too
 * deep. */
bool expand_deeper(struct routing *routing);

/* Look up key@name and key in all alias tables of a domain. */
enum route_answer local_alias_find(struct routing *routing,
    const struct here *here, struct slice key, struct found *out,
    struct err *err);

#endif

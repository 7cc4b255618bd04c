/* helper.h - a router over a configuration written in the test
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef TESTS_UNIT_ROUTER_HELPER_H
#define TESTS_UNIT_ROUTER_HELPER_H

#include "router/route/route.h"

struct fixture {
	char		 dir[64];	/* private, below /tmp */
	struct arena	*arena;
	struct conf	*conf;
	struct router	*router;
	struct rcpts	 rcpts;
};

/* "DIR" in conf_text becomes the fixture's directory; the other texts, when
 * not NULL, become its files aliases, routes and people first. */
void fixture_open(struct fixture *fixture, const char *conf_text,
    const char *aliases, const char *routes, const char *people);
void fixture_close(struct fixture *fixture);

/* Write DIR/name; "DIR" in text is replaced, too. */
void fixture_write(struct fixture *fixture, const char *name,
    const char *text);

/* Route one address (as it stands in an envelope): "channel host user" for
 * each recipient it added, parted by "; ".  "trouble: WHY" for trouble. */
const char *fixture_route(struct fixture *fixture, const char *address);

#endif

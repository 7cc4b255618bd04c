/* route_value.h - the values of a table of routes
 *
 * The router uses them; `zmailer check` reads all of them in advance.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_ROUTE_VALUE_H
#define ZM_CONF_ROUTE_VALUE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "mail/control_file/control_file.h"

enum route_value {
	ROUTE_VALUE_BAD = -1,
	ROUTE_VALUE_IGNORED,	/* as if there were no entry */
	ROUTE_VALUE_TARGET
};
struct route_target {
	struct slice	channel, host;
	struct slice	user;		/* empty: the address */
	struct control_way	*ways;		/* after else; user empty: the
					 * address */
	size_t		way_count;
};

/* Parse a value of a routes table: what may follow `via` in the configuration,
 * or ZMailer's "channel!", "channel!host", "channel!host!user", "error!form",
 * "ignore!...".  After ROUTE_VALUE_BAD err says why. */
enum route_value route_value_parse(struct arena *arena, struct slice value,
    struct slice domain, struct route_target *out, struct err *err);

/* Complete a target of the configuration (conf_target_parse): fill in what
 * channel and host leave open. */
void route_target_complete(struct arena *arena, const char *channel,
    const char *host, struct slice domain, struct route_target *out);

/* The host of the channel error: the name of a form, or words, which become one
 * word with _ for blanks.  A NUL follows it. */
struct slice route_error_host(struct arena *arena, struct slice words);

#endif

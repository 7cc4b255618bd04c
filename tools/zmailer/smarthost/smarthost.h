/* smarthost.h - the host that all other mail goes through
 *
 * Life cycle: smarthost_route says what the configuration has; an edit changes
 * the texts of a change; smarthost_try lets the smtp agent talk to the host as
 * these texts say, before they are written.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SMARTHOST_H
#define ZM_TOOLS_SMARTHOST_H

#include "tools/change/change.h"

enum {
	SMARTHOST_NAME_BYTES = 256,
	SMARTHOST_WORD_BYTES = 1024	/* of a password, at most */
};

struct smarthost {		/* what is wanted; NULL: not given */
	const char	*target;	/* as after via: "h:587" */
	const char	*name;		/* of the host, in tls-to, auth-to */
	const char	*user, *password;
	const char	*level, *roots;	/* of tls-to */
};

/* The route of all mail that has no other: `route * via`, for any sender and
 * user; NULL: there is none. */
const struct conf_route *smarthost_route(const struct conf *conf);
/* The host's name in a target ("smtps:[h]:465" -> "h"); NULL: none. */
const char *smarthost_name(struct arena *arena, const char *target);

/* edit.c: change the texts so that all mail goes through that host / by the DNS
 * again.  EX_OK, or an exit status after words about it. */
int smarthost_edit(struct change *change, const struct smarthost *host);
int smarthost_take(struct change *change, const char *name);

/* try.c: does the host that the edited texts name accept us?  Prints each step.
 * change NULL: by the configuration at conf_path.  Returns an exit status. */
int smarthost_try(struct change *change, const char *conf_path,
    const char *field);

#endif

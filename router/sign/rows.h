/* rows.h - which keys sign for the domain of a From
 *
 * A domain has rows of its own (sign DOMAIN ...), or is in a table
 * (sign <table> keys DIR); never both.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_SIGN_ROWS_H
#define ZM_ROUTER_SIGN_ROWS_H

#include "router/route/routing.h"

struct sign_rows {
	struct conf_sign	rows[CONF_SIGN_KEYS_MAX];
	size_t			count;		/* 0: nothing signs for it */
};

/* Find them; *out is in the arena of the recipients.  0; -1: a table cannot be
 * asked, or its row is wrong: the message has to wait, and err and
 * routing->rcpts->trouble say why. */
int sign_rows_find(struct routing *routing, struct slice domain,
    struct sign_rows *out, struct err *err);

/* Call routing_note for each key that would sign mail of this sender. */
void sign_rows_note(struct routing *routing, struct slice sender);

/* Does any statement of this configuration say 7bit? */
bool sign_rows_any_7bit(const struct conf *conf);

#endif

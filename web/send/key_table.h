/* key_table.h - lines of keys, to be written one by one
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_KEY_TABLE_H
#define ZM_WEB_KEY_TABLE_H

#include "web/send/keys.h"

/* Append the line that says that a key is begun; that it is done, or (without
 * an id) that nothing was sent. */
void key_add_begun(struct str *out, const struct key *key);
void key_add_end(struct str *out, const struct key *key);

#endif

/* said.h - what a Redis, or a sentinel, says of itself
 *
 * Pure.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_REDIS_SAID_H
#define ZM_SHARE_REDIS_SAID_H

#include "base/str.h"

/* Is "master" the first item of what ROLE answers? */
bool said_is_master(struct slice items);

/* Write "it says TEXT", escaped and cut, into out of so many bytes. */
void said_error(struct slice text, char *out, size_t bytes);

#endif

/* statements.h - every statement of zmailer.conf, one row each
 *
 * STATEMENT(group, name, block, apply, args, keywords, usage, preset,
 *     text, example)
 *   group     where it may stand: TOP, or inside the block of DOMAIN,
 *             SCHEDULE, ZONE
 *   block     what its own { } holds: NONE, LINES (keys and values), or
 *             the group of its items
 *   apply     function in part/apply.c that turns it into settings
 *   args      types of the words behind the name; "?" may be missing,
 *             "+" one or more; what stands behind ":" narrows the type
 *   keywords  "word=type" pairs in any order; "!" must be there; a word
 *             without type is a flag
 *   preset    what holds when nothing is said, for people; "" when the
 *             SETTING rows tell
 *   text      a paragraph for people (help and manual)
 *   example   lines that parse
 *
 * SETTING(statement, key, field, type, preset, text)
 *   a plain value: `statement VALUE`, or with a key `statement KEY VALUE`.
 *   preset is parsed like what a person writes.
 *
 * Parser, `zmailer check`, `zmailer help`, `zmailer config show` and
 * zmailer.conf(5) come from these rows.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef STATEMENT
#define STATEMENT(group, name, block, apply, args, keywords, usage, preset, \
    text, example)
#endif
#ifndef SETTING
#define SETTING(statement, key, field, type, preset, text)
#endif

#include "conf/statements/site.h"
#include "conf/statements/door.h"
#include "conf/statements/secure.h"
#include "conf/statements/policy.h"
#include "conf/statements/routing.h"
#include "conf/statements/rewrite.h"
#include "conf/statements/hooks.h"
#include "conf/statements/agents.h"
#include "conf/statements/queue.h"
#include "conf/statements/control.h"

#undef STATEMENT
#undef SETTING

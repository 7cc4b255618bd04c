/* statements.h - every statement of zmailer.conf, one row each
 *
 * STATEMENT(group, name, block, apply, args, keywords, usage, preset,
 *     text, example)
 *   group     where it may stand: TOP, or inside the block of DOMAIN,
 *             SCHEDULE, ZONE, CLUSTER, RESOLVER
 *   block     what its own { } holds: NONE, LINES (keys and values), or
 *             the group of its items
 *   apply     conf_apply_...() turns it into settings
 *   args      types of the words after the name; "?" may be missing,
 *             "+" one or more; what follows ":" narrows the type
 *   keywords  "word=type" pairs in any order; "!" is required; a word
 *             without type is a flag, one with "=?type" is a flag if it is last
 *   preset    the default, for people; "" when the SETTING rows have it
 *   text      a paragraph for people (help and manual)
 *   example   lines that parse
 *
 * ITEM(group, name, apply, first, last, args, usage, preset, note, text,
 *     example)
 *   a statement of a block that fills the fields first to last of the
 *   block's struct.  apply: `item` for one value that is stored there,
 *   `item_s` for a span that is stored in seconds, else as above.
 *   preset is what the last built-in schedule clause says, "" nothing; note
 *   follows it in texts for people.
 *
 * SETTING(statement, key, field, type, preset, text)
 *   a plain value: `statement VALUE`, or with a key `statement KEY VALUE`.
 *   preset is parsed like a value that a person writes.
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
#ifndef ITEM
#define ITEM(group, name, apply, first, last, args, usage, preset, note, \
    text, example) \
	STATEMENT(group, name, NONE, apply, args, "", usage, preset note, \
	    text, example)
#endif
#ifndef SETTING
#define SETTING(statement, key, field, type, preset, text)
#endif

#include "conf/statements/site.h"
#include "conf/statements/clients.h"
#include "conf/statements/secure.h"
#include "conf/statements/policy.h"
#include "conf/statements/routing.h"
#include "conf/statements/rewrite.h"
#include "conf/statements/hooks.h"
#include "conf/statements/agents.h"
#include "conf/statements/queue.h"
#include "conf/statements/control.h"
#include "conf/statements/cluster.h"
#include "conf/statements/notify.h"
#include "conf/statements/resolver.h"

#undef STATEMENT
#undef ITEM
#undef SETTING

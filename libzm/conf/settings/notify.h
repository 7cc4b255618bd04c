/* notify.h - who is told of events
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_NOTIFY_H
#define ZM_CONF_SETTINGS_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "conf/settings/at.h"

enum {
	NOTIFY_MAX = 32,		/* statements; a process each */
	NOTIFY_KEY_BYTES_MIN = 16,	/* of a key; RFC 2104 section 3 would
					 * have 32 */
	NOTIFY_KEY_BYTES_MAX = 1024
};

struct conf_notify {		/* notify URL events "NAME..." key FILE */
	const char	*url;
	const char	*name;		/* the URL without its query */
	const char	*events;	/* names and patterns, as written */
	const char	*key_path;
	const char	*roots;		/* NULL: the system's */
	struct conf_at	 at;
};

struct conf;
/* Is anybody told of events? */
bool conf_asks_notify(const struct conf *conf);

/* Append what stands after the word notify. */
void conf_notify_add(struct str *out, const struct conf_notify *notify);

/* Are events of this kind (enum event_kind) among those that the words of a
 * statement mean?  What notify itself tells is not. */
bool conf_notify_means(struct slice words, int kind);

#endif

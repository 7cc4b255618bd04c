/* rewrite.h - settings about addresses that change, and about copies
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_REWRITE_H
#define ZM_CONF_SETTINGS_REWRITE_H

#include <stddef.h>
#include <stdint.h>

#include "conf/settings/at.h"

/* Which addresses a rewriting statement changes. */
enum conf_rewrite_of {
	REWRITE_SENDERS = 1, REWRITE_RCPTS = 2,
	REWRITE_ENVELOPE = 4, REWRITE_HEADERS = 8,
	REWRITE_STRANGERS = 16	/* also headers of mail from outside */
};

/* header-check: who is told what is wrong with a header. */
enum conf_header_check {
	HEADERS_UNCHECKED, HEADERS_NOTED, HEADERS_COPIED
};

/* header-repair: in which mail it is repaired. */
enum conf_header_repair { REPAIR_NONE, REPAIR_LOCAL, REPAIR_OWN };

struct conf_canonical {		/* canonical <table>... */
	const char	**tables;	size_t table_count;
	unsigned	 of;		/* enum conf_rewrite_of */
	struct conf_at	 at;
};

struct conf_masquerade {	/* masquerade DOMAIN... */
	const char	**domains;	size_t domain_count;
	const char	**keeps;	size_t keep_count;
	const char	**users;	size_t user_count;
	struct conf_at	 at;
};

struct conf_copy {		/* copy ADDRESS; archive PATH */
	const char	*target;	/* an address, or begins with / */
	const char	*account;	/* of a path */
	const char	*sender, *rcpt;	/* patterns; NULL: all */
	struct conf_at	 at;
};

struct conf_generic {		/* generic <table>... */
	const char	**tables;	size_t table_count;
	const char	*channel;	/* glob */
	const char	*to;		/* pattern as of a route; NULL: all */
	struct conf_at	 at;
};

struct conf_srs {		/* srs DOMAIN key FILE */
	const char	*domain;	/* NULL: senders stay as they are */
	const char	*key;		/* a file of "label secret" lines: the
					 * first signs, all verify */
	int64_t		 expire_s;
	struct conf_at	 at;
};

#endif

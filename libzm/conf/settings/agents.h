/* agents.h - mailboxes, and connections to next hops
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_AGENTS_H
#define ZM_CONF_SETTINGS_AGENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/settings/at.h"

/* How a connection to a next hop must be protected, weakest first, and the
 * words of tls-to for it. */
#define CONF_TLS_LEVELS(FIRST, NEXT)					\
	FIRST(NONE, "none")						\
	NEXT(MAY, "may")						\
	NEXT(DANE, "dane")	/* without TLSA records as may */	\
	NEXT(STS, "sts")	/* without them as the domain's policy	\
				 * says; without one as may */		\
	NEXT(ENCRYPT, "encrypt")					\
	NEXT(VERIFY, "verify")						\
	NEXT(DANE_ONLY, "dane-only")

#define TLS_LEVEL_VALUE_(NAME, word) TLS_LEVEL_##NAME,
enum conf_tls_level { CONF_TLS_LEVELS(TLS_LEVEL_VALUE_, TLS_LEVEL_VALUE_) };

#define TLS_LEVEL_FIRST_(NAME, word) word
#define TLS_LEVEL_COMMA_(NAME, word) "," word
#define TLS_LEVEL_BAR_(NAME, word) "|" word
#define CONF_TLS_LEVEL_CHOICE						\
	CONF_TLS_LEVELS(TLS_LEVEL_FIRST_, TLS_LEVEL_COMMA_)
#define CONF_TLS_LEVEL_USAGE CONF_TLS_LEVELS(TLS_LEVEL_FIRST_, TLS_LEVEL_BAR_)

/* The word of a level. */
const char *conf_tls_level_word(enum conf_tls_level level);

struct conf_tls_to {		/* tls-to PATTERN LEVEL ... */
	const char	*pattern;	/* as of a route, for the domain or
					 * host that the route names */
	enum conf_tls_level level;
	const char	*roots;		/* PEM files; NULL: the system's */
	const char	*certificate, *key;	/* ours; NULL: none */
	const char	**names;	/* allowed in a certificate; ".x":
					 * anything below x */
	size_t		 name_count;	/* 0: those of the destination */
	struct conf_at	 at;
};

struct conf_sts {		/* sts ...: how policies are fetched */
	unsigned	port;		/* of the web servers that have them */
	int64_t		timeout_ms;	/* a look-up, all of it */
	const char	*roots;		/* PEM file; NULL: the system's */
};

struct conf;
/* Does a tls-to ask for policies of MTA-STS? */
bool conf_asks_sts(const struct conf *conf);

struct conf_xclient_to {	/* xclient-to PATTERN */
	const char	*pattern;	/* as of tls-to */
	struct conf_at	 at;
};

struct conf_auth_to {		/* auth-to <table> [unencrypted] */
	const char	*table;
	bool		 is_plain_ok;	/* also without TLS */
	struct conf_at	 at;
};

enum conf_mailbox_kind { MAILBOX_MAILDIR, MAILBOX_MBOX, MAILBOX_MMDF };

struct conf_quota {		/* quota SIZE ... */
	uint64_t	 bytes;		/* of a mailbox; 0: no limit of ours */
	unsigned	 messages;	/* 0: no limit */
	bool		 fails;		/* mail that does not fit fails; else
					 * it waits */
};

/* The channels that our agents serve, in the order of journal/channels.h; NULL
 * after the last one. */
const char *conf_channel_name(size_t at);

/* The agent of a channel whose clause names no command; NULL: none. */
const char *conf_channel_agent(const char *channel);

/* Does a process of that channel's agent carry many agents? */
bool conf_channel_is_many(const char *channel);

#endif

/* service.h - what the sessions of a worker share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SERVICE_H
#define ZM_SMTPSERVER_SERVICE_H

#include "daemon/conf/conf.h"
#include "mail/spool.h"
#include "smtpserver/tls/keyring.h"
#include "smtpserver/peers.h"
#include "smtpserver/policy/policy.h"

/* One configuration with its policy.  Each session holds the one it began
 * with, so a reload never changes a session in the middle. */
struct settings {
	struct conf	*conf;
	struct policy	*policy;
	struct peers	*peers;
	unsigned	 holders;
	bool		 owns_conf;	/* free it with the last holder */
};

/* The caller is the first holder. */
struct settings *settings_new(struct conf *conf, bool owns_conf);
struct settings *settings_hold(struct settings *settings);
/* Nulls *settings; the last holder frees it. */
void settings_drop(struct settings **settings);

struct service {
	struct spool	*spool;
	struct settings	*settings;	/* for sessions to come */
	struct cache	*recipients;	/* that exist, or do not; or NULL */
	struct keyring	*keyring;	/* NULL: no TLS */
	struct failures	*failures;	/* of logins; NULL: not counted */
	bool		 is_submission;	/* our own users, nobody else */
	bool		 is_stopping;
	int		 pressure;	/* enum shed_level, from the doorman */
	uint64_t	 free_bytes;	/* as last looked */
	int64_t		 free_until_ms;	/* how long that counts */
	uint64_t	 reserved_bytes;	/* for messages under way */
};

enum {
	SPACE_RESERVE_BYTES = 1 << 20,	/* kept free beside the message */
	SPACE_COUNTS_FOR_MS = 1000,
	RESERVE_FROM_BYTES = 1 << 20,	/* smaller ones just fit */
	RESERVE_PART = 4,		/* of free space, at the most, so that
					 * promises cannot fill the disk */
	RECIPIENTS_KNOWN_MAX = 4096	/* a power of two */
};

/* Is there room in the spool for a message of so many bytes?  Asks the
 * file system at most once a second, or always when is_now. */
bool service_has_space(struct service *service, uint64_t bytes, bool is_now);

/* May room for a message of this announced size be taken from the disk
 * before it comes?  Then it is added to reserved_bytes, from where its
 * transaction takes it again. */
bool service_reserve(struct service *service, uint64_t bytes);

#endif

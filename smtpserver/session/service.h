/* service.h - what the sessions of a worker share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_SERVICE_H
#define ZM_SMTPSERVER_SESSION_SERVICE_H

#include "conf/conf.h"
#include "mail/spool/spool.h"
#include "smtpserver/policy/peers.h"
#include "smtpserver/policy/policy.h"
#include "smtpserver/transaction/space.h"
#include "smtpserver/tls/keyring.h"

/* One configuration with its policy.  Each session holds the one that it began
 * with, so that a reload does not change a running session. */
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
/* Sets *settings to NULL; the last holder frees it. */
void settings_drop(struct settings **settings);

struct service {
	struct spool	*spool;
	struct settings	*settings;	/* for sessions to come */
	struct cache	*recipients;	/* known to exist, or not; or NULL */
	struct keyring	*keyring;	/* NULL: no TLS */
	struct failures	*failures;	/* of logins; NULL: not counted */
	bool		 is_submission;	/* only for our own users */
	bool		 is_stopping;
	int		 pressure;	/* enum shed_level, from the listener */
	struct space	 space;		/* in the spool */
};

enum {
	RECIPIENTS_KNOWN_MAX = 4096	/* a power of two */
};

#endif

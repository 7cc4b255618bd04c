/* internal.h - what doorman.c and doorman/admit.c share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_DOORMAN_INTERNAL_H
#define ZM_SMTPSERVER_DOORMAN_INTERNAL_H

#include "smtpserver/doorman/arrivals.h"
#include "smtpserver/doorman/crew.h"
#include "smtpserver/doorman/doorman.h"
#include "smtpserver/helper/helpers.h"
#include "smtpserver/peers.h"
#include "smtpserver/policy/policy.h"

struct listener {
	struct doorman	*doorman;
	int		 fd;
	struct watch	*watch;
	char		 text[CONF_LISTEN_BYTES];
	bool		 is_submission, is_tls;
	struct listener	*next;
};

/* Who logs in and who is a stranger never share a process. */
enum crew_kind { CREW_STRANGERS, CREW_OWN, CREW_COUNT };

struct doorman {
	struct process	*process;
	struct spool	*spool;
	struct clients	*clients;
	struct crew	*crews[CREW_COUNT];
	struct keys	*keys;		/* NULL: no certificates */
	struct auth_keeper *auth;	/* NULL: no passwords */
	struct failures	*failures;	/* of logins */
	struct space_shared *space;	/* promised to clients */
	struct peers	*peers;
	struct arrivals	*arrivals;	/* of proxies */
	struct helpers	*helpers;
	struct listener	*listeners;
	bool		 is_paused;
	struct timer	 pause_timer, stop_timer;
	struct policy	*policy;	/* who is known */
	int		 pressure;	/* as last told: enum shed_level */
};

/* A connection waits at this listener: the loop's call. */
void doorman_on_listener(void *context, unsigned ready);

/* What a proxy told of: admit it as if it had come itself (arrivals_fn). */
void doorman_on_arrival(void *context, const char *listener, int fd,
    const struct sockaddr *address);

/* Look at the listeners while there is somebody to give connections to. */
void doorman_watch_listeners(struct doorman *doorman);

/* The number of sessions changed: tell the workers when that makes another
 * level (shed.h). */
void doorman_weigh(struct doorman *doorman);

#endif

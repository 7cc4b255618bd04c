/* internal.h - what listener.c and listener/admit.c share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_LISTENER_INTERNAL_H
#define ZM_SMTPSERVER_LISTENER_INTERNAL_H

#include "smtpserver/listener/arrivals.h"
#include "smtpserver/listener/workers.h"
#include "smtpserver/listener/listener.h"
#include "smtpserver/helper/helpers.h"
#include "smtpserver/milter/local.h"
#include "smtpserver/policy/peers.h"
#include "smtpserver/policy/policy.h"

struct bound_socket {
	struct listener	*listener;
	int		 fd;
	struct watch	*watch;
	char		 text[CONF_LISTEN_BYTES];
	bool		 is_submission, is_tls;
	bool		 is_given;	/* the supervisor has it, too */
	struct bound_socket	*next;
};

/* Who logs in and who is a stranger never share a process. */
enum workers_kind { WORKERS_FOR_STRANGERS, WORKERS_FOR_OWN, WORKERS_KINDS };

struct listener {
	struct process	*process;
	struct spool	*spool;
	struct clients	*clients;
	struct workers	*workers[WORKERS_KINDS];
	struct keys	*keys;		/* NULL: no certificates */
	struct auth_process *auth;	/* NULL: no passwords */
	struct failures	*failures;	/* of logins */
	struct space_shared *space;	/* promised to clients */
	struct peers	*peers;
	struct arrivals	*arrivals;	/* of proxies */
	struct helpers	*helpers;
	struct hearing	*hearing;	/* of other machines */
	struct local_mail *local;	/* NULL: no milter sees sendmail(1) */
	struct bound_socket	*sockets;
	bool		 is_paused;
	bool		 is_leaving;	/* a successor takes what comes */
	struct timer	 pause_timer, stop_timer, leave_timer;
	struct policy	*policy;	/* who is known */
	int		 pressure;	/* as last told: enum shed_level */
};

/* A connection waits at this listener: the loop's call. */
void listener_on_connection(void *context, unsigned ready);
/* At most so many of those that wait, and no more than workers have room for.
 */
void listener_accept(struct bound_socket *bound, unsigned most);

/* What a proxy told of: admit it as if it had come itself (arrivals_fn). */
void listener_on_arrival(void *context, const char *bound_to, int fd,
    const struct sockaddr *address);

/* Look at the listeners while there is somebody to give connections to. */
void listener_watch_sockets(struct listener *listener);

/* The number of sessions changed: tell the workers when that makes another
 * level (shed.h). */
void listener_weigh(struct listener *listener);

#endif

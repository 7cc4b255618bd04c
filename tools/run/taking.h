/* taking.h - all daemons take a new configuration, or none; internal to
 * tools/run
 *
 * At SIGHUP the file is checked, its listeners are bound, and the snapshot is
 * written.  If smtpserver needs a start for it, its successor is started first;
 * when that is ready, the others are told.  If it does not become ready, or one
 * of the others refuses, the old snapshot and sockets are restored, and daemons
 * that were told return to them.  Then the state file tells those who wait for
 * the reload.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_TAKING_H
#define ZM_TOOLS_RUN_TAKING_H

#include "mail/spool/spool.h"
#include "tools/run/beside/beside.h"
#include "tools/run/supervised.h"
#include "tools/run/upgrading.h"
#include "tools/run/watchdog.h"

enum { CHILD_COUNT = 3 };
enum { CHILD_ROUTER, CHILD_SCHEDULER };	/* the places of two of them */

struct supervisor {
	struct conf	*conf;		/* in force */
	struct conf	*fresh;		/* being taken over; NULL: none */
	unsigned	 conf_number;	/* of the one in force */
	unsigned	 written;	/* of the one in the snapshot */
	const char	*conf_path;	/* the file; only we read it */
	char		 snapshot_path[4200];	/* what all others read */
	struct loop	*loop;
	struct supervised	 children[CHILD_COUNT];
	struct program	 program;	/* that this process was started from */
	int		 ready_fd;
	int		 lock_fd;	/* RUN/zmailer.lock */
	int		 room_fds[SPOOL_ROOM_COUNT];	/* of the spool */
	int		 status;	/* to exit with */
	int64_t		 since_s;
	unsigned	 reloads;
	struct given	 given;		/* by the service manager */
	struct run_listeners	 control;	/* the scheduler's, which the
						 * service manager has */
	struct run_listeners	 listeners;
	struct run_listeners	 listeners_before;	/* while another
							 * smtpserver starts */
	struct timer	 take_timer;
	struct timer	 names_timer;
	bool		 are_names_late;	/* ready without them */
	char		 refused[ERR_TEXT_BYTES];
	bool		 is_partial;	/* refused by some only */
	bool		 was_ready;	/* all three, once */
	bool		 is_stopping;
	bool		 is_taking;	/* a new configuration: not every
					 * daemon has answered */
	bool		 is_first;	/* only smtpserver's successor knows
					 * of it */
	bool		 has_sockets;	/* it came with such a successor */
	bool		 is_going_back;	/* it is the old one again */
	bool		 owes_reload;	/* a SIGHUP came meanwhile */
	struct upgrade	 upgrade;
	struct watchdog	 watchdog;	/* of the service manager */
	struct beside	 beside;
};

/* SIGHUP: read the file and have it taken; if another is being taken, after
 * that. */
void taking_on_hangup(void *context);
/* Daemons have answered: do the next step. */
void taking_advance(struct supervisor *boss);
/* A daemon ended: note whether it fails to start with the new configuration. */
void taking_note_end(struct supervisor *boss, const struct supervised *child,
    int status);
/* A daemon is ready; called before its predecessors are told to leave. */
void taking_on_ready(struct supervised *child);

/* Keep a configuration that is in force for `zmailer config undo`. */
void supervisor_version_keep(const struct conf *conf, const char *verb);
/* Report sockets of the service manager that nobody uses. */
void supervisor_unused_say(const struct supervisor *boss);
/* Initialize the daemons, which do not run yet, with the loop, the locks and
 * the sockets. */
void supervisor_children_prepare(struct supervisor *boss);
/* Write the state file. */
void supervisor_state_publish(struct supervisor *boss);

#endif

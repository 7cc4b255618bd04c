/* taking.h - a new configuration, taken by all daemons or by none; internal to
 * tools/run
 *
 * SIGHUP: the file is checked, what it listens on is bound, the snapshot is
 * written.  Where smtpserver needs a start for it, its successor is started
 * first; when that is ready, the others are told.  When it does not become
 * ready, or one of the others refuses, snapshot and sockets are those of
 * before again, and who had heard takes them.  Then who waits for the reload
 * is told, by the state file.
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
	char		 refused[ERR_TEXT_BYTES];
	bool		 is_partial;	/* refused by some only */
	bool		 was_ready;	/* all three, once */
	bool		 is_stopping;
	bool		 is_taking;	/* a new configuration: not every
					 * daemon has answered */
	bool		 is_first;	/* only smtpserver's successor has
					 * heard of it */
	bool		 has_sockets;	/* it came with such a successor */
	bool		 is_going_back;	/* it is the one of before, again */
	bool		 owes_reload;	/* a SIGHUP came meanwhile */
	struct upgrade	 upgrade;
	struct watchdog	 watchdog;	/* of the service manager */
	struct beside	 beside;
};

/* SIGHUP: read the file and take it over; later, while another is being
 * taken. */
void taking_on_hangup(void *context);
/* The daemons that have answered bring it a step on. */
void taking_advance(struct supervisor *boss);
/* A daemon ended; does that mean that it does not start with the new one? */
void taking_note_end(struct supervisor *boss, const struct supervised *child,
    int status);
/* A daemon is ready: before those that it succeeds are told to leave. */
void taking_on_ready(struct supervised *child);

/* Keep a configuration that is in force for `zmailer config undo`. */
void supervisor_version_keep(const struct conf *conf, const char *verb);
/* Words for sockets of the service manager that nobody wants. */
void supervisor_unused_say(const struct supervisor *boss);
/* Daemons that do not run yet, with the loop, the locks and the sockets that
 * there are. */
void supervisor_children_prepare(struct supervisor *boss);
/* Write the state file. */
void supervisor_state_publish(struct supervisor *boss);

#endif

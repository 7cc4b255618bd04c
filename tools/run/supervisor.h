/* supervisor.h - zmailer run: three daemons, kept alive
 *
 * Life cycle: directories, the spool's lock, then router (which recovers
 * what is not routed before it says ready), scheduler, smtpserver, one after
 * the other.  When the router has looked at the names of routed messages, too,
 * the scheduler is told, and begins to read them (doc/INTERNALS section 3);
 * where that takes long the instance is ready before.  From then on a child
 * that ends is started again after 100 ms, doubling to 30 s.  SIGTERM stops
 * smtpserver, router, scheduler, in this order.  SIGHUP checks the
 * configuration, keeps it as RUN/zmailer.snapshot (snapshot/snapshot.h), which
 * the daemons read, and hands the signal on: all daemons take it, or none.
 * RUN/zmailer.pid and RUN/zmailer.state tell tools what there is.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_SUPERVISOR_H
#define ZM_TOOLS_RUN_SUPERVISOR_H

#include <sys/types.h>

#include "base/err.h"
#include "conf/conf.h"
#include "tools/run/program.h"

enum {
	RESTART_FIRST_MS = 100,
	RESTART_LAST_MS = 30000,	/* after running as long, from the
					 * first again */
	STOP_FOR_MS = 30000,		/* then SIGKILL */
	LOCK_FOR_MS = 15000		/* for daemons of a killed instance */
};

/* Run in the foreground until stopped.  conf is owned from now on, and was read
 * by its absolute path conf_path (NULL: the default), which is read again on
 * SIGHUP.  ready_fd: gets one byte "R" when all three are ready, and is closed;
 * -1: none.
 * returns the exit status: 0 stopped; 75 another instance has the spool;
 * 69 (or the daemon's own) a daemon did not become ready. */
int supervisor_run(struct conf *conf, const char *conf_path, int ready_fd);

/* Replace an older program, in its process: fd has the record of what that held
 * (handover.h); conf_path as above.  is_trial: only say on standard error
 * whether this program could.
 * returns the exit status */
int supervisor_take_over(const char *conf_path, int fd, bool is_trial);

/* Make missing directories of spool, run and log; as root give each its owner,
 * group and mode of doc/INTERNALS section 6.  0 or -1. */
int dirs_prepare(const struct conf *conf, struct err *err);
/* Make the directory of messages that are kept for zmailer replay, with those
 * of the next days, if the configuration wants it.  0 or -1. */
int dirs_prepare_record(const struct conf *conf, struct err *err);
/* Make the directory where the process sts keeps policies, with its owner and
 * mode.  0 or -1. */
int dirs_prepare_sts(const struct conf *conf, struct err *err);

/* The same for the process resolver, which keeps keys of the root there. */
int dirs_prepare_resolver(const struct conf *conf, struct err *err);
int dirs_prepare_notify(const struct conf *conf, struct err *err);

/* Check the same directories without changing them: say is called for each that
 * is missing, has another owner, or is more open than section 6 allows.
 * Returns how many. */
typedef void dirs_say_fn(void *context, const char *path, const char *what);
unsigned dirs_check(const struct conf *conf, dirs_say_fn *say,
    void *context);

/* Tell a service manager (sd_notify(3): a datagram to $NOTIFY_SOCKET) text such
 * as "READY=1"; does nothing if there is none. */
void manager_tell(const char *text);

/* When ZMAILER_LIBEXEC is not set and this program was run from a build or
 * a relocated tree, set it to that tree's libexec/zmailer. */
void libexec_settle(void);

/* ---- RUN/zmailer.state: what the supervisor knows, for tools ---------- */

enum { STATE_CHILDREN_MAX = 8 };

struct state_child {
	char		name[32];
	char		state[16];	/* "ready", "starting", "down", ... */
	pid_t		pid;		/* 0: none */
	int64_t		since_s;	/* wall clock */
	unsigned	restarts;
	unsigned	conf;		/* number of the configuration that it
					 * has */
	unsigned	before;		/* older processes, which finish what
					 * they have */
	struct program	program;	/* what was started */
};

struct state {
	pid_t		pid;		/* the supervisor */
	char		version[32];
	struct program	program;	/* what was started */
	int64_t		since_s;
	unsigned	reloads;	/* SIGHUPs taken */
	unsigned	conf;		/* number of the configuration in
					 * force: 1 is that of the start */
	char		refused[512];	/* why the last one was refused */
	bool		is_partial;	/* it was taken over, but not by all;
					 * refused says which did not */
	unsigned	handover;	/* version of the record by which it
					 * hands over to another program; 0:
					 * it cannot */
	unsigned	upgrades;	/* SIGUSR2s answered */
	bool		is_upgrading;	/* one is not done yet */
	char		not_upgraded[512];	/* why the last one was not
						 * done, or only in part */
	char		unused[512];	/* sockets of the service manager
					 * that no listener has */
	char		listeners[4096];	/* their addresses, each
					 * between blanks */
	struct state_child children[STATE_CHILDREN_MAX];
	size_t		child_count;
};

/* RUN/zmailer.pid: the caller's pid, for older service managers.  0 or -1. */
int state_write_pid(const char *run_dir, struct err *err);
/* Replace the file by rename.  0 or -1. */
int state_write(const char *run_dir, const struct state *state,
    struct err *err);
/* STATE_NONE: there is no such file; STATE_BAD: unreadable or malformed. */
enum state_found { STATE_BAD = -1, STATE_NONE, STATE_READ };
enum state_found state_read(const char *run_dir, struct state *out,
    struct err *err);
/* Remove it, and the pid file. */
void state_remove(const char *run_dir);

/* running.c: stop the process that has the spool's lock, and wait for its end.
 * returns an exit status, after words about it */
int running_stop(struct conf *conf);
/* Restart it by systemd, if it is what a unit has started: then its sandbox and
 * what watches it stay.  false: it is not, and nothing was done. */
bool running_restart_unit(const struct conf *conf, int *out_status);
/* Add a warning for each listener of conf that is neither free nor used by the
 * running instance; none if that cannot be known. */
void running_check_listeners(const struct conf *conf, struct arena *arena,
    struct conf_report *report);
/* The second level of a check: are the files that conf names there and good?
 * returns EX_OK, or EX_CONFIG after words about each fault. */
int running_check_files(const struct conf *conf);
/* Before the running instance is stopped for a new start with conf: are its
 * files there, and could it get its listeners?  returns an exit status, after
 * words about it */
int running_check_restart(const struct conf *conf);
/* Have the running instance hand over to the installed programs; is_check: only
 * say whether it would.  is_again: even if they are the same.
 * returns an exit status, after words about it */
int running_upgrade(const char *conf_path, bool is_check, bool is_again);
/* Check the configuration, and have the running instance load it.
 * returns an exit status, after words about it */
int running_reload(const char *conf_path);

#endif

/* skeleton.h - the steps of every daemon from its start to its loop
 *
 * arguments -> configuration -> privileged opens -> launcher (if wanted)
 * -> drop to the role's account -> after_drop -> "ready" byte to the
 * supervisor -> loop.
 * If it is not started as root, the steps about accounts are skipped, and the
 * whole instance runs as that user.
 *
 * Arguments every daemon takes: -C FILE, --version, --help.
 * If ZMAILER_LIFELINE=N is in the environment, descriptor N is a socket to the
 * supervisor.  A daemon sends one byte: "R" when it is ready, "T" when a reload
 * was taken over, "F" when it was refused; the router "N" when it has looked at
 * the names of routed messages (doc/INTERNALS section 3), which the supervisor
 * hands on to the scheduler.  "L" from the supervisor means that a successor is
 * ready: leave (the daemon sends "L" when it takes nothing new any more); end
 * of file means that the supervisor is gone: stop in good order.
 * Descriptor N + 1 is the instance's lock, N + 2 the lock of the role's room
 * (mail/spool/spool.h); daemons and their workers keep both open.  From 3 to
 * N - 1 there may be listening sockets (given.h).
 * A daemon that was given no lock locks its room itself, and exits 75 when
 * another one has it.
 * SIGTERM, SIGINT: stop; the second one: at once.  SIGHUP: reload; a bad file,
 * or one that changes what only a restart can change (directories, hash,
 * sync, accounts), is refused (event conf.refused) and the old one stays.
 * SIGPIPE is ignored; umask is 007; descriptors up to the hard limit.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_SKELETON_H
#define ZM_DAEMON_SKELETON_H

#include <sys/queue.h>
#include <sys/types.h>

#include "base/err.h"
#include "conf/conf.h"
#include "io/loop.h"

enum { LIFELINE_FDS = 3 };	/* N, N + 1, N + 2 */

struct process {
	const struct daemon	*daemon;
	struct conf		*conf;		/* current; swapped on reload */
	const char		*conf_path;	/* where conf is read: the
						 * supervisor's snapshot, or
						 * a file */
	struct loop		*loop;		/* from after_drop on */
	void			*state;		/* the daemon's own */
	bool			 is_stopping;
	bool			 was_root;
	LIST_HEAD(child_list, child) children;	/* child.h */
	int			 lifeline;	/* skeleton.c's own; -1: none */
	int			 room_fd;	/* as lifeline */
	int			 beside_fd;	/* a socket that was given for
						 * beside_open; 0: none */
	struct watch		*lifeline_watch;
	struct timer		 domains_timer;	/* domain <table> */
	char			 domains_refused[ERR_TEXT_BYTES];
};

struct daemon {
	const char	*name;		/* "router": in events and ps */
	const char	*purpose;	/* one line for --help */
	const char	*started;	/* when zmailer run starts it, for
					 * --help; NULL: with the others */
	enum conf_role	 role;
	bool		 wants_launcher;	/* the scheduler */
	/* Each returns 0 or -1 with err; any may be NULL. */
	int	(*open_privileged)(struct process *process, struct err *err);
	int	(*after_drop)(struct process *process, struct err *err);
	/* The router has looked at the names of routed messages; at once where
	 * there is no supervisor.  NULL: it does not matter here. */
	void	(*names_read)(struct process *process);
	/* The configuration was replaced; old is freed after the call. */
	void	(*reload)(struct process *process, const struct conf *old);
	/* Finish what cannot be interrupted, then call loop_stop.  NULL: stop
	 * at once. */
	void	(*stop)(struct process *process);
	/* A successor takes what comes from now on: finish what there is,
	 * however long it takes, then call loop_stop.  NULL: stop. */
	void	(*leave)(struct process *process);
	/* A service beside a daemon that wants_launcher, which the launcher
	 * starts on request.  beside_open is called as root, with the
	 * configuration as it is then (and beside_fd, which stays the
	 * process's); the service listens on *out_fd.  beside_run is the
	 * service, in a process of its own; socket came with the request.  It
	 * drops its rights itself and does not return. */
	int	(*beside_open)(const struct process *process, int *out_fd,
		    struct err *err);
	void	(*beside_run)(struct process *process, int fd, int socket)
		    __attribute__((noreturn));
};

/* Run the daemon.  returns its exit status: 0 stopped in good order, 64 usage,
 * 75 the spool has a daemon of its role already, 78 bad configuration, 111 the
 * environment failed */
int daemon_run(int argc, char **argv, const struct daemon *daemon);

/* The router: tell the supervisor that names_read is true. */
void daemon_say_names_read(struct process *process);

/* Read -C FILE into process->conf_path; answer --version and --help.
 * returns -1 to continue, else the exit status */
int daemon_arguments(int argc, char **argv, struct process *process);

/* Fork a worker of this daemon, connected by a stream socket pair; it dies
 * with its parent (end of file on the socket must end it, too).
 * returns its pid in the parent; 0 in the child, which has forgotten the
 * parent's loop: *process has a new loop, signals are as at the start, and
 * err_program is name; -1 with err */
pid_t daemon_fork(struct process *process, const char *name,
    int *out_socket, struct err *err);

/* Become the account of role (setgroups, setresgid, setresuid, with a check
 * that there is no way back; exec gives no new privileges).  Does nothing when
 * not root.  The account is a user name or a decimal uid, never 0; or "-": keep
 * the present one (a private instance that root runs: demo, tests).  Groups, by
 * doc/INTERNALS section 6: its own and the agents' (who own the journal);
 * router and scheduler also smtpserver's, the scheduler also router's.
 * 0 or -1. */
int daemon_drop(const struct conf *conf, enum conf_role role,
    struct err *err);

/* To be called before a process reads keys or passwords: it will leave no core
 * file and, unless is_root says that it stays root, gets the account of its
 * daemon (daemon_drop).  It may still open any file for reading, if the system
 * can do that (Linux), and no process of the same account can inspect or trace
 * it.  A failure is fatal. */
void daemon_keep_secrets(const struct process *process, bool is_root);

/* uid and primary group of a role's account.  0 or -1: no such account. */
int daemon_account(const struct conf *conf, enum conf_role role,
    uid_t *out_uid, gid_t *out_gid, struct err *err);
/* Give the socket at path, whose mode is 0660, to smtpserver's group, which
 * may then connect.  Needs root; a failure is a warning. */
void daemon_share_socket(const struct process *process, const char *path);

/* Does the whole instance run as one user, who is not root, or is root with all
 * accounts "-"? */
bool daemon_is_private(const struct conf *conf);

/* What in fresh cannot be taken over by a reload: a text such as "spool
 * changed"; NULL: all of it can. */
const char *daemon_restart_reason(const struct conf *old,
    const struct conf *fresh);

/* Can only a new smtpserver take fresh over, because something that it sets up
 * before it drops its rights is missing or differs?  It then replaces the
 * running one. */
bool daemon_wants_successor(const struct conf *old,
    const struct conf *fresh);

/* Write the first error of a report to out, as "file:line: text". */
void daemon_report_line(const struct conf_report *report, char *out,
    size_t size);

/* ---- launcher: the only part that keeps root ------------------------ */

/* Forked before the drop by a daemon that wants_launcher.  It starts
 * transport agents, from the installed directory only (or the schedule
 * clause's command, which it reads from the configuration itself, never
 * from the request), under the account the agent needs: "mailbox" and
 * "pipe" as root (they become the recipient), all others as ROLE_AGENT.
 *
 * Ask for an agent of the schedule clause number clause (index in
 * conf->schedules) for channel; it gets `socket` (which stays the caller's)
 * as stdin and stdout.  The exit notice has the token, and pid 0 if the agent
 * could not even be started.  0 or -1. */
int launcher_start_agent(unsigned clause, const char *channel, int socket,
    unsigned token, struct err *err);

/* Kill the agent that was started with token, and what it started; its
 * exit notice follows.  Does nothing if it has ended.  0 or -1. */
int launcher_kill_agent(unsigned token, struct err *err);

/* Start the service beside this daemon; it gets `socket` (which stays the
 * caller's).  Its notices have the token LAUNCHER_BESIDE, and pid 0 if it could
 * not be started.  Only one may run at a time.  0 or -1. */
enum { LAUNCHER_BESIDE = 0 };
int launcher_start_beside(int socket, struct err *err);

/* Called in the loop when an agent ended.  status as waitpid gives it. */
typedef void launcher_exit_fn(void *context, unsigned token, pid_t pid,
    int status);
void launcher_on_exit(struct process *process, launcher_exit_fn *fn,
    void *context);

/* Called in the loop when an agent was started: its pid is known. */
typedef void launcher_begin_fn(void *context, unsigned token, pid_t pid);
void launcher_on_begin(struct process *process, launcher_begin_fn *fn,
    void *context);

/* Path of a program: "router", "ta/smtp".  Below ZMAILER_LIBEXEC from the
 * environment (build tree, tests), else in the installed directory. */
void daemon_libexec(const char *program, char *out_path, size_t size);

#endif

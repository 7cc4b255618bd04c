/* skeleton.h - the ladder that every daemon climbs, written once
 *
 * arguments -> configuration -> privileged opens -> launcher (if wanted)
 * -> drop to the role's account -> after_drop -> "ready" byte to the
 * supervisor -> loop.
 * Started as anybody but root the account steps are skipped and the whole
 * instance runs as that user.
 *
 * Arguments every daemon takes: -C FILE, --version, --help.
 * Descriptor N, when ZMAILER_LIFELINE=N is in the environment, is a socket
 * to the supervisor: one byte "R" is sent when ready, "T" when a reload was
 * taken over, "F" when it was refused; "L" from there means that a successor
 * is ready: leave (answered by "L" when nothing new is taken any more); end
 * of file there means that the supervisor is gone: stop in good order.
 * Descriptor N + 1 is the instance's lock, N + 2 the lock of the role's room
 * (mail/spool/spool.h), both held open by daemons and their workers.  From 3
 * to N - 1 there may be listening sockets (given.h).
 * A daemon that was given no lock takes its room's itself, and exits 75 when
 * another one has it.
 * SIGTERM, SIGINT: stop; once more: at once.  SIGHUP: reload; a bad file,
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
	int			 beside_fd;	/* a socket that somebody gave
						 * for beside_open; 0: none */
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
	/* The configuration was replaced; old is freed after the call. */
	void	(*reload)(struct process *process, const struct conf *old);
	/* Finish what cannot be put down, then call loop_stop.  NULL: at
	 * once. */
	void	(*stop)(struct process *process);
	/* A successor takes what comes from now on: finish what there is, for
	 * as long as it takes, then call loop_stop.  NULL: stop. */
	void	(*leave)(struct process *process);
	/* A service beside a daemon that wants_launcher; the launcher starts
	 * it when it is asked to.  beside_open is called as root, with
	 * the configuration as it is then (and beside_fd, which stays the
	 * process's): *out_fd is what the service listens on.  beside_run is
	 * the service, in a process of its own: socket is what came with the
	 * request; it drops its rights itself and does not return. */
	int	(*beside_open)(const struct process *process, int *out_fd,
		    struct err *err);
	void	(*beside_run)(struct process *process, int fd, int socket)
		    __attribute__((noreturn));
};

/* Never returns to do anything but exit: 0 stopped in good order, 64 usage,
 * 75 the spool has one of its role, 78 bad configuration, 111 the environment
 * failed. */
int daemon_run(int argc, char **argv, const struct daemon *daemon);

/* Read -C FILE into process->conf_path; answer --version and --help.
 * returns -1 to go on, else the exit status */
int daemon_arguments(int argc, char **argv, struct process *process);

/* Fork a worker of this daemon, connected by a stream socket pair; dies
 * with its parent (end of file on the socket must end it, too).
 * In the parent returns its pid; in the child 0 after everything of the
 * parent's loop was forgotten: *process has a fresh loop, signals as at
 * start, the err name is "name".  -1 with err. */
pid_t daemon_fork(struct process *process, const char *name,
    int *out_socket, struct err *err);

/* Become the account of role (setgroups, setresgid, setresuid, checked that
 * there is no way back, no new privileges by exec); nothing when not root.
 * The account is a user name or a decimal uid, never 0; or "-": stay who
 * you are (a private instance that root runs: demo, tests).  Groups, by
 * doc/INTERNALS section 6: its own and the agents' (who own the journal);
 * router and scheduler also smtpserver's, the scheduler also router's.
 * 0 or -1. */
int daemon_drop(const struct conf *conf, enum conf_role role,
    struct err *err);

/* Before a process reads keys or passwords: no core file of it, and, unless
 * is_root says that it goes on as root, daemon_drop to the account of its
 * daemon.  It may still open any file for reading, where the system can do
 * that (Linux), and none of the same account can look into it or trace it.
 * What fails is fatal. */
void daemon_keep_secrets(const struct process *process, bool is_root);

/* uid and primary group of a role's account.  0 or -1: no such account. */
int daemon_account(const struct conf *conf, enum conf_role role,
    uid_t *out_uid, gid_t *out_gid, struct err *err);
/* Give the socket at path, whose mode is 0660, to smtpserver's group, which
 * then may connect.  Started as root; a warning says when that fails. */
void daemon_share_socket(const struct process *process, const char *path);

/* All runs as one user: not root, or root whose accounts are all "-". */
bool daemon_is_private(const struct conf *conf);

/* What in fresh cannot be taken over by a reload: a text such as "spool
 * changed", or NULL: it can. */
const char *daemon_restart_reason(const struct conf *old,
    const struct conf *fresh);

/* Can only a fresh smtpserver take fresh over, because what it sets up
 * before it drops its rights must come or be another?  It then takes the
 * place of the one that runs. */
bool daemon_wants_successor(const struct conf *old,
    const struct conf *fresh);

/* First error of a report, as "file:line: text", into out. */
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
 * as stdin and stdout.  token comes back in the exit notice, which has
 * pid 0 when the agent could not even be started.  0 or -1. */
int launcher_start_agent(unsigned clause, const char *channel, int socket,
    unsigned token, struct err *err);

/* Kill the agent that was started with token, and what it started; its
 * exit notice follows.  Nothing when it has ended.  0 or -1. */
int launcher_kill_agent(unsigned token, struct err *err);

/* Start the daemon's service beside it; it gets `socket` (which stays the
 * caller's).  Its notices have the token LAUNCHER_BESIDE, pid 0 when it could
 * not be started.  One at a time.  0 or -1. */
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

/* notify.c - main: the process that posts events to web servers
 *
 * zmailer run starts it when there is a notify: consulted.h has the rest.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "daemon/consulted.h"
#include "daemon/sandbox.h"
#include "daemon/sidecar.h"
#include "io/dns/dns.h"
#include "io/consult/notify_ask.h"
#include "notify/ask/lookers.h"
#include "notify/mark/mark.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200 };

static const struct daemon notify = {
	.name = "notify",
	.purpose = "Posts events to web servers.",
	.started = "when there is a notify; see zmailer.conf(5)",
	.role = ROLE_NOTIFY,
};

/* It has keys: nobody of the same account looks at its memory. */
static void
notify_drop(const struct conf *conf)
{
	struct err err;

	if (daemon_drop(conf, ROLE_NOTIFY, &err) < 0 ||
	    dns_open(1, &err) < 0 || dns_use(conf->dns_server, &err) < 0)
		fatal("%s", err.text);
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Sockets, its directory, the journal, and no more. */
static void
notify_lock_in(const struct conf *conf)
{
	struct sandbox rules = { .sockets = SOCKETS_ALL, .is_parent = true,
	    .may_list = true };
	char path[PATH_BYTES];
	struct err err;

	snprintf(path, sizeof(path), "%s/" NOTIFY_DIR, conf->spool_dir);
	rules.worked[rules.worked_count++] = path;
	rules.readable[rules.readable_count++] = path;
	rules.readable[rules.readable_count++] = conf->log_dir;
	rules.appended[rules.appended_count++] = conf->log_dir;
	(void)clock_steady_ms();
	if (sandbox_enter(&rules, &err) < 0)
		fatal("%s", err.text);
}

int
main(int argc, char **argv)
{
	struct process process;
	struct receivers *receivers;
	struct callers *callers;
	int mark_fd, log_fd, status;
	struct err err;

	status = consulted_begin(&process, &notify, argc, argv);
	if (status >= 0)
		return status;
	receivers = receivers_new(&process);	/* as root: keys */
	notify_drop(process.conf);
	log_fd = open(process.conf->log_dir, O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);
	if (log_fd < 0)
		fatal("%s: %s", process.conf->log_dir, strerror(errno));
	mark_fd = mark_open(process.conf->spool_dir, &err);
	if (mark_fd < 0)
		fatal("%s", err.text);
	mark_sweep(mark_fd, process.conf);
	notify_lock_in(process.conf);
	receivers_start(receivers, log_fd, mark_fd);
	callers = callers_new(&process, &lookers_kind, receivers,
	    SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD);
	loop_run(process.loop);
	callers_free(&callers);
	receivers_free(&receivers);
	close(log_fd);
	close(mark_fd);
	return consulted_end(&process);
}

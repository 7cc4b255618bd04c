/* share.c - main: the process that counts with other machines
 *
 * zmailer run starts it when a cluster has a redis; consulted.h has the
 * rest.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/consulted.h"
#include "daemon/sandbox.h"
#include "daemon/sidecar.h"
#include "share/ask/inquirers.h"

#include "base/banned.h"

static const struct daemon share = {
	.name = "share",
	.purpose = "Counts with the other machines of a cluster.",
	.started = "when a cluster has a redis; see zmailer-cluster(8)",
	.role = ROLE_SHARE,
};

/* Sockets, the journal, and no more.  It has a password: nobody of the same
 * account looks at its memory. */
static void
share_lock_in(const struct conf *conf)
{
	struct sandbox rules = { .sockets = SOCKETS_ALL, .is_parent = true };
	struct err err;

	if (daemon_drop(conf, ROLE_SHARE, &err) < 0)
		fatal("%s", err.text);
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
	rules.appended[rules.appended_count++] = conf->log_dir;
	(void)clock_steady_ms();
	if (sandbox_enter(&rules, &err) < 0)
		fatal("%s", err.text);
}

static char *
share_password(const struct conf *conf)
{
	struct err err;
	char *password;

	if (conf->cluster.password_path == NULL)
		return NULL;
	password = places_password(conf->cluster.password_path, &err);
	if (password == NULL)
		fatal("cluster: password: %s", err.text);
	return password;
}

int
main(int argc, char **argv)
{
	struct process process;
	struct places places;
	struct ledger *ledger;
	struct callers *callers;
	struct err err;
	char *password;
	int status = consulted_begin(&process, &share, argc, argv);

	if (status >= 0)
		return status;
	password = share_password(process.conf);	/* as root */
	if (places_find(&process.conf->cluster, &places, &err) < 0)
		fatal("cluster: redis: %s", err.text);
	share_lock_in(process.conf);
	ledger = ledger_new(&process, &places, password);
	callers = callers_new(&process, &inquirers_kind, ledger,
	    SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD);
	loop_run(process.loop);
	callers_free(&callers);
	ledger_free(&ledger);
	if (password != NULL)
		explicit_bzero(password, strlen(password));
	mem_free(&password);
	return consulted_end(&process);
}

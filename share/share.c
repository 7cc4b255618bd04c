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
#include "tls/client.h"

#include "base/banned.h"

static const struct daemon share = {
	.name = "share",
	.purpose = "Counts with the other machines of a cluster.",
	.started = "when a cluster has a redis; see zmailer-cluster(8)",
	.role = ROLE_SHARE,
};

enum { LOOK_AGAIN_MS = 300000 };	/* counters begin anew then */

/* It has a password: nobody of the same account looks at its memory. */
static void
share_drop(const struct conf *conf)
{
	struct err err;

	if (daemon_drop(conf, ROLE_SHARE, &err) < 0)
		fatal("%s", err.text);
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Sockets, the journal, and no more. */
static void
share_lock_in(const struct conf *conf)
{
	struct sandbox rules = { .sockets = SOCKETS_ALL, .is_parent = true };
	struct err err;

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

static struct tls_client *
share_tls(const struct conf *conf)
{
	const struct tls_client_files files = {
		.roots = conf->cluster.roots,
		.certificate = conf->cluster.certificate,
		.key = conf->cluster.key,
	};
	struct tls_client *client;
	struct err err;

	if (!conf->cluster.is_tls)
		return NULL;
	client = tls_client_new(&files, &err);
	if (client == NULL)
		fatal("cluster: tls: %s", err.text);
	return client;
}

static void
share_on_again(void *context)
{
	struct process *process = context;

	loop_stop(process->loop);
}

/* A name server that does not answer is no reason not to count: this node
 * does alone, and the process that follows this one looks again. */
static void
share_find(struct process *process, struct places *out, struct timer *timer)
{
	struct err err;

	if (places_find(&process->conf->cluster, out, &err) == 0)
		return;
	warning("cluster: redis: %s; limits are counted by this node alone, "
	    "and it is looked up again in %d s", err.text,
	    LOOK_AGAIN_MS / 1000);
	strlcpy(out->at[0].text, "-", sizeof(out->at[0].text));
	timer_set(process->loop, timer, clock_steady_ms() + LOOK_AGAIN_MS,
	    share_on_again, process);
}

int
main(int argc, char **argv)
{
	struct process process;
	struct places places = { .count = 0 };
	struct timer again = { 0 };
	struct ledger *ledger;
	struct callers *callers;
	struct store_goal goal = { .places = &places };
	struct tls_client *tls;
	char *password;
	int status = consulted_begin(&process, &share, argc, argv);

	if (status >= 0)
		return status;
	goal.password = password = share_password(process.conf);  /* as root */
	goal.tls = tls = share_tls(process.conf);
	share_drop(process.conf);
	share_find(&process, &places, &again);
	share_lock_in(process.conf);
	ledger = ledger_new(&process, &goal);
	callers = callers_new(&process, &inquirers_kind, ledger,
	    SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD);
	loop_run(process.loop);
	timer_clear(&again);
	callers_free(&callers);
	ledger_free(&ledger);
	tls_client_free(&tls);
	if (password != NULL)
		explicit_bzero(password, strlen(password));
	mem_free(&password);
	return consulted_end(&process);
}

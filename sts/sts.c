/* sts.c - main: the process that knows the MTA-STS policies of domains
 *
 * zmailer run starts it when a tls-to says sts: consulted.h has the rest.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "daemon/consulted.h"
#include "daemon/sandbox.h"
#include "daemon/sidecar.h"
#include "io/dns/dns.h"
#include "io/consult/sts_ask.h"
#include "sts/ask/askers.h"
#include "sts/known/shelf.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200 };

static const struct daemon sts = {
	.name = "sts",
	.purpose = "Fetches and keeps MTA-STS policies.",
	.started = "when a tls-to says sts; see zmailer-sts(8)",
	.role = ROLE_STS,
};

/* Sockets, its directory, the journal, and no more.  What is kept can be
 * missed; who locks nothing in is not to be started. */
static int
sts_lock_in(const struct conf *conf)
{
	struct sandbox rules = { .sockets = SOCKETS_ALL, .is_parent = true };
	char path[PATH_BYTES];
	struct err err;
	int shelf;

	if (daemon_drop(conf, ROLE_STS, &err) < 0 || dns_open(1, &err) < 0)
		fatal("%s", err.text);
	shelf = shelf_open(conf->spool_dir, &err);
	if (shelf < 0)
		warning("policies are not kept for the next start: %s",
		    err.text);
	snprintf(path, sizeof(path), "%s/" STS_DIR, conf->spool_dir);
	rules.worked[rules.worked_count++] = path;
	rules.readable[rules.readable_count++] = path;
	rules.may_list = true;
	rules.appended[rules.appended_count++] = conf->log_dir;
	(void)clock_steady_ms();
	if (sandbox_enter(&rules, &err) < 0)
		fatal("%s", err.text);
	return shelf;
}

static struct tls_client *
sts_roots(const struct conf *conf)
{
	const struct tls_client_files files = { .roots = conf->sts.roots };
	struct err err;
	struct tls_client *tls = tls_client_new(&files, &err);

	if (tls == NULL)
		fatal("sts ca: %s", err.text);
	return tls;
}

static void
sts_serve(struct process *process)
{
	struct tls_client *tls = sts_roots(process->conf);
	int shelf = sts_lock_in(process->conf);
	struct known *known = known_new(process, shelf, tls);
	struct callers *callers = callers_new(process, &askers_kind, known,
	    SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD);

	loop_run(process->loop);
	callers_free(&callers);
	known_free(&known);
	tls_client_free(&tls);
}

int
main(int argc, char **argv)
{
	struct process process;
	struct err err;
	int status = consulted_begin(&process, &sts, argc, argv);

	if (status >= 0)
		return status;
	if (dns_use(process.conf->dns_server, &err) < 0)
		fatal("%s", err.text);
	sts_serve(&process);
	return consulted_end(&process);
}

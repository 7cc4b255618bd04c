/* sts.c - main: the process that knows the MTA-STS policies of domains
 *
 * zmailer run starts it when a tls-to says sts: descriptor 3 is the socket
 * that it answers at, 4 ends with who started it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/title.h"
#include "daemon/sandbox.h"
#include "io/dns/dns.h"
#include "io/sts_ask.h"
#include "journal/event.h"
#include "sts/ask/askers.h"
#include "sts/known/shelf.h"

#include "base/banned.h"

enum { SOCKET_FD = 3, LIFELINE_FD = 4, PATH_BYTES = 4200 };

static const struct daemon sts = {
	.name = "sts",
	.purpose = "Fetches and keeps MTA-STS policies.",
	.role = ROLE_STS,
};

static int
sts_usage(FILE *out, int status)
{
	fputs("usage: sts -C FILE\n\nzmailer run starts it when a tls-to says "
	    "sts; see zmailer-sts(8).\n", out);
	return status;
}

static struct conf *
sts_conf(const char *path)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf = conf_load(path, arena, &report);
	char words[ERR_TEXT_BYTES];

	if (conf == NULL) {
		daemon_report_line(&report, words, sizeof(words));
		fatal("%s", words);
	}
	arena_free(&arena);
	return conf;
}

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
	struct askers *askers = askers_new(process, known, SOCKET_FD,
	    LIFELINE_FD);

	loop_run(process->loop);
	askers_free(&askers);
	known_free(&known);
	tls_client_free(&tls);
}

int
main(int argc, char **argv)
{
	struct process process = { .daemon = &sts, .lifeline = -1,
	    .room_fd = -1 };
	struct err err;

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return printf("zmailer sts %s\n", PACKAGE_VERSION) < 0;
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return sts_usage(stdout, EX_OK);
	if (argc != 3 || strcmp(argv[1], "-C") != 0)
		return sts_usage(stderr, EX_USAGE);
	err_program("sts");
	title_open(argc, argv);
	title_set("sts");
	process.conf = sts_conf(argv[2]);
	process.conf_path = argv[2];
	if (event_open(process.conf->log_dir) < 0)
		fatal("%s: %s", process.conf->log_dir, strerror(errno));
	if (dns_use(process.conf->dns_server, &err) < 0)
		fatal("%s", err.text);
	LIST_INIT(&process.children);
	process.loop = loop_new();
	sts_serve(&process);
	event_flush();
	loop_free(&process.loop);
	conf_free(&process.conf);
	return EX_OK;
}

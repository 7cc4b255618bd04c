/* tables.c - main: the process that asks databases
 *
 * zmailer run starts it when a table is in a database: descriptor 3 is the
 * socket that it answers at, 4 ends with who started it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/mem.h"
#include "base/fd.h"
#include "base/title.h"
#include "journal/event.h"
#include "tables/ask/server.h"

#include "base/banned.h"

enum { SOCKET_FD = 3, LIFELINE_FD = 4 };

static const struct daemon tables = {
	.name = "tables",
	.purpose = "Asks databases for the others.",
	.role = ROLE_TABLES,
};

static int
tables_usage(FILE *out, int status)
{
	fputs("usage: tables -C FILE\n\nzmailer run starts it when a table "
	    "is in a database; see zmailer-table(8).\n", out);
	return status;
}

static struct conf *
tables_conf(const char *path)
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

/* Passwords are in memory: nobody of the same account looks at it. */
static void
tables_drop(const struct conf *conf)
{
	struct err err;

	if (daemon_drop(conf, ROLE_TABLES, &err) < 0)
		fatal("%s", err.text);
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

int
main(int argc, char **argv)
{
	struct process process = { .daemon = &tables, .lifeline = -1,
	    .room_fd = -1 };
	struct server *server;

	fd_claim_standard();
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return printf("zmailer tables %s\n", PACKAGE_VERSION) < 0;
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return tables_usage(stdout, EX_OK);
	if (argc != 3 || strcmp(argv[1], "-C") != 0)
		return tables_usage(stderr, EX_USAGE);
	err_program("tables");
	title_open(argc, argv);
	title_set("tables");
	process.conf = tables_conf(argv[2]);
	process.conf_path = argv[2];
	if (event_open(process.conf->log_dir) < 0)
		fatal("%s: %s", process.conf->log_dir, strerror(errno));
	LIST_INIT(&process.children);
	process.loop = loop_new();
	server = server_new(&process);	/* reads what only root may */
	tables_drop(process.conf);
	server_listen(server, SOCKET_FD, LIFELINE_FD);
	loop_run(process.loop);
	server_free(&server);
	event_flush();
	loop_free(&process.loop);
	conf_free(&process.conf);
	return EX_OK;
}

/* tables.c - main: the process that asks databases
 *
 * zmailer run starts it when a table is in a database; consulted.h
 * has the rest.
 *
 * SPDX-License-Identifier: ISC
 */
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif
#include <string.h>

#include "daemon/consulted.h"
#include "daemon/sidecar.h"
#include "tables/ask/server.h"
#include "tables/ask/worker.h"

#include "base/banned.h"

static const struct daemon tables = {
	.name = "tables",
	.purpose = "Asks databases for the others.",
	.started = "when a table is in a database; see zmailer-table(8)",
	.role = ROLE_TABLES,
};

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
	struct process process;
	struct server *server;
	int status;

	if (argc == 3 && strcmp(argv[1], "one") == 0)
		return worker_one(argv[2]);
	status = consulted_begin(&process, &tables, argc, argv);
	if (status >= 0)
		return status;
	server = server_new(&process);	/* reads what only root may */
	tables_drop(process.conf);
	server_listen(server, SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD);
	loop_run(process.loop);
	server_free(&server);
	return consulted_end(&process);
}

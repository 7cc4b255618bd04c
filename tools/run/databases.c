/* databases.c - the process that asks databases: started, replaced, ended
 *
 * In     the configuration in force
 * Out    a process; after its end another one
 * Holds  the listening socket
 * Spec   databases.h, daemon/sidecar.h, tables/ask/server.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/skeleton.h"
#include "io/unix_socket.h"
#include "mail/table/table.h"
#include "tools/run/databases.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200 };

/* Those who may ask have smtpserver's group. */
static void
databases_share(const struct databases *databases, const char *path)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (daemon_is_private(*databases->conf))
		return;
	if (daemon_account(*databases->conf, ROLE_SMTPSERVER, &uid, &gid,
	    &err) < 0 || chown(path, (uid_t)-1, gid) < 0)
		warning("who asks databases may not be able to, at %s", path);
}

static bool
databases_listen(struct databases *databases)
{
	char path[PATH_BYTES];
	struct err err;

	if (databases->sidecar.socket >= 0)
		return true;
	snprintf(path, sizeof(path), "%s/" TABLES_SOCKET,
	    (*databases->conf)->run_dir);
	databases->sidecar.socket = unix_socket_listen(path, 0660, &err);
	if (databases->sidecar.socket < 0)
		warning("%s", err.text);
	else
		databases_share(databases, path);
	return databases->sidecar.socket >= 0;
}

/* ---- the process -------------------------------------------------------- */

static bool
databases_is_wanted(void *context)
{
	struct databases *databases = context;

	return conf_asks_databases(*databases->conf) &&
	    databases_listen(databases);
}

static void
databases_run(void *context)
{
	const struct databases *databases = context;
	char path[PATH_BYTES];

	(void)signal(SIGPIPE, SIG_IGN);
	daemon_libexec("tables", path, sizeof(path));
	execl(path, path, "-C", databases->conf_path, (char *)NULL);
	fatal("cannot start %s: %s", path, strerror(errno));
}

static const struct sidecar_kind databases_kind = {
	.name = "tables", .is_wanted = databases_is_wanted,
	.run = databases_run,
};

void
databases_start(struct databases *databases, struct loop *loop,
    struct conf *const *conf, const char *conf_path)
{
	*databases = (struct databases){ .conf = conf,
	    .conf_path = conf_path };
	sidecar_init(&databases->sidecar, &databases_kind, loop, databases);
	sidecar_begin(&databases->sidecar);
}

void
databases_reload(struct databases *databases)
{
	sidecar_replace(&databases->sidecar);
}

bool
databases_stop(struct databases *databases, loop_fn *ended_fn, void *context)
{
	return sidecar_end(&databases->sidecar, DATABASES_END_MS, ended_fn,
	    context);
}

void
databases_ended(struct databases *databases, pid_t pid)
{
	sidecar_ended(&databases->sidecar, pid);
}

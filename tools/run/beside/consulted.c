/* consulted.c - processes that daemons consult: started, replaced, ended
 *
 * In     the configuration in force
 * Out    a process; after its end another one
 * Holds  the listening socket
 * Spec   consulted.h, daemon/sidecar.h, tables/ask/server.h, sts/ask/askers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/skeleton.h"
#include "io/share_ask.h"
#include "io/sts_ask.h"
#include "io/unix_socket.h"
#include "mail/table/table.h"
#include "tools/run/beside/consulted.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200 };

const struct consulted_kind consulted_tables = {
	.program = "tables", .socket = TABLES_SOCKET,
	.askers = ROLE_SMTPSERVER, .is_wanted = conf_asks_databases,
};

const struct consulted_kind consulted_sts = {
	.program = "sts", .socket = STS_SOCKET, .askers = ROLE_AGENT,
	.is_wanted = conf_asks_sts, .prepare = dirs_prepare_sts,
};

const struct consulted_kind consulted_share = {
	.program = "share", .socket = SHARE_SOCKET,
	.askers = ROLE_SMTPSERVER, .is_wanted = conf_asks_share,
};

/* Those who may ask have one group. */
static void
consulted_admit(const struct consulted *consulted, const char *path)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (daemon_is_private(*consulted->conf))
		return;
	if (daemon_account(*consulted->conf, consulted->kind->askers,
	    &uid, &gid, &err) < 0 || chown(path, (uid_t)-1, gid) < 0)
		warning("who asks %s may not be able to, at %s",
		    consulted->kind->program, path);
}

static bool
consulted_listen(struct consulted *consulted)
{
	char path[PATH_BYTES];
	struct err err;

	if (consulted->sidecar.socket >= 0)
		return true;
	snprintf(path, sizeof(path), "%s/%s", (*consulted->conf)->run_dir,
	    consulted->kind->socket);
	consulted->sidecar.socket = unix_socket_listen(path, 0660, &err);
	if (consulted->sidecar.socket < 0)
		warning("%s", err.text);
	else
		consulted_admit(consulted, path);
	return consulted->sidecar.socket >= 0;
}

/* ---- the process -------------------------------------------------------- */

static bool
consulted_is_wanted(void *context)
{
	struct consulted *consulted = context;
	struct err err;

	if (!consulted->kind->is_wanted(*consulted->conf) ||
	    !consulted_listen(consulted))
		return false;
	if (consulted->kind->prepare != NULL &&
	    consulted->kind->prepare(*consulted->conf, &err) < 0)
		warning("%s", err.text);
	return true;
}

static void
consulted_run(void *context)
{
	const struct consulted *consulted = context;
	char path[PATH_BYTES];

	(void)signal(SIGPIPE, SIG_IGN);
	daemon_libexec(consulted->kind->program, path, sizeof(path));
	execl(path, path, "-C", consulted->conf_path, (char *)NULL);
	fatal("cannot start %s: %s", path, strerror(errno));
}

static void
consulted_init(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path)
{
	*consulted = (struct consulted){ .kind = kind, .conf = conf,
	    .conf_path = conf_path,
	    .how = { .name = kind->program, .is_wanted = consulted_is_wanted,
		.run = consulted_run } };
	sidecar_init(&consulted->sidecar, &consulted->how, loop, consulted);
}

void
consulted_start(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path)
{
	consulted_init(consulted, kind, loop, conf, conf_path);
	sidecar_begin(&consulted->sidecar);
}

void
consulted_take_over(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path,
    const struct handover_beside *had)
{
	consulted_init(consulted, kind, loop, conf, conf_path);
	sidecar_adopt(&consulted->sidecar, (pid_t)had->pid, had->lifeline,
	    had->socket);
	sidecar_replace(&consulted->sidecar);
}

void
consulted_reload(struct consulted *consulted)
{
	sidecar_replace(&consulted->sidecar);
}

bool
consulted_stop(struct consulted *consulted, loop_fn *ended_fn, void *context)
{
	return sidecar_end(&consulted->sidecar, CONSULTED_END_MS, ended_fn,
	    context);
}

void
consulted_ended(struct consulted *consulted, pid_t pid)
{
	sidecar_ended(&consulted->sidecar, pid);
}

/* taker.c - a socket, and the process that takes configurations at it
 *
 * In     the configuration in force; whether a decision is open
 * Out    a process; after its end another one
 * Holds  the listening socket, so that nobody is refused meanwhile
 * Spec   taker.h, daemon/sidecar.h; doc/INTERNALS.md rows E4 to E7
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/skeleton.h"
#include "io/consult/nodes_ask.h"
#include "io/unix_socket.h"
#include "tools/run/beside/taker.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200 };

static taker_run_fn *taker_run;

void
taker_offer(taker_run_fn *run)
{
	taker_run = run;
}

static void
taker_path(const struct conf *conf, char out[PATH_BYTES])
{
	snprintf(out, PATH_BYTES, "%s/" TAKER_SOCKET, conf->run_dir);
}

/* The process nodes asks for other machines; nobody else's group may. */
static void
taker_admit(const struct conf *conf, const char *path)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (!daemon_is_private(conf) && conf_asks_nodes(conf) &&
	    (daemon_account(conf, ROLE_NODES, &uid, &gid, &err) < 0 ||
	    chown(path, (uid_t)-1, gid) < 0))
		warning("%s: nodes may not ask there: %s", path,
		    strerror(errno));
}

static bool
taker_listen(struct taker *taker)
{
	char path[PATH_BYTES];
	struct err err;

	if (taker->sidecar.socket >= 0)
		return true;
	taker_path(*taker->conf, path);
	taker->sidecar.socket = unix_socket_listen(path, 0660, &err);
	if (taker->sidecar.socket < 0)
		warning("%s", err.text);
	else
		taker_admit(*taker->conf, path);
	return taker->sidecar.socket >= 0;
}

/* E5: the configuration that came may be the one without a desk. */
static bool
taker_is_open(const struct conf *conf)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/desk/publish/pending",
	    conf->spool_dir);
	return access(path, F_OK) == 0;
}

static bool
taker_is_wanted(void *context)
{
	struct taker *taker = context;

	return taker_run != NULL && (conf_asks_nodes(*taker->conf) ||
	    taker_is_open(*taker->conf)) && taker_listen(taker);
}

static void
taker_child(void *context)
{
	const struct taker *taker = context;

	taker_run(*taker->conf, SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD);
}

static const struct sidecar_kind taker_kind = {
	.name = "taker", .is_wanted = taker_is_wanted, .run = taker_child,
};

void
taker_start(struct taker *taker, struct loop *loop, struct conf *const *conf)
{
	taker->conf = conf;
	sidecar_init(&taker->sidecar, &taker_kind, loop, taker);
	sidecar_begin(&taker->sidecar);
}

void
taker_take_over(struct taker *taker, struct loop *loop,
    struct conf *const *conf, pid_t pid, int lifeline, int socket)
{
	taker->conf = conf;
	sidecar_init(&taker->sidecar, &taker_kind, loop, taker);
	sidecar_adopt(&taker->sidecar, pid, lifeline, socket);
	sidecar_replace(&taker->sidecar);
}

void
taker_reload(struct taker *taker)
{
	sidecar_replace(&taker->sidecar);
}

void
taker_stop(struct taker *taker)
{
	char path[PATH_BYTES];

	sidecar_stop(&taker->sidecar);
	if (taker->sidecar.socket < 0)
		return;
	taker_path(*taker->conf, path);
	(void)unlink(path);
	close(taker->sidecar.socket);
	taker->sidecar.socket = -1;
}

void
taker_ended(struct taker *taker, pid_t pid)
{
	sidecar_ended(&taker->sidecar, pid);
}

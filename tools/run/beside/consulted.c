/* consulted.c - processes that daemons consult: started, replaced, ended
 *
 * In     the configuration in force
 * Out    a process; after its end another one
 * Holds  the listening socket, or two
 * Spec   consulted.h, daemon/sidecar.h, tables/ask/server.h, sts/ask/askers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/listen_socket.h"
#include "daemon/skeleton.h"
#include "grammar/net.h"
#include "io/consult/nodes_ask.h"
#include "io/consult/notify_ask.h"
#include "io/consult/share_ask.h"
#include "io/consult/sts_ask.h"
#include "io/unix_socket.h"
#include "mail/table/table.h"
#include "tools/run/beside/consulted.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200, DATAGRAMS_BYTES = 1 << 20 };

static void
consulted_describe_resolver(const struct conf *conf, struct str *out)
{
	if (conf_has_resolver(conf))
		conf_resolver_add(out, &conf->resolver);
}

/* With its port, as sockets tell it. */
static const char *
consulted_nodes_at(const struct conf *conf)
{
	static char text[64];
	struct sockaddr_storage address;
	unsigned length;
	struct err err;
	size_t self = conf_cluster_find(&conf->cluster, slice_of(
	    conf->cluster.self));

	if (conf_node_address(&conf->cluster, self, &address, &length,
	    &err) < 0)
		return "";
	net_endpoint_text((const struct sockaddr *)&address, text,
	    sizeof(text));
	return text;
}

/* A row each, in the order of their starts. */
const struct consulted_kind consulted_kinds[CONSULTED_KINDS] = {
	{ .program = "resolver",
	    .askers = ROLE_RESOLVER,
	    .is_wanted = conf_has_resolver,
	    .prepare = dirs_prepare_resolver,
	    .describe = consulted_describe_resolver },
	{ .program = "tables",
	    .socket = TABLES_SOCKET,
	    .askers = ROLE_SMTPSERVER,
	    .is_wanted = conf_asks_databases },
	{ .program = "sts",
	    .socket = STS_SOCKET,
	    .askers = ROLE_AGENT,
	    .is_wanted = conf_asks_sts,
	    .prepare = dirs_prepare_sts },
	{ .program = "share",
	    .socket = SHARE_SOCKET,
	    .askers = ROLE_SMTPSERVER,
	    .is_wanted = conf_asks_share },
	{ .program = "notify",
	    .socket = NOTIFY_SOCKET,
	    .askers = ROLE_AGENT,
	    .is_wanted = conf_asks_notify,
	    .prepare = dirs_prepare_notify },
	{ .program = "nodes",
	    .socket = NODES_SOCKET, .is_for_all = true,
	    .network = consulted_nodes_at,
	    .is_wanted = conf_asks_nodes },
};

/* Those who may ask have one group. */
static void
consulted_admit(const struct consulted *consulted, const char *path)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (daemon_is_private(*consulted->conf) ||
	    consulted->kind->is_for_all)
		return;
	if (daemon_account(*consulted->conf, consulted->kind->askers,
	    &uid, &gid, &err) < 0 || chown(path, (uid_t)-1, gid) < 0)
		warning("who asks %s may not be able to, at %s",
		    consulted->kind->program, path);
}

/* Who comes by datagrams, at the same address.  -1: err. */
static int
consulted_datagrams(const struct conf_listen *at, struct err *err)
{
	int fd = socket(at->address.ss_family,
	    SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int room = DATAGRAMS_BYTES;	/* who asks while it is replaced */

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room,
	    sizeof(room)) != 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room,
		    sizeof(room));
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&at->address,
	    at->length) == 0)
		return fd;
	err_sys(err, "cannot take datagrams at %s", at->text);
	if (fd >= 0)
		close(fd);
	return -1;
}

static void
consulted_close(struct consulted *consulted)
{
	struct sidecar *sidecar = &consulted->sidecar;

	if (sidecar->socket >= 0)
		close(sidecar->socket);
	if (sidecar->second >= 0)
		close(sidecar->second);
	sidecar->socket = sidecar->second = -1;
	consulted->address[0] = '\0';
}

/* Both sockets, or none.  One that another program has is tried again with
 * the next start, and told of once. */
static void
consulted_listen_at(struct consulted *consulted, const char *address)
{
	struct sidecar *sidecar = &consulted->sidecar;
	struct conf_listen at = { .is_tls = false };
	struct err err;

	if (strcmp(consulted->address, address) != 0)
		consulted_close(consulted);
	if (sidecar->socket >= 0)
		return;
	strlcpy(at.text, address, sizeof(at.text));
	if (net_endpoint_parse(slice_of(address), 53, &at.address, &at.length,
	    &err) == 0) {
		sidecar->socket = listen_socket(&at, &err);
		sidecar->second = sidecar->socket < 0 ? -1 :
		    consulted_datagrams(&at, &err);
	}
	if (sidecar->second < 0) {
		if (strcmp(consulted->refused, err.text) != 0)
			warning("%s: %s", consulted->kind->program, err.text);
		strlcpy(consulted->refused, err.text,
		    sizeof(consulted->refused));
		consulted_close(consulted);
		return;
	}
	strlcpy(consulted->address, address, sizeof(consulted->address));
	consulted->refused[0] = '\0';
}

/* Other machines come here.  An address that another program has is tried
 * again with the next start; users are answered meanwhile. */
static void
consulted_listen_network(struct consulted *consulted)
{
	const char *address = consulted->kind->network(*consulted->conf);
	struct sidecar *sidecar = &consulted->sidecar;
	struct conf_listen at = { .is_tls = true };
	struct err err;

	if (sidecar->second >= 0 && strcmp(consulted->address, address) != 0) {
		close(sidecar->second);
		sidecar->second = -1;
	}
	strlcpy(consulted->address, address, sizeof(consulted->address));
	if (sidecar->second >= 0)
		return;
	strlcpy(at.text, address, sizeof(at.text));
	if (net_endpoint_parse(slice_of(address), CLUSTER_DESK_PORT,
	    &at.address, &at.length, &err) == 0)
		sidecar->second = listen_socket(&at, &err);
	if (sidecar->second >= 0) {
		consulted->refused[0] = '\0';
		return;
	}
	if (strcmp(consulted->refused, err.text) != 0)
		warning("%s: %s", consulted->kind->program, err.text);
	strlcpy(consulted->refused, err.text, sizeof(consulted->refused));
}

static bool
consulted_listen(struct consulted *consulted)
{
	char path[PATH_BYTES];
	struct err err;

	if (consulted->kind->socket == NULL) {
		consulted_listen_at(consulted,
		    (*consulted->conf)->resolver.address);
		return true;
	}
	if (consulted->kind->network != NULL)
		consulted_listen_network(consulted);
	if (consulted->sidecar.socket >= 0)
		return true;
	snprintf(path, sizeof(path), "%s/%s", (*consulted->conf)->run_dir,
	    consulted->kind->socket);
	consulted->sidecar.socket = unix_socket_listen(path,
	    consulted->kind->is_for_all ? 0666 : 0660, &err);
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

	if (!consulted->kind->is_wanted(*consulted->conf)) {
		if (consulted->kind->socket == NULL ||
		    consulted->kind->network != NULL)
			consulted_close(consulted);
		return false;
	}
	if (!consulted_listen(consulted))
		return false;
	str_reset(&consulted->described);
	if (consulted->kind->describe != NULL)
		consulted->kind->describe(*consulted->conf,
		    &consulted->described);
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

	if (consulted->sidecar.socket < 0)	/* another one tries again */
		_exit(EXIT_FATAL);
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
	str_init(&consulted->described);
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

/* Where the sockets are that we were handed. */
static void
consulted_know_address(struct consulted *consulted)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);

	if (getsockname(consulted->sidecar.second,
	    (struct sockaddr *)&address, &length) == 0)
		net_endpoint_text((const struct sockaddr *)&address,
		    consulted->address, sizeof(consulted->address));
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
	consulted->sidecar.second = had->second;
	if (had->second >= 0)
		consulted_know_address(consulted);
	sidecar_replace(&consulted->sidecar);
}

void
consulted_reload(struct consulted *consulted)
{
	struct str now = STR_INIT;
	bool is_as_before = false;

	if (consulted->kind->describe != NULL) {
		consulted->kind->describe(*consulted->conf, &now);
		is_as_before = consulted->sidecar.pid > 0 && slice_equal(
		    str_slice(&now), str_slice(&consulted->described));
		str_release(&now);
	}
	if (!is_as_before)
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

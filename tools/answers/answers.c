/* answers.c - the supervisor's side: a socket, and a process at it
 *
 * In     the configuration in force
 * Out    a process; after its end another one
 * Holds  the listening socket, so that nobody is refused meanwhile
 * Spec   answers.h, daemon/sidecar.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/skeleton.h"
#include "tools/answers/internal.h"

#include "base/banned.h"

static answers_run_fn *answers_run;

void
answers_offer(answers_run_fn *run)
{
	answers_run = run;
}

static bool
answers_address(const char *run_dir, struct sockaddr_un *out)
{
	int n;

	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(out->sun_path, sizeof(out->sun_path), "%s/"
	    ANSWERS_NAME, run_dir);
	return n > 0 && (size_t)n < sizeof(out->sun_path);
}

static int
answers_listen(const char *run_dir)
{
	struct sockaddr_un address;
	int fd;

	if (!answers_address(run_dir, &address))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	(void)unlink(address.sun_path);	/* the lock says we are alone */
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&address,
	    sizeof(address)) != 0 || chmod(address.sun_path, 0666) != 0 ||
	    listen(fd, SOMAXCONN) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool
answers_is_wanted(void *context)
{
	return ((struct answers *)context)->sidecar.socket >= 0;
}

static void
answers_child(void *context)
{
	const struct answers *answers = context;

	answers_serve(SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD, *answers->conf,
	    answers_run);
}

static const struct sidecar_kind answers_kind = {
	.name = "answers", .is_wanted = answers_is_wanted,
	.run = answers_child,
};

void
answers_take_over(struct answers *answers, struct loop *loop,
    struct conf *const *conf, pid_t pid, int lifeline, int socket)
{
	if (socket < 0) {
		answers_start(answers, loop, conf);
		return;
	}
	answers->conf = conf;
	sidecar_init(&answers->sidecar, &answers_kind, loop, answers);
	sidecar_adopt(&answers->sidecar, pid, lifeline, socket);
	sidecar_renew(&answers->sidecar);
}

void
answers_start(struct answers *answers, struct loop *loop,
    struct conf *const *conf)
{
	struct sidecar *sidecar = &answers->sidecar;

	answers->conf = conf;
	sidecar_init(sidecar, &answers_kind, loop, answers);
	if (answers_run == NULL ||
	    (daemon_is_private(*conf) && !conf_asks_nodes(*conf)))
		return;		/* whoever asks may read himself */
	sidecar->socket = answers_listen((*conf)->run_dir);
	if (sidecar->socket < 0)
		warning("%s/" ANSWERS_NAME ": %s; those who may not read the "
		    "journal themselves get no answers", (*conf)->run_dir,
		    strerror(errno));
	sidecar_begin(sidecar);
}

void
answers_reload(struct answers *answers)
{
	if (answers->sidecar.socket < 0)	/* a desk is new */
		answers_start(answers, answers->sidecar.loop, answers->conf);
	else
		sidecar_renew(&answers->sidecar);
}

void
answers_stop(struct answers *answers)
{
	struct sockaddr_un address;

	sidecar_stop(&answers->sidecar);
	if (answers->sidecar.socket < 0)
		return;
	if (answers_address((*answers->conf)->run_dir, &address))
		(void)unlink(address.sun_path);
	close(answers->sidecar.socket);
	answers->sidecar.socket = -1;
}

void
answers_ended(struct answers *answers, pid_t pid)
{
	sidecar_ended(&answers->sidecar, pid);
}

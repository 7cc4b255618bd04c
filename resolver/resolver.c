/* resolver.c - main: the process that answers about names, and validates
 *
 * zmailer run starts it when the configuration has a resolver; consulted.h
 * has the rest.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/consulted.h"
#include "daemon/sandbox.h"
#include "daemon/sidecar.h"
#include "io/dns/dns.h"
#include "resolver/serve/service.h"

#include "base/banned.h"

enum {
	PATH_BYTES = 4200,
	ANCHOR_BYTES_MAX = 65536
};

static const struct daemon resolver = {
	.name = "resolver",
	.purpose = "Answers about names, with a cache, and validates (DNSSEC).",
	.started = "when there is a resolver; see zmailer-dns(8)",
	.role = ROLE_RESOLVER,
};

/* One that breaks off leaves the name as it was: not there. */
static int
anchor_write(const char *path, const struct str *keys, struct err *err)
{
	char draft[PATH_BYTES + 8];
	int fd, result;

	snprintf(draft, sizeof(draft), "%s.new", path);
	fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd < 0)
		return err_sys(err, "%s", draft);
	result = fd_write_all(fd, keys->buf, keys->len);
	if (result == 0)
		result = fsync(fd);
	close(fd);
	if (result == 0)
		result = rename(draft, path);
	return result == 0 ? 0 : err_sys(err, "%s", draft);
}

/* The first time: the keys of the root that the system has. */
static int
anchor_copy(const char *path, struct err *err)
{
	struct str keys = STR_INIT;
	int fd = open(RESOLVER_ANCHOR, O_RDONLY | O_CLOEXEC);
	int result = -1;

	if (fd < 0)
		return err_set(err, RESOLVER_ANCHOR ": %s; the package "
		    "dns-root-data has it, or name another by trust-anchor",
		    strerror(errno));
	if (fd_read_all(fd, ANCHOR_BYTES_MAX, &keys) < 0)
		err_sys(err, RESOLVER_ANCHOR);
	else if (keys.len == 0)
		err_set(err, RESOLVER_ANCHOR " is empty");
	else
		result = anchor_write(path, &keys, err);
	close(fd);
	str_release(&keys);
	return result;
}

/* The kept file, which the system's takes the place of when it is no good:
 * half a file would keep every daemon without answers. */
static struct lookups *
lookups_of_kept(struct process *process, struct err *err)
{
	const struct conf_resolver *block = &process->conf->resolver;
	char kept[PATH_BYTES], bad[PATH_BYTES + 8];
	struct lookups *lookups = NULL;

	snprintf(kept, sizeof(kept), "%s/" RESOLVER_DIR "/root.key",
	    process->conf->spool_dir);
	snprintf(bad, sizeof(bad), "%s.bad", kept);
	if (access(kept, F_OK) == 0 && (lookups = lookups_new(process->loop,
	    block, kept, true, err)) == NULL) {
		warning("resolver: %s: it is kept as %s", err->text, bad);
		if (rename(kept, bad) < 0)
			(void)err_sys(err, "%s", bad);
	}
	if (lookups == NULL && anchor_copy(kept, err) == 0)
		lookups = lookups_new(process->loop, block, kept, true, err);
	return lookups;
}

static struct lookups *
resolver_lookups(struct process *process)
{
	const struct conf_resolver *block = &process->conf->resolver;
	struct err err;
	struct lookups *lookups = block->anchor == NULL ?
	    lookups_of_kept(process, &err) :
	    lookups_new(process->loop, block, block->anchor, false, &err);

	if (lookups == NULL)
		fatal("resolver: %s", err.text);
	return lookups;
}

/* Sockets, its directory, the journal, and no more. */
static void
resolver_lock_in(const struct conf *conf)
{
	struct sandbox rules = { .sockets = SOCKETS_ALL, .is_parent = true };
	char path[PATH_BYTES];
	struct err err;

	snprintf(path, sizeof(path), "%s/" RESOLVER_DIR, conf->spool_dir);
	rules.worked[rules.worked_count++] = path;
	rules.appended[rules.appended_count++] = conf->log_dir;
	(void)clock_steady_ms();
	if (sandbox_enter(&rules, &err) < 0)
		fatal("%s", err.text);
}

/* A question on its way has a socket. */
static void
resolver_surroundings(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int
main(int argc, char **argv)
{
	struct process process;
	struct lookups *lookups;
	struct questions *questions;
	struct service *service;
	struct err err;
	int status = consulted_begin(&process, &resolver, argc, argv);

	if (status >= 0)
		return status;
	resolver_surroundings();
	if (daemon_drop(process.conf, ROLE_RESOLVER, &err) < 0)
		fatal("%s", err.text);
	lookups = resolver_lookups(&process);
	resolver_lock_in(process.conf);	/* before the library's thread */
	questions = questions_new(process.loop, lookups);
	service = service_new(process.loop, questions, SIDECAR_SECOND_FD,
	    SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD);
	loop_run(process.loop);
	service_free(&service);
	lookups_free(&lookups);
	questions_free(&questions);
	return consulted_end(&process);
}

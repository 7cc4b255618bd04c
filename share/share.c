/* share.c - main: the process that counts with other machines
 *
 * zmailer run starts it when a cluster has a redis or a postgres; consulted.h
 * has the rest.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/consulted.h"
#include "daemon/sandbox.h"
#include "daemon/sidecar.h"
#include "share/ask/inquirers.h"
#include "share/copies/bounds.h"
#include "tls/client.h"

#include "base/banned.h"

static const struct daemon share = {
	.name = "share",
	.purpose = "Counts with the other machines of a cluster.",
	.started = "when a cluster has a redis or a postgres; see "
	    "zmailer-cluster(8)",
	.role = ROLE_SHARE,
};

enum {
	LOOK_AGAIN_MS = 300000,		/* counters begin anew then */
	FILES_PART = 8,			/* descriptors for one that waits, with
					 * those that are on their way */
	FILES_MAX = COPIES_WAITS_MAX * FILES_PART
};

/* What it holds while it runs. */
struct share_state {
	struct places		 places;
	struct store_goal	 goal;
	struct tls_client	*tls;
	char			*password, *sentinel_password;
	struct copies_goal	 copies_goal;
	struct timer		 again;
	struct inquired		 inquired;
};

/* It has a password: nobody of the same account looks at its memory. */
static void
share_drop(const struct conf *conf)
{
	struct err err;

	if (daemon_drop(conf, ROLE_SHARE, &err) < 0)
		fatal("%s", err.text);
	/* libpq looks for certificates there, and gives up in a directory
	 * that it may not enter: root's, who has started us */
	(void)setenv("HOME", "/nonexistent", 1);
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Sockets, the journal, the certificates for PostgreSQL, and no more. */
static void
share_lock_in(const struct conf *conf, const struct copies_goal *goal)
{
	struct sandbox rules = { .sockets = SOCKETS_ALL, .is_parent = true };
	struct err err;

	rules.appended[rules.appended_count++] = conf->log_dir;
	for (size_t i = 0; i < goal->file_count; i++)
		rules.readable[rules.readable_count++] = goal->files[i];
	(void)clock_steady_ms();
	if (sandbox_enter(&rules, &err) < 0)
		fatal("%s", err.text);
}

static char *
share_password(const char *path)
{
	struct err err;
	char *password;

	if (path == NULL)
		return NULL;
	password = places_password(path, &err);
	if (password == NULL)
		fatal("cluster: password: %s", err.text);
	return password;
}

static struct tls_client *
share_tls(const struct conf *conf)
{
	const struct tls_client_files files = {
		.roots = conf->cluster.roots,
		.certificate = conf->cluster.certificate,
		.key = conf->cluster.key,
	};
	struct tls_client *client;
	struct err err;

	if (!conf->cluster.is_tls)
		return NULL;
	client = tls_client_new(&files, &err);
	if (client == NULL)
		fatal("cluster: tls: %s", err.text);
	return client;
}

static void
share_on_again(void *context)
{
	struct process *process = context;

	loop_stop(process->loop);
}

/* A name server that does not answer is no reason not to count: this node
 * does alone, and the process that follows this one looks again. */
static void
share_find(struct process *process, struct places *out, struct timer *timer)
{
	struct err err;

	if (places_find(&process->conf->cluster, out, &err) == 0)
		return;
	warning("cluster: redis: %s; limits are counted by this node alone, "
	    "and it is looked up again in %d s", err.text,
	    LOOK_AGAIN_MS / 1000);
	strlcpy(out->at[0].text, "-", sizeof(out->at[0].text));
	timer_set(process->loop, timer, clock_steady_ms() + LOOK_AGAIN_MS,
	    share_on_again, process);
}

/* The same for PostgreSQL: copies says when it is looked up again. */
static void
share_find_copies(const struct conf *conf, struct copies_goal *goal)
{
	struct err err;

	if (goal_find(&conf->cluster, goal, &err) < 0)
		warning("cluster: postgres: %s; mail is not copied", err.text);
}

/* Who asks for a copy sends a descriptor or two, and those that wait keep
 * theirs.  As many wait as there is room for. */
static void
share_make_room(struct copies_goal *goal)
{
	struct rlimit limit;

	goal->waits_max = COPIES_WAITS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	if (limit.rlim_cur < FILES_MAX) {
		limit.rlim_cur = limit.rlim_max < FILES_MAX ?
		    limit.rlim_max : FILES_MAX;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
		(void)getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < FILES_MAX)
		goal->waits_max = (size_t)limit.rlim_cur / FILES_PART;
}

/* As root. */
static void
share_read_secrets(const struct conf *conf, struct share_state *state)
{
	state->goal.password = state->password =
	    share_password(conf->cluster.password_path);
	state->goal.tls = state->tls = share_tls(conf);
	state->sentinel_password =
	    share_password(conf->cluster.sentinel_password_path);
	state->goal.sentinels = (struct sentinels_goal){ conf->cluster.master,
	    state->sentinel_password, state->tls };
	state->copies_goal.password =
	    share_password(conf->cluster.postgres_password_path);
}

/* (uid_t)-1: there is no such account. */
static uid_t
share_scheduler(const struct conf *conf)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (daemon_account(conf, ROLE_SCHEDULER, &uid, &gid, &err) == 0)
		return uid;
	warning("cluster: %s", err.text);
	return (uid_t)-1;
}

static void
share_begin(struct process *process, struct share_state *state)
{
	const struct conf *conf = process->conf;
	bool has_redis = conf_cluster_has_redis(&conf->cluster);
	bool has_copies = conf_keeps_copies(conf);

	state->goal.places = &state->places;
	state->inquired.scheduler = share_scheduler(conf);
	share_make_room(&state->copies_goal);
	share_read_secrets(conf, state);
	share_drop(conf);
	if (has_redis)
		share_find(process, &state->places, &state->again);
	if (has_copies)
		share_find_copies(conf, &state->copies_goal);
	share_lock_in(conf, &state->copies_goal);
	if (has_redis)
		state->inquired.ledger = ledger_new(process, &state->goal);
	if (has_copies)
		state->inquired.copies = copies_new(process,
		    &state->copies_goal);
}

static void
secret_free(char **password)
{
	if (*password != NULL)
		explicit_bzero(*password, strlen(*password));
	mem_free(password);
}

static void
share_end(struct share_state *state)
{
	timer_clear(&state->again);
	copies_free(&state->inquired.copies);
	ledger_free(&state->inquired.ledger);
	tls_client_free(&state->tls);
	secret_free(&state->password);
	secret_free(&state->sentinel_password);
	goal_release(&state->copies_goal);
}

int
main(int argc, char **argv)
{
	struct share_state state = { .password = NULL };
	struct process process;
	struct callers *callers;
	int status = consulted_begin(&process, &share, argc, argv);

	if (status >= 0)
		return status;
	share_begin(&process, &state);
	callers = callers_new(&process, &inquirers_kind, &state.inquired,
	    SIDECAR_SOCKET_FD, SIDECAR_LIFELINE_FD);
	loop_run(process.loop);
	callers_free(&callers);
	share_end(&state);
	return consulted_end(&process);
}

/* upgrade_order.c - have what runs hand over to what lies installed
 *
 * In     an instance that runs: its lock, its state file
 * Out    SIGUSR2; a table of what ran before, and what runs now
 * Trusts the state file as every tool does; sends no signal to one that does
 *        not say there that it takes it
 * Spec   zmailer-upgrade(8); upgrading.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/run/handover/handover.h"
#include "tools/run/running.h"
#include "tools/run/supervisor.h"
#include "tools/verb/verb.h"

#include "base/banned.h"

enum { UPGRADE_WAIT_MS = 180000 };	/* four stops and starts */

/* ---- may it be ordered? ------------------------------------------------ */

static int
upgrade_refused(const char *why, const char *next)
{
	fprintf(stderr, "zmailer: upgrade: %s: %s\n", why, next);
	return EX_UNAVAILABLE;
}

/* Nothing but a restart brings the new programs: the package does it. */
static int
upgrade_needs_restart(const char *why)
{
	fprintf(stderr, "zmailer: upgrade: %s: zmailer restart\n", why);
	return EX_PROTOCOL;
}

/* EX_OK, or why it must not be ordered. */
static int
upgrade_may(const struct state *state)
{
	char why[256];

	if (state->handover == 0) {
		snprintf(why, sizeof(why), "what runs is version %s, which "
		    "cannot hand over", state->version);
		return upgrade_needs_restart(why);
	}
	if (state->handover != HANDOVER_VERSION) {
		snprintf(why, sizeof(why), "what runs hands over by records "
		    "of version %u, this program takes those of version %d",
		    state->handover, HANDOVER_VERSION);
		return upgrade_needs_restart(why);
	}
	for (size_t i = 0; i < state->child_count; i++)
		if (strcmp(state->children[i].state, "ready") == 0)
			return EX_OK;
	return upgrade_refused("no daemon is ready yet", "zmailer status");
}

/* ---- waiting ----------------------------------------------------------- */

/* A line each time that something has changed. */
static void
upgrade_tell(const struct state *state, char *last, size_t size)
{
	char line[256] = "";

	for (size_t i = 0; i < state->child_count; i++) {
		size_t n = strlen(line);

		snprintf(line + n, sizeof(line) - n, "%s%s %s",
		    i > 0 ? ", " : "", state->children[i].name,
		    state->children[i].state);
	}
	if (strcmp(line, last) == 0)
		return;
	fprintf(stderr, "%s\n", line);
	snprintf(last, size, "%s", line);
}

/* EX_OK: it was answered; else after words about it. */
static int
upgrade_wait(const struct conf *conf, pid_t pid, unsigned before,
    struct state *out)
{
	bool is_told = isatty(STDERR_FILENO) != 0;
	char last[256] = "";
	struct err err;

	for (int left = UPGRADE_WAIT_MS / RUNNING_LOOK_MS; left > 0; left--) {
		if (state_read(conf->run_dir, out, &err) == STATE_READ) {
			if (is_told)
				upgrade_tell(out, last, sizeof(last));
			if (out->upgrades != before && !out->is_upgrading)
				return EX_OK;
		}
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return upgrade_refused("zmailer ended meanwhile",
			    "zmailer start");
		running_nap();
	}
	fprintf(stderr, "zmailer: upgrade: it is not done yet: zmailer status "
	    "says how far it is\n");
	return EX_TEMPFAIL;
}

/* ---- saying so --------------------------------------------------------- */

static void
upgrade_row(const char *name, const struct program *before,
    const char *was_version, const struct program *now, const char *version)
{
	char was[CLOCK_TEXT_BYTES], is[CLOCK_TEXT_BYTES];

	clock_local(before->made_s, was);
	clock_local(now->made_s, is);
	printf("  %-10s  %s, made %s  %s  %s, made %s\n", name, was_version,
	    was, before->made_s == now->made_s &&
	    before->bytes == now->bytes ? "= " : "->", version, is);
}

static void
upgrade_table(const struct state *before, const struct state *now)
{
	upgrade_row("supervisor", &before->program, before->version,
	    &now->program, now->version);
	for (size_t i = 0; i < now->child_count &&
	    i < before->child_count; i++)
		upgrade_row(now->children[i].name,
		    &before->children[i].program, before->version,
		    &now->children[i].program, now->version);
	for (size_t i = 0; i < now->child_count; i++)
		if (now->children[i].before > 0)
			printf("  %u older %s finish%s what %s begun: zmailer "
			    "status\n", now->children[i].before,
			    now->children[i].name,
			    now->children[i].before == 1 ? "es" : "",
			    now->children[i].before == 1 ? "it has" :
			    "they have");
}

/* Was it the trial that said no, or a daemon of the new ones? */
static int
upgrade_answer(const struct state *before, const struct state *now)
{
	bool is_taken = now->since_s == before->since_s &&
	    now->conf != before->conf;

	if (now->not_upgraded[0] == '\0') {
		upgrade_table(before, now);
		printf("upgraded; no session was cut\n");
		return EX_OK;
	}
	if (is_taken) {
		upgrade_table(before, now);
		fprintf(stderr, "zmailer: upgrade: not whole: %s; mend the "
		    "programs, then: zmailer upgrade --again\n",
		    now->not_upgraded);
	} else {
		fprintf(stderr, "zmailer: upgrade: refused, what runs goes "
		    "on: %s\n", now->not_upgraded);
	}
	return EX_UNAVAILABLE;
}

/* ---- the order --------------------------------------------------------- */

static int
upgrade_order(const struct conf *conf, pid_t pid, const struct state *before)
{
	struct state now;
	int status;

	if (kill(pid, SIGUSR2) < 0)
		return running_not_ours("upgrade", pid);
	status = upgrade_wait(conf, pid, before->upgrades, &now);
	return status == EX_OK ? upgrade_answer(before, &now) : status;
}

static int
upgrade_running(const struct conf *conf, pid_t pid, bool is_check,
    bool is_again)
{
	struct str older = STR_INIT;
	struct state state;
	struct err err;
	bool is_older;
	int status;

	/* a state file of another process says nothing of this one */
	if (state_read(conf->run_dir, &state, &err) != STATE_READ ||
	    state.pid != pid)
		return upgrade_refused("what runs does not say yet whether it "
		    "can hand over", "zmailer status");
	is_older = program_add_older(&older, &state);
	status = upgrade_may(&state);
	if (status == EX_OK && !is_older && !is_again) {
		printf("nothing to do: what runs is what lies installed; "
		    "--again does it anyway\n");
	} else if (status == EX_OK && is_check) {
		printf("%s%sit can be upgraded; nothing was changed\n",
		    older.buf, is_older ? "; " : "");
	} else if (status == EX_OK) {
		status = upgrade_order(conf, pid, &state);
	}
	str_release(&older);
	return status;
}

int
running_upgrade(const char *conf_path, bool is_check, bool is_again)
{
	struct conf *conf = verb_conf_file(conf_path);
	struct conf *running = verb_conf(conf_path);
	int status = running_check_files(conf);
	pid_t pid = running_pid(running);

	if (pid < 0)
		status = running_unknown("upgrade", running);
	else if (pid == 0)
		status = upgrade_refused("zmailer does not run", "zmailer "
		    "start begins with these programs");
	else if (status != EX_OK)
		fprintf(stderr, "zmailer: upgrade: nothing was changed\n");
	else
		status = upgrade_running(running, pid, is_check, is_again);
	conf_free(&running);
	conf_free(&conf);
	return status;
}

/* status.c - zmailer status: processes and files, for people and monitors
 *
 * In     the spool's lock, RUN/zmailer.state, the names in the spool
 * Out    a table or JSON lines; exit status 0 ok, 1 warning, 2 critical,
 *        3 not running
 * Spec   zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/json.h"
#include "mail/spool/spool.h"
#include "tools/queue/turns.h"
#include "tools/run/standstill/standstill.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { STATUS_OK, STATUS_WARNING, STATUS_CRITICAL, STATUS_DOWN };
enum { RECENT_S = 600 };	/* a restart so young is a warning */

enum { CLAIM_OLD_S = 150 };	/* the router gives claims of the dead back
				 * each minute */

struct areas {
	struct spool	*spool;
	enum spool_area	 area;		/* the one that is walked */
	unsigned	 priority;
	uint64_t	 count[AREA_COUNT];
	uint64_t	 dead_claims;	/* that stayed */
	bool		 is_known;
	bool		 has_told;	/* the scheduler: of queue/ and
					 * transport/ */
	bool		 is_hidden[AREA_COUNT];	/* we may not read it */
};

struct findings {
	int		 status;
	struct str	 text;		/* a line each */
	struct standstill standstill;
};

static void
status_find(struct findings *findings, int status, const char *text)
{
	if (status > findings->status)
		findings->status = status;
	str_addf(&findings->text, "  %s: %s\n",
	    status == STATUS_WARNING ? "warning" : "CRITICAL", text);
}

/* ---- the spool ----------------------------------------------------------- */

/* Its process is gone, and did not give the message back. */
static bool
claim_is_dead(const struct areas *areas, const char *name, pid_t pid)
{
	struct stat st;

	return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH &&
	    fstatat(spool_dir_fd(areas->spool, areas->area, areas->priority),
	    name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    clock_wall_s() - st.st_ctime >= CLAIM_OLD_S;
}

static bool
status_count_one(void *context, const char *name)
{
	const char *base = strrchr(name, '/');
	struct areas *areas = context;
	struct spool_name parsed;
	bool is_named;

	base = base != NULL ? base + 1 : name;
	is_named = spool_name_parse(slice_of(base), &parsed);
	/* A plan and a control file beside its message are no messages. */
	if (base[0] == '.' || (is_named && slice_ends(parsed.why, ".control")))
		return true;
	areas->count[areas->area]++;
	if (is_named && areas->area == AREA_ROUTER &&
	    claim_is_dead(areas, name, parsed.pid))
		areas->dead_claims++;
	return true;
}

/* Is it known without a walk: a scheduler that runs has a control file, in
 * transport/, and its message, in queue/, of each message that it has read or
 * is about to read. */
static bool
area_is_told(const struct areas *areas)
{
	return areas->has_told && (areas->area == AREA_QUEUE ||
	    areas->area == AREA_TRANSPORT);
}

/* Ask the scheduler how much it has: to count 100,000 files takes a tenth of a
 * second. */
static void
areas_ask(const struct conf *conf, struct areas *out)
{
	struct str last = STR_INIT, read = STR_INIT;

	/* one of an older version may not say */
	out->has_told = turns_ask(conf->run_dir, &last) &&
	    json_get(str_slice(&last), "read", &read);
	if (out->has_told) {
		out->count[AREA_TRANSPORT] = (uint64_t)(json_get_number(
		    str_slice(&last), "read") + json_get_number(
		    str_slice(&last), "unread"));
		out->count[AREA_QUEUE] = out->count[AREA_TRANSPORT];
	}
	str_release(&read);
	str_release(&last);
}

static void
areas_count(const struct conf *conf, bool is_running, struct areas *out)
{
	struct err err;

	memset(out, 0, sizeof(*out));
	if (is_running)
		areas_ask(conf, out);
	if (conf_spool_open(conf, 0, &out->spool,
	    &err) < 0) {
		if (err_is_denied(&err))
			memset(out->is_hidden, true, sizeof(out->is_hidden));
		return;
	}
	out->is_known = true;
	for (out->area = 0; out->area < AREA_COUNT; out->area++) {
		unsigned priorities = out->area == AREA_ROUTER ?
		    SPOOL_PRIORITIES : 1;

		for (out->priority = 0; out->priority < priorities &&
		    !area_is_told(out); out->priority++)
			if (spool_scan(out->spool, out->area, out->priority,
			    status_count_one, out, &err) < 0) {
				out->is_known = false;
				out->is_hidden[out->area] = true;
			}
	}
	spool_close(&out->spool);
}

/* ---- what there is to complain about ----------------------------- */

static void
child_judge(const struct state_child *child, unsigned in_force,
    struct findings *findings)
{
	char text[128];

	if (child->conf != in_force && strcmp(child->state, "ready") == 0) {
		snprintf(text, sizeof(text), "%s has configuration %u, in "
		    "force is %u", child->name, child->conf, in_force);
		status_find(findings, STATUS_WARNING, text);
	}

	if (strcmp(child->state, "ready") != 0) {
		snprintf(text, sizeof(text), "%s is %s", child->name,
		    child->state);
		status_find(findings, STATUS_CRITICAL, text);
	} else if (child->restarts > 0 &&
	    clock_wall_s() - child->since_s < RECENT_S) {
		snprintf(text, sizeof(text), "%s was restarted (%u times)",
		    child->name, child->restarts);
		status_find(findings, STATUS_WARNING, text);
	}
}

/* A scheduler that is down was told of with the processes. */
static void
standstill_judge(struct findings *findings)
{
	const struct standstill *all = &findings->standstill;

	for (size_t i = 0; i < all->count; i++)
		standstill_add_text(&findings->text, &all->rows[i],
		    all->rows[i].is_note ? "  note: " : "  warning: ");
	if (findings->status < STATUS_WARNING && standstill_has_trouble(all))
		findings->status = STATUS_WARNING;
}

/* Installed over, and not started again. */
static void
programs_judge(const struct state *state, struct findings *findings)
{
	struct str text = STR_INIT;

	if (program_add_older(&text, state)) {
		str_addf(&text, " -> %s", program_older_next(state));
		status_find(findings, STATUS_WARNING, text.buf);
	}
	str_release(&text);
}

static void
claims_judge(const struct areas *areas, struct findings *findings)
{
	bool is_one = areas->dead_claims == 1;
	char text[160];

	if (areas->dead_claims == 0)
		return;
	snprintf(text, sizeof(text), "%llu file%s of router/ %s that "
	    "%s gone -> zmailer events spool.trouble says why; "
	    "zmailer restart", (unsigned long long)areas->dead_claims,
	    is_one ? "" : "s",
	    is_one ? "is claimed by a process" :
	    "are claimed by processes",
	    is_one ? "is" : "are");
	status_find(findings, STATUS_WARNING, text);
}

static void
status_judge(const struct state *state, const struct areas *areas,
    bool is_running,
    struct findings *findings)
{
	if (!is_running) {
		findings->status = STATUS_DOWN;
		return;
	}
	if (state->child_count == 0)
		status_find(findings, STATUS_CRITICAL, "it is starting");
	for (size_t i = 0; i < state->child_count; i++)
		child_judge(&state->children[i], state->conf, findings);
	if (state->refused[0] != '\0')
		status_find(findings, STATUS_WARNING,
		    state->is_partial ?
		    "the last reload was not taken over by all" :
		    "the last reload was refused");
	if (state->unused[0] != '\0')
		status_find(findings, STATUS_WARNING, "the service manager "
		    "gave sockets that no listen statement is for");
	if (state->not_upgraded[0] != '\0')
		status_find(findings, STATUS_WARNING, "the last upgrade was "
		    "not done, or not whole -> zmailer upgrade");
	standstill_judge(findings);
	programs_judge(state, findings);
	claims_judge(areas, findings);
	if (!areas->is_known)
		str_adds(&findings->text,
		    "  ?  these you may not read: root may, and zmailer "
		    "queue tells `control operators`\n");
}

/* A change that was not taken over is no trouble for what runs. */
static void
files_judge(const struct conf *conf, struct findings *findings)
{
	enum conf_files files = findings->status == STATUS_DOWN ?
	    CONF_FILES_SAME : conf_files_look(conf);

	if (files != CONF_FILES_SAME)
		str_addf(&findings->text, "  %s was changed and not taken "
		    "over%s: `zmailer check`, then `zmailer reload`\n",
		    conf->path, files == CONF_FILES_BROKEN ?
		    ", and has errors" : "");
}

/* After a restart, for a while. */
static void
unread_judge(const struct conf *conf, struct findings *findings)
{
	struct str text = STR_INIT;

	if (findings->status != STATUS_DOWN &&
	    !findings->standstill.is_silent &&
	    turns_add_unread(&text, conf->run_dir))
		str_addf(&findings->text, "  %s\n", text.buf);
	str_release(&text);
}

/* ---- saying so --------------------------------------------------- */

static void
table_put(const struct state *state, const struct areas *areas,
    const struct findings *findings)
{
	char span[CLOCK_TEXT_BYTES];
	int64_t now_s = clock_wall_s();

	if (findings->status == STATUS_DOWN) {
		printf("zmailer does not run: zmailer start\n");
	} else {
		clock_span(now_s - state->since_s, span);
		printf("zmailer runs, pid %ld, up %s\n", (long)state->pid,
		    span);
	}
	for (size_t i = 0; findings->status != STATUS_DOWN &&
	    i < state->child_count; i++) {
		const struct state_child *child = &state->children[i];

		clock_span(now_s - child->since_s, span);
		printf("  %-10s  %-10s  pid %-7ld  %8s  restarts %u  "
		    "configuration %u\n", child->name, child->state,
		    (long)child->pid, span, child->restarts, child->conf);
		if (child->before > 0)
			printf("  %-10s  %u older, to finish what %s begun\n",
			    child->name, child->before,
			    child->before == 1 ? "it has" : "they have");
	}
	printf("  files ");
	for (enum spool_area area = 0; area < AREA_COUNT; area++)
		if (areas->is_hidden[area])
			printf("  %s ?", spool_area_names[area]);
		else
			printf("  %s %llu", spool_area_names[area],
			    (unsigned long long)areas->count[area]);
	printf("\n%s", findings->text.buf);
	if (findings->status == STATUS_WARNING && state->refused[0] != '\0')
		printf("  refused: %s\n", state->refused);
	if (findings->status == STATUS_WARNING && state->unused[0] != '\0')
		printf("  unused: %s\n", state->unused);
	if (findings->status != STATUS_DOWN &&
	    state->not_upgraded[0] != '\0')
		printf("  not upgraded: %s\n", state->not_upgraded);
}

/* Of the scheduler, when it answers. */
static void
add_turns(struct str *out, const char *run_dir)
{
	struct str last = STR_INIT;

	if (turns_ask(run_dir, &last)) {
		json_number(out, "turns", json_get_number(str_slice(&last),
		    "turns"));
		json_number(out, "turn_longest_us", json_get_number(
		    str_slice(&last), "longest_us"));
		json_number(out, "read", json_get_number(str_slice(&last),
		    "read"));
		json_number(out, "unread", json_get_number(str_slice(&last),
		    "unread"));
	}
	str_release(&last);
}

static void
json_put(const struct state *state, const struct areas *areas,
    const char *run_dir, const struct findings *findings)
{
	int status = findings->status;
	static const char *const words[] = { "ok", "warning", "critical",
	    "down" };
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "status", slice_of(words[status]));
	json_number(&out, "pid", status == STATUS_DOWN ? 0 : state->pid);
	json_number(&out, "since", state->since_s);
	json_number(&out, "configuration", state->conf);
	json_text(&out, "refused", slice_of(state->refused));
	json_text(&out, "not_upgraded", slice_of(state->not_upgraded));
	for (enum spool_area area = 0; area < AREA_COUNT; area++)
		if (!areas->is_hidden[area])
			json_number(&out, spool_area_names[area],
			    (int64_t)areas->count[area]);
	json_number(&out, "claims_of_the_dead",
	    (int64_t)areas->dead_claims);
	json_close(&out);
	for (size_t i = 0; status != STATUS_DOWN && i < state->child_count;
	    i++) {
		json_open_answer(&out);
		json_text(&out, "process", slice_of(state->children[i].name));
		json_text(&out, "state", slice_of(state->children[i].state));
		json_number(&out, "pid", state->children[i].pid);
		json_number(&out, "since", state->children[i].since_s);
		json_number(&out, "restarts", state->children[i].restarts);
		json_number(&out, "configuration", state->children[i].conf);
		json_number(&out, "older", state->children[i].before);
		if (strcmp(state->children[i].name, "scheduler") == 0 &&
		    !findings->standstill.is_silent)
			add_turns(&out, run_dir);
		json_close(&out);
	}
	fputs(out.buf, stdout);
	str_release(&out);
	standstill_print(&findings->standstill, true);
}

int
verb_status(struct arguments *arguments)
{
	struct findings findings = { .status = STATUS_OK,
	    .text = STR_INIT };
	struct arena *arena = arena_new();
	char text[256];
	struct state state;
	struct areas areas;
	struct conf *conf;
	struct err err;
	pid_t pid;
	int held;

	conf = verb_conf_spool(arguments->conf_path);
	if (state_read(conf->run_dir, &state, &err) == STATE_BAD)
		fprintf(stderr, "zmailer: status: %s\n", err.text);
	held = spool_lock_holder(conf->spool_dir, text, sizeof(text), &pid);
	if (held < 0)
		fprintf(stderr, "zmailer: status: the lock of %s: %s\n",
		    conf->spool_dir, strerror(errno));
	standstill_look(conf, held == 1, arena, &findings.standstill);
	if (held == 1)
		standstill_knock(conf, &findings.standstill);
	areas_count(conf, held == 1 && !findings.standstill.is_silent,
	    &areas);
	status_judge(&state, &areas, held == 1, &findings);
	files_judge(conf, &findings);
	if (arguments_has(arguments, OPT_JSON)) {
		json_put(&state, &areas, conf->run_dir, &findings);
	} else {
		unread_judge(conf, &findings);
		table_put(&state, &areas, &findings);
	}
	str_release(&findings.text);
	arena_free(&arena);
	conf_free(&conf);
	return findings.status;
}

/* doctor.c - zmailer doctor: is this machine fit to carry mail?
 *
 * In     the configuration; the machine; the DNS
 * Out    findings as a table or JSON lines; exit status 0 all is well,
 *        1 warnings, 2 something is bad
 * Spec   zmailer-doctor(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "daemon/machine/machine.h"
#include "grammar/units.h"
#include "io/consult/nodes_ask.h"
#include "io/consult/share_ask.h"
#include "mail/spool/spool.h"
#include "tools/zmailer/doctor/doctor.h"
#include "grammar/sts.h"
#include "tools/run/standstill/standstill.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { LINE_COLUMNS = 79, AREA_COLUMNS = 13 };

static const struct area_row {
	const char	*name;
	bool		 needs_conf;
	const char	*text;
	doctor_fn	*fn;
} areas[] = {
#define AREA(name, needs_conf, text) { #name, needs_conf, text, \
    doctor_##name },
#include "tools/zmailer/doctor/areas.h"
#undef AREA
};
enum { AREA_ROWS = sizeof(areas) / sizeof(areas[0]) };

struct options {
	bool	is_json, is_quiet;
	bool	is_wanted[AREA_ROWS];	/* none: all */
	bool	is_some;
};

/* ---- areas that are here --------------------------------------------- */

void
doctor_config(struct doctor *doctor)
{
	struct conf_report report = *doctor->report;

	if (doctor->conf != NULL)
		machine_check(doctor->conf, doctor->arena, &report);
	if (doctor->is_changed)
		doctor_add(doctor, DOCTOR_WARN, doctor->conf_path,
		    "`zmailer check`, then `zmailer reload`",
		    "it was changed and not taken over");
	for (size_t i = 0; i < report.count; i++) {
		const struct conf_complaint *one = &report.complaints[i];

		doctor_add(doctor, one->is_error ? DOCTOR_BAD : DOCTOR_WARN,
		    one->at.file == NULL ? doctor->conf_path :
		    arena_printf(doctor->arena, "%s:%u", one->at.file,
		    one->at.line), one->hint, "%s", one->text);
	}
	if (report.count == 0 && !doctor->is_changed)
		doctor_add(doctor, DOCTOR_OK, doctor->conf_path, "",
		    "no errors");
}

/* Mail that an order holds is no fault; mail flows without the others of a
 * cluster. */
static enum doctor_level
standstill_level(const struct standstill_row *row)
{
	static const char *const warned[] = { "drain", "set-aside", "suspend",
		"node", "redis" };

	if (row->is_note)
		return DOCTOR_OK;
	for (size_t i = 0; i < sizeof(warned) / sizeof(warned[0]); i++)
		if (strcmp(row->what, warned[i]) == 0)
			return DOCTOR_WARN;
	return DOCTOR_BAD;
}

void
doctor_standstill(struct doctor *doctor)
{
	struct standstill all;

	standstill_look(doctor->conf, doctor->is_running, doctor->arena, &all);
	if (doctor->is_running)
		standstill_knock(doctor->conf, &all);
	for (size_t i = 0; i < all.count; i++)
		doctor_add(doctor, standstill_level(&all.rows[i]),
		    all.rows[i].what, all.rows[i].next, "%s",
		    all.rows[i].text);
	if (!standstill_has_trouble(&all))
		doctor_add(doctor, DOCTOR_OK, "", "",
		    "no order, full disk or other program keeps mail back");
}

/* The Redis and the PostgreSQL of the cluster, if they answer; if not, that is
 * a standstill. */
static void
doctor_share(struct doctor *doctor)
{
	struct str lines = STR_INIT;
	struct slice rest, line;
	struct share_line parsed;
	enum share_line_kind kind;
	struct err err;

	if (!conf_asks_share(doctor->conf) ||
	    share_ask_status(doctor->conf->run_dir, STANDSTILL_KNOCK_MS,
	    &lines, &err) < 0)
		return;
	rest = str_slice(&lines);
	while (slice_cut(&rest, '\n', &line)) {
		kind = share_line_parse(line, &parsed);
		if (kind == SHARE_REDIS && !parsed.is_trouble)
			doctor_add(doctor, DOCTOR_OK, "cluster", "",
			    "redis " SLICE_FMT " answers",
			    SLICE_ARG(parsed.name));
		if (kind == SHARE_COPIES && !parsed.is_trouble)
			doctor_add(doctor, DOCTOR_OK, "cluster", "",
			    "postgres takes copies of mail");
	}
	str_release(&lines);
}

/* The desk of each other node, and how long its certificate is good. */
static void
doctor_nodes(struct doctor *doctor)
{
	const struct conf_cluster *cluster = &doctor->conf->cluster;

	for (size_t i = 0; conf_asks_nodes(doctor->conf) &&
	    i < cluster->node_count; i++) {
		int64_t ends_s = 0, days;
		struct err err;
		int fd;

		if (strcmp(cluster->nodes[i], cluster->self) == 0)
			continue;
		fd = nodes_ask(doctor->conf->run_dir, cluster->nodes[i],
		    NODES_CONTROL, &ends_s, &err);
		days = (ends_s - clock_wall_s()) / NODES_DAY_S;
		if (fd < 0)
			doctor_add(doctor, DOCTOR_WARN, "cluster",
			    "does zmailer run there, and is its port open?",
			    "the desk of %s does not answer: %s",
			    cluster->nodes[i], err.text);
		else if (ends_s > 0 && days < NODES_SOON_DAYS)
			doctor_add(doctor, DOCTOR_WARN, "cluster",
			    "zmailer cluster keys",
			    "the certificate of %s's desk ends in %d days",
			    cluster->nodes[i], (int)days);
		else
			doctor_add(doctor, DOCTOR_OK, "cluster", "",
			    "the desk of %s answers", cluster->nodes[i]);
		if (fd >= 0)
			close(fd);
	}
}

void
doctor_processes(struct doctor *doctor)
{
	struct str text = STR_INIT;
	struct state state;
	struct err err;

	if (!doctor->is_running) {
		doctor_add(doctor, DOCTOR_BAD, doctor->conf->spool_dir,
		    "zmailer start", "zmailer does not run");
		return;
	}
	if (state_read(doctor->conf->run_dir, &state, &err) != STATE_READ) {
		doctor_add(doctor, DOCTOR_WARN, doctor->conf->run_dir,
		    "ask as root", "the state cannot be read");
		return;
	}
	for (size_t i = 0; i < state.child_count; i++) {
		const struct state_child *child = &state.children[i];
		bool is_ready = strcmp(child->state, "ready") == 0;

		doctor_add(doctor, is_ready ? DOCTOR_OK : DOCTOR_BAD,
		    child->name, is_ready ? "" : "zmailer events",
		    "%s, pid %ld, restarts %u", child->state,
		    (long)child->pid, child->restarts);
	}
	if (program_add_older(&text, &state))
		doctor_add(doctor, DOCTOR_WARN, "programs",
		    program_older_next(&state), "%s", text.buf);
	str_release(&text);
	if (state.refused[0] != '\0')
		doctor_add(doctor, DOCTOR_WARN, "reload", "zmailer check; "
		    "zmailer config undo", "the last one was %s: %s",
		    state.is_partial ? "not taken over by all" : "refused",
		    state.refused);
	if (state.unused[0] != '\0')
		doctor_add(doctor, DOCTOR_WARN, "sockets", "add a listen "
		    "statement, or remove them from the socket unit",
		    "the service manager gave some that no listen statement "
		    "is for: %s", state.unused);
	doctor_share(doctor);
	doctor_nodes(doctor);
	doctor_published(doctor);
}

/* ---- saying so -------------------------------------------------------- */

static const char *const level_words[] = { "ok", "warn", "BAD" };
static const char *const level_colours[] = { "32", "33", "31;1" };

/* On a terminal wrap at blanks; the lines after the first begin in column
 * indent.  In a pipe a finding is one line, its advice another. */
static void
put_wrapped(const char *text, size_t indent)
{
	size_t column = indent;
	struct slice rest = slice_of(text), word;

	if (isatty(STDOUT_FILENO) == 0) {
		printf(SLICE_FMT "\n", SLICE_ARG(rest));
		return;
	}
	while (slice_word(&rest, &word)) {
		if (column + word.n + 1 > LINE_COLUMNS && column > indent) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf(SLICE_FMT, SLICE_ARG(word));
		column += word.n;
	}
	putchar('\n');
}

static void
put_finding(const struct doctor_finding *finding, bool is_fancy)
{
	size_t indent = 6 + AREA_COLUMNS;
	const char *text = finding->what;
	struct str line = STR_INIT;

	if (finding->where[0] != '\0')
		str_addf(&line, "%s: ", finding->where);
	str_adds(&line, text);
	if (is_fancy)
		printf("\033[%sm%-4s\033[0m  ", level_colours[finding->level],
		    level_words[finding->level]);
	else
		printf("%-4s  ", level_words[finding->level]);
	printf("%-*s", AREA_COLUMNS, finding->area);
	put_wrapped(line.buf, indent);
	if (finding->advice[0] != '\0') {
		printf("%*s-> ", (int)indent, "");
		put_wrapped(finding->advice, indent + 3);
	}
	str_release(&line);
}

static void
doctor_put_json(const struct doctor_finding *finding)
{
	static const char *const words[] = { "ok", "warn", "bad" };
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "level", slice_of(words[finding->level]));
	json_text(&out, "area", slice_of(finding->area));
	json_text(&out, "where", slice_of(finding->where));
	json_text(&out, "what", slice_of(finding->what));
	json_text(&out, "advice", slice_of(finding->advice));
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

/* Each area is shown as soon as it is known: the slow ones come late. */
static void
put_from(const struct doctor *doctor, size_t first,
    const struct options *options)
{
	for (size_t i = first; i < doctor->count; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		if (options->is_quiet && finding->level == DOCTOR_OK)
			continue;
		if (options->is_json)
			doctor_put_json(finding);
		else
			put_finding(finding, verb_is_fancy());
	}
	fflush(stdout);
}

static int
doctor_put_sum(const struct doctor *doctor, const struct options *options)
{
	size_t counts[3] = { 0, 0, 0 };

	for (size_t i = 0; i < doctor->count; i++)
		counts[doctor->findings[i].level]++;
	if (!options->is_json && !options->is_quiet)
		printf("%zu bad, %zu warning%s, %zu ok\n",
		    counts[DOCTOR_BAD], counts[DOCTOR_WARN],
		    counts[DOCTOR_WARN] == 1 ? "" : "s", counts[DOCTOR_OK]);
	return counts[DOCTOR_BAD] > 0 ? 2 : counts[DOCTOR_WARN] > 0 ? 1 : 0;
}

static int
doctor_examine(struct doctor *doctor, const struct options *options)
{
	for (size_t i = 0; i < AREA_ROWS; i++) {
		size_t first = doctor->count;

		/* a broken configuration is told whatever was asked for */
		if (options->is_some && !options->is_wanted[i] &&
		    !(i == 0 && doctor->conf == NULL))
			continue;
		if (areas[i].needs_conf && doctor->conf == NULL)
			continue;
		doctor->area = areas[i].name;
		areas[i].fn(doctor);
		put_from(doctor, first, options);
	}
	return doctor_put_sum(doctor, options);
}

/* ---- the command line ------------------------------------------------- */

static void
area_want(struct options *options, const char *name)
{
	for (size_t i = 0; i < AREA_ROWS; i++)
		if (strcmp(areas[i].name, name) == 0)
			options->is_wanted[i] = options->is_some = true;
}

static void
doctor_domain_note(struct doctor *doctor, const char *name)
{
	const char **wider = arena_alloc(doctor->arena,
	    (doctor->domain_count + 1) * sizeof(*wider));

	if (doctor->domain_count > 0)
		memcpy(wider, doctor->domains,
		    doctor->domain_count * sizeof(*wider));
	wider[doctor->domain_count++] = arena_printf(doctor->arena, "%s",
	    name);
	doctor->domains = wider;
}

static bool
area_is(const char *word)
{
	for (size_t i = 0; i < AREA_ROWS; i++)
		if (strcmp(areas[i].name, word) == 0)
			return true;
	return false;
}

/* An area, or a domain that the areas of the DNS are asked about. */
static int
take_word(char *word, struct options *options, struct doctor *doctor)
{
	char name[STS_DOMAIN_BYTES];

	if (area_is(word)) {
		area_want(options, word);
		return EX_OK;
	}
	if (strchr(word, '.') != NULL && sts_domain(slice_of(word), name)) {
		doctor_domain_note(doctor, name);
		return EX_OK;
	}
	fprintf(stderr, "zmailer: doctor: there is no area '%s'; there are:\n",
	    word);
	for (size_t i = 0; i < AREA_ROWS; i++)
		fprintf(stderr, "  %-12s  %s\n", areas[i].name, areas[i].text);
	return EX_USAGE;
}

/* With a domain and no area, those that speak of domains; what auth finds
 * is worth little without dns. */
static void
areas_complete(struct options *options, const struct doctor *doctor)
{
	if (doctor->domain_count > 0 && !options->is_some)
		area_want(options, "auth");
	for (size_t i = 0; i < AREA_ROWS; i++)
		if (options->is_wanted[i] &&
		    strcmp(areas[i].name, "auth") == 0)
			area_want(options, "dns");
}

/* The report is about the present files; everything else is checked with the
 * configuration in force. */
static struct conf *
doctor_conf_load(struct doctor *doctor, const char *conf_path,
    struct conf_report *report)
{
	struct conf_report ignored;
	struct conf *conf, *file;

	conf = conf_load_in_force(conf_path, doctor->arena, &ignored);
	doctor->conf = conf;
	doctor->is_changed = conf != NULL &&
	    conf_files_look(conf) != CONF_FILES_SAME;
	file = conf_load(conf_path, doctor->arena, report);
	conf_free(&file);
	doctor->report = report;
	return conf;
}

int
verb_doctor(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	struct options options = {
	    .is_json = arguments_has(arguments, OPT_JSON),
	    .is_quiet = arguments_has(arguments, OPT_QUIET) };
	struct doctor doctor = {
	    .dns_ms = arguments_number(arguments, OPT_TIMEOUT, DOCTOR_DNS_MS),
	    .outbound = arguments_text(arguments, OPT_OUTBOUND),
	    .arena = arena_new() };
	struct conf_report report;
	struct conf *conf;
	char text[256];
	pid_t pid;
	int status = EX_OK;

	for (int i = 0; i < arguments->count && status == EX_OK; i++)
		status = take_word(arguments->words[i], &options, &doctor);
	if (status != EX_OK) {
		arena_free(&doctor.arena);
		return status;
	}
	areas_complete(&options, &doctor);
	conf = doctor_conf_load(&doctor, conf_path, &report);
	doctor.conf_path = conf_path != NULL ? conf_path :
	    conf_default_path();
	doctor.shows_progress = isatty(STDERR_FILENO) && !options.is_json;
	doctor.is_running = doctor.conf != NULL &&
	    spool_lock_holder(doctor.conf->spool_dir, text, sizeof(text),
		&pid) == SPOOL_LOCK_HELD;
	status = doctor_examine(&doctor, &options);
	conf_free(&conf);
	arena_free(&doctor.arena);
	return status;
}

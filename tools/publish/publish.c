/* publish.c - this node's files on all nodes, or on none
 *
 * In     the configuration in force; what the takers of other nodes answer
 * Out    offers, takes, keeps, backs; a table
 * Holds  nothing that matters: if it dies, every node goes back by itself
 * Trusts no node to be there the next time it is asked
 * Spec   publish.h; doc/CLUSTER.md; doc/protocol/nodes.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/skeleton.h"
#include "tools/publish/steps.h"
#include "tools/publish/trials.h"
#include "tools/screen/question.h"

#include "base/banned.h"

enum {
	KEEP_TRIES = 3,		/* its process may be killed as it decides */
	NAP_MS = 200		/* a signal may come just before a nap */
};

/* ---- interrupts --------------------------------------------------------- */

static volatile sig_atomic_t publish_signal;

static void
publish_hear(int number)
{
	publish_signal = number;
}

/* The first one ends it in order, the second one at once. */
static void
publish_watch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction hear = { .sa_handler = publish_hear,
		.sa_flags = (int)SA_RESETHAND };
	struct sigaction old;

	publish_signal = 0;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &hear, NULL);
}

static void
publish_nap(int64_t nap_ms)
{
	int64_t end_ms = clock_steady_ms() + nap_ms, left_ms;

	while (publish_signal == 0 &&
	    (left_ms = end_ms - clock_steady_ms()) > 0)
		(void)poll(NULL, 0, (int)(left_ms < NAP_MS ? left_ms :
		    NAP_MS));
}

/* ---- who takes part ----------------------------------------------------- */

static struct publish_node *
publish_find(struct publish *publish, struct slice name)
{
	for (size_t i = 0; i < publish->count; i++)
		if (slice_is(name, publish->nodes[i].name))
			return &publish->nodes[i];
	return NULL;
}

void
publish_list(struct publish *publish)
{
	const struct conf_cluster *cluster = &publish->conf->cluster;

	publish->nodes = arena_alloc(publish->arena, (cluster->node_count +
	    1) * sizeof(*publish->nodes));
	for (size_t i = 0; i < cluster->node_count; i++) {
		if (strcmp(cluster->nodes[i], cluster->self) == 0)
			continue;
		publish->nodes[publish->count] = (struct publish_node){
			.name = cluster->nodes[i] };
		str_init(&publish->nodes[publish->count++].words);
	}
}

/* EX_OK, or a status after words about it. */
static int
publish_choose(struct publish *publish)
{
	const struct arguments *arguments = publish->arguments;
	const char *canary = arguments_text(arguments, OPT_CANARY);
	const char *without = arguments_text(arguments, OPT_WITHOUT);
	struct slice rest = slice_of(without == NULL ? "" : without), name;

	while (rest.n > 0 && slice_cut(&rest, ',', &name)) {
		struct publish_node *node = publish_find(publish, name);

		if (node == NULL)
			return arguments_refuse(arguments, "--without: there "
			    "is no other node '%.*s'", (int)name.n, name.p);
		node->is_left_out = true;
	}
	if (arguments_has(arguments, OPT_FOR) && canary == NULL)
		return arguments_refuse(arguments, "--for is the time of "
		    "--canary NODE");
	if (canary == NULL)
		return EX_OK;
	publish->canary = publish_find(publish, slice_of(canary));
	if (publish->canary == NULL || publish->canary->is_left_out)
		return arguments_refuse(arguments, "--canary: there is no "
		    "other node '%s'", canary);
	publish->canary_ms = arguments_number(arguments, OPT_FOR,
	    PUBLISH_CANARY_MS);
	return publish->canary_ms <= PUBLISH_CANARY_MS_MAX ? EX_OK :
	    arguments_refuse(arguments, "--for: at most 6d");
}

/* ---- this node ---------------------------------------------------------- */

int
publish_tell(const char *format, ...)
{
	va_list list;

	fputs("zmailer: config: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	return EX_CONFIG;
}

/* What is sent is what runs here. */
static int
publish_check_here(struct publish *publish)
{
	const struct conf *conf = publish->conf;
	struct err err;

	if (!conf_asks_nodes(conf))
		return publish_tell("no cluster with a desk is configured "
		    "(zmailer help desk)");
	if (geteuid() != 0 && !daemon_is_private(conf)) {
		(void)publish_tell("publish: root may");
		return EX_NOPERM;
	}
	if (conf_files_look(conf) != CONF_FILES_SAME)
		return publish_tell("the files were changed, and are not "
		    "in force here: zmailer reload first");
	if (publish_set_take(conf, publish->arena, &publish->set, &err) < 0)
		return publish_tell("%s", err.text);
	for (size_t i = 0; i < publish->set.left_count; i++)
		if (publish->set.left[i].is_outside)
			return publish_tell("%s lies outside of %s: other "
			    "nodes take what is below it; move it there",
			    publish->set.left[i].path, publish->set.dir);
	if (publish_set_find(&publish->set, publish->set.main) == NULL)
		return publish_tell("others may not read %s, so it is not "
		    "sent: put what is secret into a file of its own, include "
		    "that, and chmod o+r", conf->path);
	return EX_OK;
}

static void
publish_show(const struct publish *publish)
{
	struct str text = STR_INIT;

	if (arguments_has(publish->arguments, OPT_JSON))
		return;
	str_addf(&text, "%zu files below %s:", publish->set.count,
	    publish->set.dir);
	for (size_t i = 0; i < publish->set.count; i++) {
		str_addc(&text, ' ');
		str_add_escaped(&text, slice_of(publish->set.files[i].name));
	}
	str_addc(&text, '\n');
	for (size_t i = 0; i < publish->set.left_count; i++) {
		str_adds(&text, "not sent: ");
		str_add_escaped(&text, slice_of(publish->set.left[i].path));
		str_addf(&text, ": %s\n", publish->set.left[i].why);
	}
	fputs(text.buf, stdout);
	fflush(stdout);
	str_release(&text);
}

/* ---- steps -------------------------------------------------------------- */

void
node_say(const struct publish_node *node, const char *what)
{
	struct slice rest = str_slice(&node->words), line;

	while (slice_cut(&rest, '\n', &line))
		fprintf(stderr, "%s: %s%.*s\n", node->name, what, (int)line.n,
		    line.p);
}

/* All of them, or it is over before anything was changed. */
static int
publish_offer_all(struct publish *publish)
{
	struct publish_order order = { .verb = PUBLISH_OFFER };
	struct str bytes = STR_INIT;
	int status = EX_OK;

	strlcpy(order.id, publish->id, sizeof(order.id));
	publish_set_add(&bytes, &publish->set);
	order.number = bytes.len;
	order.hold_s = (uint64_t)publish->trial_s;
	for (size_t i = 0; i < publish->count; i++) {
		struct publish_node *node = &publish->nodes[i];
		enum publish_said said;

		if (node->is_left_out)
			continue;
		said = publish_ask(publish->conf, node->name, &order,
		    str_slice(&bytes), &node->words);
		/* cut off: it may have it */
		node->is_offered = said == PUBLISH_DONE ||
		    said == PUBLISH_CUT_OFF;
		if (said == PUBLISH_DONE)
			continue;
		node_say(node, said == PUBLISH_REFUSED ? "" :
		    "does not answer: ");
		if (status != EX_CONFIG)
			status = said == PUBLISH_REFUSED ? EX_CONFIG :
			    EX_TEMPFAIL;
	}
	str_release(&bytes);
	if (status != EX_OK)
		fprintf(stderr, "zmailer: config: nothing was changed on any "
		    "node%s\n", status == EX_TEMPFAIL ? "; --without NODE "
		    "leaves one out" : "");
	return status;
}

enum publish_said
publish_order_node(struct publish *publish, struct publish_node *node,
    enum publish_verb verb, size_t number)
{
	struct publish_order order = { .verb = verb, .number = number };

	strlcpy(order.id, publish->id, sizeof(order.id));
	return publish_ask_surely(publish->conf, node->name, &order,
	    verb == PUBLISH_BACK && publish_signal != 0 ? PUBLISH_HURRY_MS :
	    PUBLISH_PATIENCE_MS, &node->words);
}

/* Who cannot be told goes back when its time is over. */
static void
publish_take_back(struct publish *publish)
{
	char until[CLOCK_TEXT_BYTES];
	enum publish_said said;

	for (size_t i = 0; i < publish->count; i++) {
		struct publish_node *node = &publish->nodes[i];

		if (!node->is_taken)
			continue;
		said = publish_order_node(publish, node, PUBLISH_BACK, 0);
		node->is_taken = said != PUBLISH_DONE;
		clock_local(node->until_s, until);
		if (said == PUBLISH_DONE)
			fprintf(stderr, "%s goes back now\n", node->name);
		else if (said == PUBLISH_REFUSED)
			node_say(node, "");
		else
			fprintf(stderr, "%s did not answer: it goes back by "
			    "itself at %s\n", node->name, until);
	}
}

/* What is not taken is put away, so that the next publish need not wait; who
 * does not hear of it forgets it when its time is over. */
static void
publish_withdraw(struct publish *publish)
{
	struct publish_order order = { .verb = PUBLISH_BACK };

	strlcpy(order.id, publish->id, sizeof(order.id));
	for (size_t i = 0; i < publish->count; i++)
		if (publish->nodes[i].is_offered)
			(void)publish_ask(publish->conf,
			    publish->nodes[i].name, &order, SLICE(""),
			    &publish->nodes[i].words);
}

static int
publish_take_node(struct publish *publish, struct publish_node *node)
{
	enum publish_said said;

	node->until_s = clock_wall_s() + publish->trial_s;
	said = publish_order_node(publish, node, PUBLISH_TAKE,
	    (size_t)publish->trial_s);
	node->is_taken = said == PUBLISH_DONE;
	node->is_offered = false;
	if (node->is_taken)
		return EX_OK;
	node_say(node, said == PUBLISH_REFUSED ? "" : "does not answer: ");
	/* it may have it, and does not say so */
	node->is_taken = said == PUBLISH_CUT_OFF;
	publish_take_back(publish);
	fputs("zmailer: config: all nodes have what they had\n", stderr);
	return said == PUBLISH_REFUSED ? EX_CONFIG : EX_TEMPFAIL;
}

/* Before all have it nothing is decided. */
static int
publish_stop(struct publish *publish)
{
	(void)publish_tell("interrupted: no node keeps it");
	publish_take_back(publish);
	return PUBLISH_INTERRUPTED;
}

/* Until it had gone back it went on; if it does not tell, what is known. */
static void
publish_note_trial(struct publish *publish, const struct figures *begin,
    const struct figures *after)
{
	const char *node = publish->canary->name;
	struct figures end, trial;
	struct err err;

	if (figures_ask(publish->conf, node, &end, &err) < 0)
		end = *after;
	trial = figures_between(begin, &end);
	trials_note(publish, node, &trial, &end);
}

static int
publish_canary(struct publish *publish)
{
	struct publish_node *node = publish->canary;
	struct figures begin, after, now;
	struct str text = STR_INIT;
	struct err err;
	bool is_worse;
	int status;

	if (figures_ask(publish->conf, node->name, &begin, &err) < 0) {
		(void)publish_tell("%s: %s", node->name, err.text);
		return EX_TEMPFAIL;
	}
	status = publish_take_node(publish, node);
	if (status != EX_OK)
		return status;
	if (!arguments_has(publish->arguments, OPT_JSON)) {
		printf("%s has it; for %lld s its refusals and failures are "
		    "watched\n", node->name,
		    (long long)(publish->canary_ms / 1000));
		fflush(stdout);
	}
	publish_nap(publish->canary_ms);
	if (publish_signal != 0) {
		status = publish_stop(publish);
		if (!node->is_taken)
			publish_note_trial(publish, &begin, &begin);
		return status;
	}
	if (figures_ask(publish->conf, node->name, &after, &err) < 0) {
		publish_take_back(publish);
		(void)publish_tell("%s: %s; it goes back", node->name,
		    err.text);
		return EX_TEMPFAIL;
	}
	publish->before = trials_leave_out(publish, node->name, begin);
	now = figures_between(&begin, &after);
	figures_add(&text, &publish->before, &now);
	is_worse = figures_are_worse(&publish->before, &now);
	fprintf(is_worse || arguments_has(publish->arguments, OPT_JSON) ?
	    stderr : stdout, "%s: %s%s\n", node->name,
	    text.buf, is_worse ? ": it goes back" : "");
	str_release(&text);
	if (!is_worse)
		return EX_OK;
	publish_take_back(publish);
	publish_note_trial(publish, &begin, &after);
	return 1;
}

static int
publish_take_all(struct publish *publish)
{
	int status = publish->canary == NULL ? EX_OK :
	    publish_canary(publish);

	for (size_t i = 0; status == EX_OK && publish_signal == 0 &&
	    i < publish->count; i++)
		if (!publish->nodes[i].is_left_out &&
		    !publish->nodes[i].is_taken)
			status = publish_take_node(publish,
			    &publish->nodes[i]);
	if (status == EX_OK && publish_signal != 0)
		status = publish_stop(publish);
	return status;
}

static int
publish_keep_all(struct publish *publish)
{
	int status = EX_OK;

	for (size_t i = 0; i < publish->count; i++) {
		struct publish_node *node = &publish->nodes[i];
		enum publish_said said;

		if (node->is_left_out)
			continue;
		said = PUBLISH_REFUSED;
		for (int n = 0; n < KEEP_TRIES && said != PUBLISH_DONE; n++)
			said = publish_order_node(publish, node, PUBLISH_KEEP,
			    0);
		node->is_kept = said == PUBLISH_DONE;
		if (node->is_kept)
			continue;
		node_say(node, "did not hear that it stays, and goes back by "
		    "itself: ");
		status = EX_TEMPFAIL;
	}
	return status;
}

/* ---- the verb ----------------------------------------------------------- */

/* true: go on; else *out_status is the end. */
static bool
publish_confirm(const struct publish *publish, int *out_status)
{
	*out_status = EX_OK;
	if (arguments_has(publish->arguments, OPT_DRY_RUN)) {
		if (!arguments_has(publish->arguments, OPT_JSON))
			puts("every node would take it; nothing was changed");
		return false;
	}
	if (arguments_has(publish->arguments, OPT_YES))
		return true;
	if (!question_can_be_asked()) {
		*out_status = EX_USAGE;
		(void)publish_tell("say --yes to do this");
		return false;
	}
	*out_status = 1;
	return question_is_yes("Publish this");
}

static int
publish_locked(struct publish *publish)
{
	bool is_begun;
	int status;

	publish_show(publish);
	publish_watch_signals();
	status = publish_offer_all(publish);
	is_begun = status == EX_OK && publish_confirm(publish, &status);
	if (is_begun)
		status = publish_take_all(publish);
	publish_withdraw(publish);
	if (!is_begun && publish_signal != 0) {
		(void)publish_tell("interrupted: nothing was changed on any "
		    "node");
		return PUBLISH_INTERRUPTED;
	}
	if (is_begun && status == 1)
		(void)publish_tell("this node still has what went back "
		    "there: zmailer config undo, or mend it and publish again");
	if (!is_begun || status != EX_OK)
		return status;
	status = publish_keep_all(publish);
	publish_note(publish);
	publish_table(publish);
	return status;
}

static int
publish_steps(struct publish *publish)
{
	int status = publish_check_here(publish), lock;
	struct err err;

	if (status != EX_OK)
		return status;
	publish_list(publish);
	status = publish_choose(publish);
	if (status != EX_OK)
		return status;
	publish_id_make(publish->id);
	publish->trial_s = PUBLISH_TRIAL_S + publish->canary_ms / 1000 +
	    PUBLISH_TRIAL_NODE_S * (int64_t)publish->count;
	lock = record_lock_sender(publish->conf->spool_dir, clock_wall_s() +
	    publish->trial_s, &err);
	if (lock < 0) {
		(void)publish_tell("%s", err.text);
		return EX_TEMPFAIL;
	}
	status = publish_locked(publish);
	close(lock);
	return status;
}

int
publish_with(const struct arguments *arguments,
    int (*steps)(struct publish *publish))
{
	struct publish publish = { .arguments = arguments,
	    .arena = arena_new() };
	struct conf *conf = verb_conf(arguments->conf_path);
	int status;

	publish.conf = conf;
	status = steps(&publish);
	for (size_t i = 0; i < publish.count; i++)
		str_release(&publish.nodes[i].words);
	conf_free(&conf);
	arena_free(&publish.arena);
	return status;
}

int
publish_run(const struct arguments *arguments)
{
	return publish_with(arguments, publish_steps);
}

/* order.c - a verb from the command line to the scheduler and the files
 *
 * In     argv, a row of orders.h
 * Out    each message chosen has it; what was done, and a count
 * Trusts the person at the keyboard, once the choice was confirmed
 * Spec   selection.h; doc/protocol/control.md sections 3 and 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "journal/event.h"
#include "base/json.h"
#include "daemon/skeleton.h"
#include "mail/spool/moves.h"
#include "tools/selection/progress.h"
#include "tools/selection/selection.h"
#include "tools/queue/control.h"

#include "base/banned.h"

enum { BATCH_MAX = 1000, OFFSETS_MAX = 4000, ORDER_INTERRUPTED = 130 };

struct run {
	const struct selection_order	*order;
	struct selection_options	 options;
	struct selection_choice	 choice;
	struct control		 control;
	enum control_reached	 reached;	/* the scheduler */
	struct str		 request, last;
	int64_t			 messages, recipients;	/* done */
	int64_t			 active, final;		/* left alone */
	int64_t			 until_s;	/* the last one's moment */
	unsigned		 failed;
	struct selection_progress		 progress;
	uint64_t		 handled;	/* messages, done or not */
	bool			 is_stopped;	/* by ctrl-C */
};

/* Mail that is the scheduler's own. */
static bool
is_queued(const struct selection_item *item)
{
	enum spool_area area;

	return item->area == AREA_TRANSPORT || (item->area == AREA_TRASH &&
	    !spool_trash_origin(item->name, &area));
}

static void
order_fail(struct run *run, const struct err *err)
{
	run->failed++;
	fprintf(stderr, "zmailer: %s: %s\n", run->options.verb, err->text);
}

/* The scheduler's socket said no. */
static int
fail_control(struct run *run, const struct err *err)
{
	run->failed++;
	return control_failed(run->options.verb, &run->control, err);
}

/* What the scheduler is asked for. */
static const char *
order_op(const struct run *run)
{
	return run->options.is_failed ? "retry-failed" : run->order->op;
}

/* ---- the scheduler's mail ------------------------------------------- */

static void
order_add_fields(struct run *run)
{
	const struct selection_options *options = &run->options;
	char who[64];

	verb_who(who, sizeof(who));
	json_text(&run->request, "who", slice_of(who));
	if (*options->reason != '\0')
		json_text(&run->request, "reason", slice_of(options->reason));
	if (options->until != NULL)
		json_text(&run->request, "until", slice_of(options->until));
	if (options->next != NULL)
		json_text(&run->request, "next", slice_of(options->next));
	if (options->expire != NULL)
		json_text(&run->request, "expire", slice_of(options->expire));
	if (options->per_second >= 0)
		json_number(&run->request, "per_second",
		    options->per_second);
	if (options->is_dry)
		json_bool(&run->request, "dry_run", true);
	/* a batch goes on where the one before it ends */
	if (strcmp(order_op(run), "retry") == 0 && run->until_s > 0)
		json_number(&run->request, "start", run->until_s);
}

static void
order_tell(struct run *run)
{
	struct slice last;
	struct err err;

	if (control_ask(&run->control, &run->request, NULL, NULL, &run->last,
		&err) < 0) {
		/* it may be at another node */
		if (!run->control.is_unknown || control_node() == NULL)
			fail_control(run, &err);
		return;
	}
	last = str_slice(&run->last);
	run->messages += json_get_number(last, "messages");
	run->recipients += json_get_number(last, "recipients");
	run->active += json_get_number(last, "active");
	run->final += json_get_number(last, "final");
	if (json_get_number(last, "until") > run->until_s)
		run->until_s = json_get_number(last, "until");
	if (run->options.is_json)
		control_put_line(last);
}

/* Whole messages, many in a request. */
static void
tell_ids(struct run *run, const struct slice *ids, size_t count)
{
	if (count == 0)
		return;
	control_begin(&run->request, order_op(run));
	json_list(&run->request, "ids", ids, count);
	order_add_fields(run);
	order_tell(run);
}

/* Some recipients of one message. */
static void
tell_offsets(struct run *run, const struct selection_item *item)
{
	struct slice offsets[OFFSETS_MAX];
	char text[OFFSETS_MAX][12];

	for (size_t at = 0; at < item->rcpt_count;) {
		size_t count = 0;

		while (at < item->rcpt_count && count < OFFSETS_MAX) {
			snprintf(text[count], sizeof(text[0]), "%" PRIu32,
			    item->offsets[at++]);
			offsets[count] = slice_of(text[count]);
			count++;
		}
		control_begin(&run->request, order_op(run));
		json_text(&run->request, "id", slice_of(item->id));
		json_list(&run->request, "offsets", offsets, count);
		order_add_fields(run);
		order_tell(run);
	}
}

static void
order_handled(struct run *run, size_t count)
{
	run->handled += count;
	if (!run->is_stopped)
		run->is_stopped = !progress_step(&run->progress,
		    run->handled);
}

static void
order_queue(struct run *run)
{
	struct slice ids[BATCH_MAX];
	size_t count = 0;

	for (size_t i = 0; i < run->choice.count; i++) {
		const struct selection_item *item = &run->choice.items[i];

		if (!is_queued(item))
			continue;
		if (run->is_stopped)
			return;
		if (item->area == AREA_TRANSPORT &&
		    item->rcpt_count < item->rcpt_total) {
			tell_offsets(run, item);
			order_handled(run, 1);
			continue;
		}
		ids[count++] = slice_of(item->id);
		if (count == BATCH_MAX) {
			tell_ids(run, ids, count);
			order_handled(run, count);
			count = 0;
		}
	}
	if (!run->is_stopped)
		tell_ids(run, ids, count);
	order_handled(run, count);
}

/* ---- files that were set aside ---------------------------------------- */

static void
order_file_carry_out(struct run *run, const struct selection_item *item)
{
	struct str line = STR_INIT;
	struct err err;

	bool is_done = run->order->act(&run->choice, item, &run->options,
	    &err) == 1;

	progress_hide(&run->progress);
	if (!is_done) {
		order_fail(run, &err);
		if (run->options.is_json)
			selection_add_json(&line, item, NULL, err.text);
	} else {
		run->messages++;
		run->recipients += (int64_t)item->rcpt_total;
		if (run->options.is_json) {
			selection_add_json(&line, item, run->order->done, NULL);
		} else {
			str_addf(&line, "%s ", run->order->done);
			selection_add_item(&line, item, run->choice.now_s);
		}
	}
	fputs(line.buf, stdout);
	str_release(&line);
}

static void
order_files(struct run *run, const struct conf *conf)
{
	struct err err;

	event_open(conf->log_dir);
	for (size_t i = 0; i < run->choice.count; i++)
		if (!is_queued(&run->choice.items[i]) && !run->is_stopped) {
			order_file_carry_out(run, &run->choice.items[i]);
			order_handled(run, 1);
		}
	/* before the last word: what was answered, no power cut undoes */
	if (spool_sync_moves(run->choice.spool, &err) < 0)
		order_fail(run, &err);
	event_flush();
}

/* ---- all of it ------------------------------------------------------- */

static bool
needs_scheduler(const struct run *run)
{
	for (size_t i = 0; i < run->choice.count; i++)
		if (is_queued(&run->choice.items[i]))
			return true;
	return false;
}

static bool
order_has_files(const struct run *run)
{
	for (size_t i = 0; i < run->choice.count; i++)
		if (!is_queued(&run->choice.items[i]))
			return true;
	return false;
}

static int
order_conclude(const struct run *run)
{
	if (run->options.is_dry && !run->options.is_json)
		printf("%" PRId64 " message%s (%" PRId64 " recipient%s), and "
		    "nothing was done\n", run->messages, run->messages == 1 ?
		    "" : "s", run->recipients, run->recipients == 1 ? "" :
		    "s");
	else if (!run->options.is_json && !run->options.is_quiet) {
		printf("%" PRId64 " message%s %s (%" PRId64 " recipient%s)",
		    run->messages, run->messages == 1 ? "" : "s",
		    run->order->done, run->recipients,
		    run->recipients == 1 ? "" : "s");
		if (run->active > 0)
			printf(", %" PRId64 " left alone: at an agent now",
			    run->active);
		if (run->final > 0)
			printf(strcmp(order_op(run), "retry") == 0 ?
			    ", %" PRId64 " had their outcome before: "
			    "--failed tries those again that failed" :
			    ", %" PRId64 " already have their outcome",
			    run->final);
		putchar('\n');
	}
	if (run->control.is_denied)
		return EX_NOPERM;
	return run->failed > 0 ||
	    (run->messages == 0 && !run->options.is_quiet) ? 1 : EX_OK;
}

/* Before the right to write the configuration is given up. */
static int
order_senders_allow(struct run *run, const struct conf *conf)
{
	struct slice *senders = mem_alloc(run->choice.count + 1,
	    sizeof(*senders));
	size_t count = 0;
	int status = EX_OK;

	for (size_t i = 0; i < run->choice.count; i++)
		if (!is_queued(&run->choice.items[i]) &&
		    run->choice.items[i].sender.n > 0)
			senders[count++] = run->choice.items[i].sender;
	if (count > 0)
		status = selection_allow(conf->path[0] ? conf->path : NULL,
		    senders, count, true);
	mem_free(&senders);
	return status;
}

static bool
order_is_retry(const struct run *run)
{
	return run->order->op != NULL && strcmp(order_op(run), "retry") == 0;
}

/* Held and frozen mail is left alone by retry: it is neither shown nor counted
 * before.  0 or EX_USAGE. */
static int
order_narrow(const struct run *run, struct arena *arena,
    struct selector **selector)
{
	struct selection_options options = run->options;
	int status;

	if (!order_is_retry(run) || options.words.len == 0)
		return EX_OK;
	str_init(&options.words);
	str_addf(&options.words, "not (state=held or state=frozen) (%s)",
	    run->options.words.buf);
	status = selection_selector(&options, arena, selector);
	str_release(&options.words);
	return status;
}

/* Is all that is meant held or frozen? */
static bool
order_is_parked(const struct conf *conf, const struct selector *selector)
{
	struct selection_choice choice = { .count = 0 };
	struct err err;
	bool is_parked = selection_choose(conf, 1u << AREA_TRANSPORT, selector,
	    &choice, &err) == 0 && choice.count > 0;

	if (choice.arena != NULL)
		selection_choice_release(&choice);
	return is_parked;
}

/* Nothing is meant here; what is elsewhere is said with the verb for it. */
static int
order_none(const struct run *run, const struct conf *conf,
    const struct selector *selector)
{
	if (!run->options.is_quiet && order_is_retry(run) &&
	    selector != NULL && order_is_parked(conf, selector)) {
		fprintf(stderr, "zmailer: %s: all that matches is held or "
		    "frozen, and stays so: zmailer release, zmailer thaw let "
		    "it go\n", run->options.verb);
		return 1;
	}
	if (!run->options.is_quiet && selector != NULL &&
	    !selector_is_all(selector) && selection_say_aside(
	    run->options.verb, conf, run->order->areas, selector))
		return 1;
	return selection_none(&run->options);
}

static int
order_all(struct run *run, const struct conf *conf,
    const struct selector *selector)
{
	struct err err;
	int status;

	if (run->choice.count == 0)
		return order_none(run, conf, selector);
	if (!selection_confirm(&run->options, &run->choice, &status))
		return status;
	if (needs_scheduler(run) && run->reached != CONTROL_REACHED)
		return control_stopped(run->options.verb, conf->run_dir,
		    "and queued mail is its own; `zmailer show` reads it");
	if (run->options.allows &&
	    (status = order_senders_allow(run, conf)) != EX_OK)
		return status;
	status = EX_OK;
	progress_begin(&run->progress, run->options.verb, run->order->done,
	    run->choice.count);
	order_queue(run);
	if (order_has_files(run) && !run->is_stopped) {
		if (daemon_drop(conf, ROLE_ROUTER, &err) < 0)
			status = verb_failed(run->options.verb, &err,
			    EX_NOPERM);
		else
			order_files(run, conf);
	}
	if (progress_end(&run->progress, (uint64_t)run->messages))
		return ORDER_INTERRUPTED;
	return status == EX_OK ? order_conclude(run) : status;
}

/* Of another node's files nothing is known here. */
static int
order_sum_up(struct run *run, const struct conf *conf,
    const struct selector *selector)
{
	if (run->failed > 0 || run->messages + run->active + run->final +
	    json_get_number(str_slice(&run->last), "unchanged") > 0)
		return order_conclude(run);
	return control_node() != NULL ? selection_none(&run->options) :
	    order_none(run, conf, selector);
}

/* Without being asked about it: the scheduler finds what is meant, and no
 * file needs to be read here first. */
static int
order_selected(struct run *run, const struct conf *conf,
    const struct selector *selector)
{
	run->control.waits_as = run->options.verb;
	control_begin(&run->request, order_op(run));
	json_text(&run->request, "select", str_slice(&run->options.words));
	order_add_fields(run);
	order_tell(run);
	return order_sum_up(run, conf, selector);
}

/* Are the words whole ids and nothing else?  Then out has them. */
static size_t
order_take_ids(const struct run *run, struct slice out[BATCH_MAX])
{
	struct slice rest = str_slice(&run->options.words), word;
	size_t count = 0;

	while (slice_word(&rest, &word)) {
		if (count == BATCH_MAX || !spool_id_is(word))
			return 0;
		out[count++] = word;
	}
	return count;
}

/* Another node's mail is its scheduler's to find; in trash/ only by id. */
static int
order_at_node(struct run *run, const struct conf *conf,
    const struct selector *selector)
{
	struct slice ids[BATCH_MAX];
	size_t count = order_take_ids(run, ids);

	if (run->options.allows)
		return arguments_refuse(run->options.arguments, "--allow "
		    "changes the configuration of this node alone");
	if (run->options.words.len == 0)
		return arguments_refuse(run->options.arguments, "which "
		    "messages?  'all' means every one");
	if (count == 0)
		return strcmp(order_op(run), "undelete") == 0 ?
		    arguments_refuse(run->options.arguments, "at another node "
		    "it takes whole ids") : order_selected(run, conf, selector);
	tell_ids(run, ids, count);
	return order_sum_up(run, conf, selector);
}

static bool
is_for_scheduler(const struct run *run, const struct selector *selector)
{
	return run->reached == CONTROL_REACHED && run->order->areas == 0 &&
	    run->order->act == NULL && run->options.is_yes &&
	    !run->options.is_dry && selector != NULL &&
	    selection_is_shared(selector);
}

static int
order_check(const struct run *run)
{
	const struct arguments *arguments = run->options.arguments;

	if (strcmp(run->options.verb, "schedule") == 0 &&
	    run->options.next == NULL && run->options.expire == NULL)
		return arguments_refuse(arguments, "say --next or --expire, "
		    "as +2h or as seconds since 1970");
	if (run->options.is_failed && run->options.per_second >= 0)
		return arguments_refuse(arguments, "--failed: what has "
		    "failed is tried again at once; --per-second is for "
		    "what waits");
	if (arguments_has(arguments, OPT_REASON) &&
	    *run->options.reason == '\0')
		return arguments_refuse(arguments, "--reason: its words are "
		    "missing");
	return EX_OK;
}

/* --failed: of what the words mean only those. */
static int
order_only_failed(struct run *run, struct arena *arena,
    struct selector **selector)
{
	struct str *words = &run->options.words;
	struct str meant = STR_INIT;

	if (words->len == 0)
		str_adds(&meant, "state=failed");
	else
		str_addf(&meant, "state=failed (%s)", words->buf);
	str_release(words);
	*words = meant;
	return selection_selector(&run->options, arena, selector);
}

static int
selection_order_do(struct run *run, const struct conf *conf,
    struct arena *arena)
{
	unsigned areas = run->order->areas;
	struct selector *selector, *chosen;
	struct err err;
	int status = order_check(run);

	if (status != EX_OK)
		return status;
	status = selection_selector(&run->options, arena, &selector);
	if (status == EX_OK && run->options.is_failed)
		status = order_only_failed(run, arena, &selector);
	if (status != EX_OK)
		return status;
	if (run->order->op != NULL) {
		run->reached = control_connect(conf->run_dir, &run->control,
		    &err);
		areas |= 1u << AREA_TRANSPORT;
	}
	if (run->reached == CONTROL_BROKEN)
		return fail_control(run, &err);
	if (run->reached == CONTROL_REACHED && control_node() != NULL)
		return order_at_node(run, conf, selector);
	if (is_for_scheduler(run, selector))
		return order_selected(run, conf, selector);
	chosen = selector;
	status = order_narrow(run, arena, &chosen);
	if (status != EX_OK)
		return status;
	if (selection_choose(conf, areas, chosen, &run->choice, &err) < 0)
		return verb_failed(run->options.verb, &err, EX_NOINPUT);
	return order_all(run, conf, selector);
}

int
selection_order(const struct arguments *arguments,
    const struct selection_order *order)
{
	struct run run = { .order = order, .control = { .fd = -1 } };
	int status = selection_options_take(arguments, &run.options);
	struct arena *arena;
	struct conf *conf;

	if (status == EX_OK) {
		conf = verb_conf(arguments->conf_path);
		arena = arena_new();
		str_init(&run.request);
		str_init(&run.last);
		str_init(&run.control.in);
		status = selection_order_do(&run, conf, arena);
		control_hang_up(&run.control);
		if (run.choice.arena != NULL)
			selection_choice_release(&run.choice);
		str_release(&run.request);
		str_release(&run.last);
		arena_free(&arena);
		conf_free(&conf);
	}
	selection_options_release(&run.options);
	return status;
}

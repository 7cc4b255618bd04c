/* move.c - zmailer move: mail of the queue goes to another node of the cluster
 *
 * In     argv: a selector, a node
 * Out    the scheduler's counts; how many have left
 * Spec   zmailer-order(8); doc/protocol/control.md sections 4 and 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/selection/progress.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/orders/move.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { MOVE_BATCH = 2000, MOVE_ASK_EVERY_MS = 200, MOVE_INTERRUPTED = 130 };

struct moving {
	struct control	*control;
	const struct move_words *words;
	struct str	 request, last;
	int64_t		 number;	/* of the order */
	struct selection_progress progress;
	struct {
		int64_t messages, recipients, unchanged, active, final,
			too_large;
	} given;
	struct {
		int64_t	waiting, offered, left, stayed;
		char	why[200];
	} now;
};

/* ---- the order ---------------------------------------------------------- */

static void
moving_add_words(struct moving *moving, bool is_undo)
{
	const struct move_words *words = moving->words;
	char who[64];

	verb_who(who, sizeof(who));
	json_text(&moving->request, "who", slice_of(who));
	if (words->reason[0] != '\0')
		json_text(&moving->request, "reason",
		    slice_of(words->reason));
	if (is_undo)
		json_bool(&moving->request, "undo", true);
	else
		json_text(&moving->request, "to", slice_of(words->node));
	if (words->is_dry)
		json_bool(&moving->request, "dry_run", true);
}

/* ids: count from first on; count 0: what select means. */
static int
moving_order(struct moving *moving, size_t first, size_t count,
    struct err *err)
{
	const struct move_words *words = moving->words;
	struct slice last;

	control_begin(&moving->request, "move");
	if (count > 0)
		json_list(&moving->request, "ids", words->ids + first, count);
	else
		json_text(&moving->request, "select", words->select);
	moving_add_words(moving, words->node == NULL);
	if (control_ask(moving->control, &moving->request, NULL, NULL,
	    &moving->last, err) < 0)
		return -1;
	last = str_slice(&moving->last);
	moving->given.messages += json_get_number(last, "messages");
	moving->given.recipients += json_get_number(last, "recipients");
	moving->given.unchanged += json_get_number(last, "unchanged");
	moving->given.active += json_get_number(last, "active");
	moving->given.final += json_get_number(last, "final");
	moving->given.too_large += json_get_number(last, "too_large");
	moving->number = json_get_number(last, "move");
	if (words->is_json)
		control_put_line(last);
	return 0;
}

static int
moving_order_all(struct moving *moving, struct err *err)
{
	const struct move_words *words = moving->words;

	if (words->ids == NULL)
		return moving_order(moving, 0, 0, err);
	for (size_t at = 0; at < words->id_count; at += MOVE_BATCH) {
		size_t left = words->id_count - at;

		if (moving_order(moving, at, left < MOVE_BATCH ? left :
		    MOVE_BATCH, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- until all have left ------------------------------------------------ */

/* control_fn */
static bool
moving_take_line(void *context, struct slice line)
{
	struct moving *moving = context;
	struct str why = STR_INIT;

	if (json_get_number(line, "move") != moving->number)
		return true;
	moving->now.waiting = json_get_number(line, "waiting");
	moving->now.offered = json_get_number(line, "offered");
	moving->now.left = json_get_number(line, "left");
	moving->now.stayed = json_get_number(line, "stayed");
	(void)json_get(line, "why", &why);
	snprintf(moving->now.why, sizeof(moving->now.why), "%s",
	    why.len > 0 ? why.buf : "");
	str_release(&why);
	return true;
}

/* 1: all have an end; 0: not yet; -1: err. */
static int
moving_look(struct moving *moving, struct err *err)
{
	control_begin(&moving->request, "moves");
	if (control_ask(moving->control, &moving->request, moving_take_line,
	    moving, &moving->last, err) < 0)
		return -1;
	return moving->now.waiting + moving->now.offered == 0;
}

static void
moving_pause(void)
{
	const struct timespec nap = { 0, MOVE_ASK_EVERY_MS * 1000000L };

	nanosleep(&nap, NULL);
}

/* 0; -1: err.  *out_is_stopped: by ctrl-C. */
static int
moving_wait(struct moving *moving, bool *out_is_stopped, struct err *err)
{
	int64_t end_ms = clock_steady_ms() + moving->words->wait_ms;
	int got;

	*out_is_stopped = false;
	progress_begin(&moving->progress, moving->words->verb, "moved",
	    (uint64_t)moving->given.messages);
	while ((got = moving_look(moving, err)) == 0 &&
	    clock_steady_ms() < end_ms) {
		if (!progress_step(&moving->progress,
		    (uint64_t)moving->now.left))
			break;
		moving_pause();
	}
	*out_is_stopped = progress_end(&moving->progress,
	    (uint64_t)moving->now.left);
	return got < 0 ? -1 : 0;
}

/* ---- what is said ------------------------------------------------------- */

static void
moving_say_given(const struct moving *moving)
{
	const struct move_words *words = moving->words;

	printf("%" PRId64 " message%s (%" PRId64 " recipient%s) %s%s",
	    moving->given.messages, moving->given.messages == 1 ? "" : "s",
	    moving->given.recipients, moving->given.recipients == 1 ? "" :
	    "s", words->node == NULL ? "called back" : words->is_dry ?
	    "would move to " : "offered to ", words->node == NULL ? "" :
	    words->node);
	if (moving->given.active > 0)
		printf(", %" PRId64 " left alone: at an agent now",
		    moving->given.active);
	if (moving->given.too_large > 0)
		printf(", %" PRId64 " stay: larger than a copy may be "
		    "(copies size)", moving->given.too_large);
	putchar('\n');
}

static void
moving_say_end(const struct moving *moving)
{
	const char *node = moving->words->node;
	int64_t open = moving->now.waiting + moving->now.offered;

	printf("%" PRId64 " have left for %s", moving->now.left, node);
	if (moving->now.stayed > 0)
		printf(", %" PRId64 " stay here", moving->now.stayed);
	if (open > 0)
		printf(", %" PRId64 " are offered still (zmailer move --undo "
		    "takes them back)", open);
	putchar('\n');
	if (moving->now.stayed > 0 && moving->now.why[0] != '\0')
		printf("why: %s\n", moving->now.why);
}

static void
moving_put_end(const struct moving *moving)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_number(&out, "move", moving->number);
	json_text(&out, "to", slice_of(moving->words->node));
	json_number(&out, "left", moving->now.left);
	json_number(&out, "stayed", moving->now.stayed);
	json_number(&out, "offered", moving->now.waiting +
	    moving->now.offered);
	json_text(&out, "why", slice_of(moving->now.why));
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

/* returns an exit status */
static int
moving_finish(struct moving *moving, struct err *err)
{
	bool is_json = moving->words->is_json, is_stopped;

	if (moving->given.messages + moving->given.unchanged +
	    moving->given.active + moving->given.final == 0 &&
	    strcmp(moving->words->verb, "move") == 0)
		fprintf(stderr, "zmailer: %s: no message matches\n",
		    moving->words->verb);
	else if (!is_json)
		moving_say_given(moving);
	if (moving->words->node == NULL || moving->words->is_dry ||
	    moving->given.messages == 0)
		return moving->given.messages > 0 ? EX_OK : 1;
	fflush(stdout);
	if (moving_wait(moving, &is_stopped, err) < 0)
		return control_failed(moving->words->verb, moving->control,
		    err);
	if (is_json)
		moving_put_end(moving);
	else
		moving_say_end(moving);
	if (is_stopped)
		return MOVE_INTERRUPTED;
	return moving->now.waiting + moving->now.offered +
	    moving->now.stayed == 0 ? EX_OK : EX_TEMPFAIL;
}

int
move_mail(struct control *control, const struct move_words *words)
{
	struct moving moving = { .control = control, .words = words,
	    .request = STR_INIT, .last = STR_INIT };
	struct err err;
	int status;

	control->waits_as = words->verb;
	if (moving_order_all(&moving, &err) < 0)
		status = control_failed(words->verb, control, &err);
	else
		status = moving_finish(&moving, &err);
	str_release(&moving.request);
	str_release(&moving.last);
	return status;
}

/* ---- the verb ----------------------------------------------------------- */

/* "... to NODE" at the end of the words.  NULL: there is none. */
static const char *
move_take_node(const struct arguments *arguments, struct str *selector)
{
	int count = arguments->count;

	if (count < 3 || strcmp(arguments->words[count - 2], "to") != 0)
		return NULL;
	str_reset(selector);
	for (int i = 0; i < count - 2; i++)
		str_addf(selector, "%s%s", i > 0 ? " " : "",
		    arguments->words[i]);
	return arguments->words[count - 1];
}

static int
move_chosen(const struct selection_options *options, const struct conf *conf,
    const struct selector *selector, struct control *control,
    struct move_words *words)
{
	struct selection_choice choice = { .count = 0 };
	struct slice *ids = NULL;
	int status = EX_OK;
	struct err err;

	if (selection_choose(conf, 1u << AREA_TRANSPORT, selector, &choice,
	    &err) < 0) {
		status = verb_failed("move", &err, EX_NOINPUT);
	} else if (selection_confirm(options, &choice, &status)) {
		ids = mem_alloc(choice.count + 1, sizeof(*ids));
		for (size_t i = 0; i < choice.count; i++)
			ids[i] = slice_of(choice.items[i].id);
		words->ids = ids;
		words->id_count = choice.count;
		status = move_mail(control, words);
		mem_free(&ids);
	}
	if (choice.arena != NULL)
		selection_choice_release(&choice);
	return status;
}

static int
move_do(const struct selection_options *options, const struct conf *conf,
    struct arena *arena, struct move_words *words)
{
	struct control control = { .fd = -1 };
	struct selector *selector;
	struct err err;
	int status = selection_selector(options, arena, &selector);

	if (status != EX_OK)
		return status;
	words->select = str_slice(&options->words);
	str_init(&control.in);
	switch (control_connect(conf->run_dir, &control, &err)) {
	case CONTROL_ABSENT:
		return control_stopped("move", conf->run_dir, NULL);
	case CONTROL_BROKEN:
		return control_failed("move", &control, &err);
	case CONTROL_REACHED:
		break;
	}
	/* who says yes is asked nothing, and the scheduler finds the mail */
	if (options->is_yes || options->is_dry || words->node == NULL)
		status = move_mail(&control, words);
	else
		status = move_chosen(options, conf, selector, &control,
		    words);
	control_hang_up(&control);
	return status;
}

static int
move_check(const struct arguments *arguments, struct str *selector,
    struct move_words *words)
{
	words->node = move_take_node(arguments, selector);
	if (!arguments_has(arguments, OPT_UNDO))
		return words->node != NULL ? EX_OK : arguments_refuse(
		    arguments, "which mail to which node?  zmailer move "
		    "SELECTOR to NODE");
	if (words->node != NULL)
		return arguments_refuse(arguments, "--undo: mail goes to no "
		    "node then; give a selector, or nothing");
	if (selector->len == 0)
		str_adds(selector, "all");
	return EX_OK;
}

int
verb_move(struct arguments *arguments)
{
	struct selection_options options;
	int status = selection_options_take(arguments, &options);
	struct move_words words = { .verb = "move",
	    .reason = options.reason, .is_dry = options.is_dry,
	    .is_json = options.is_json,
	    .wait_ms = arguments_number(arguments, OPT_WAIT,
	    MOVE_WAIT_MS) };
	struct arena *arena;
	struct conf *conf;

	if (status == EX_OK)
		status = move_check(arguments, &options.words, &words);
	if (status == EX_OK) {
		conf = verb_conf(arguments->conf_path);
		arena = arena_new();
		status = move_do(&options, conf, arena, &words);
		arena_free(&arena);
		conf_free(&conf);
	}
	selection_options_release(&options);
	return status;
}

/* review.c - zmailer review: what waits for a person
 *
 * In     freezer/, postman/ and deferred/; keys
 * Out    a screen, or lines; messages released and deleted
 * Trusts the person at the keyboard
 * Spec   zmailer-review(8); tools/zmailer/review/review.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/fd.h"
#include "journal/event.h"
#include "daemon/skeleton.h"
#include "mail/spool/moves.h"
#include "tools/zmailer/review/review.h"
#include "tools/screen/terminal.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	AREAS = 1 << AREA_FREEZER | 1 << AREA_POSTMAN | 1 << AREA_DEFERRED,
	SENDERS_MAX = 200,		/* accepted after one review */
	SENDERS_BYTES_MAX = 1 << 20
};

/* What is done with a message, and what is said of it. */
static const struct {
	selection_act_fn	*fn;
	const char	*said;
	bool		 goes;		/* it is not there any more */
} deeds[] = {
	[REVIEW_RELEASE] = { selection_act_release, "released", true },
	[REVIEW_ALLOW] = { selection_act_release, "released; the sender is "
	    "accepted when you leave", true },
	[REVIEW_DELETE] = { selection_act_delete, "deleted: zmailer undelete "
	    "brings back", true },
	[REVIEW_BOUNCE] = { selection_act_bounce, "bounced", true },
	[REVIEW_FORWARD] = { selection_act_forward, "forwarded", false },
	[REVIEW_NOTE] = { selection_act_note, "noted", false },
};

struct selection_now {		/* one run of the verb */
	const struct conf *conf;
	const struct selection_options *options;
	const struct selector *selector;
	int		 allow_fd;	/* senders to be accepted, a line
					 * each; -1: nobody listens */
	bool		 is_screen;
};

static void
sender_tell(const struct selection_now *now, struct slice sender)
{
	struct str line = STR_INIT;

	str_add_slice(&line, sender);
	str_addc(&line, '\n');
	if (now->allow_fd >= 0 && sender.n > 0 &&
	    write(now->allow_fd, line.buf, line.len) < 0)
		warning("the sender is not remembered");
	str_release(&line);
}

static bool
do_row(const struct selection_now *now, struct review *review,
    struct review_row *row, enum review_act act,
    const struct selection_options *options, struct err *err)
{
	if (row->is_gone || deeds[act].fn(review->choice, row->item, options,
		err) != 1)
		return false;
	if (act == REVIEW_ALLOW)
		sender_tell(now, row->item->sender);
	if (act == REVIEW_NOTE) {
		row->note = arena_printf(review->choice->arena, "%s",
		    options->reason);
		review->text_of = NULL;
	}
	row->is_gone = deeds[act].goes;
	row->is_marked = false;
	return true;
}

static void
do_act(const struct selection_now *now, struct review *review,
    enum review_act act)
{
	struct selection_options options = *now->options;
	struct err err = { "" };
	unsigned done = 0, marked = 0;

	if (act == REVIEW_FORWARD)
		options.to = review->typed.buf;
	else if (act == REVIEW_BOUNCE || act == REVIEW_NOTE)
		options.reason = review->typed.buf;
	for (size_t i = 0; i < review->count; i++)
		if (review->rows[i].is_marked) {
			marked++;
			done += do_row(now, review, &review->rows[i], act,
			    &options, &err);
		}
	if (marked == 0 && review->cursor < review->count)
		done = do_row(now, review, &review->rows[review->cursor],
		    act, &options, &err);
	/* what was said to be done, no power cut undoes */
	if (spool_sync_moves(review->choice->spool, &err) < 0)
		done = 0;
	event_flush();
	if (err.text[0] != '\0')
		snprintf(review->said, sizeof(review->said), "%.190s",
		    err.text);
	else
		snprintf(review->said, sizeof(review->said), "%u %s", done,
		    deeds[act].said);
}

/* Until a key ends or reloads it. */
static enum review_act
screen_loop(const struct selection_now *now, struct review *review)
{
	for (;;) {
		struct canvas canvas;
		enum review_act act;
		unsigned rows, cols;

		terminal_size(&rows, &cols);
		review_read(review);
		canvas_init(&canvas, rows, cols);
		review_draw(review, &canvas);
		terminal_draw(&canvas);
		canvas_release(&canvas);
		act = review_key(review, terminal_key(-1), rows);
		if (act == REVIEW_QUIT || act == REVIEW_RELOAD)
			return act;
		if (act != REVIEW_NO_ACT)
			do_act(now, review, act);
	}
}

static int
show_lines(struct review *review, const struct selection_options *options)
{
	struct str out = STR_INIT;

	if (review->count == 0 && options->words.len > 0 &&
	    !options->is_json) {
		printf("nothing that waits for a person is meant by '%s'; "
		    "`zmailer review` lists all that does\n",
		    options->words.buf);
		return 1;
	}
	review_list(review, options->is_json, &out);
	if (review->count == 1 && !options->is_json) {
		review_read(review);
		str_addc(&out, '\n');
		str_add_slice(&out, str_slice(&review->text));
	}
	fputs(out.buf, stdout);
	str_release(&out);
	return review->count == 0 && options->words.len > 0 ? 1 : EX_OK;
}

static int
review_once(const struct selection_now *now, bool *out_again)
{
	struct selection_choice choice;
	struct review review;
	struct err err;
	int status = EX_OK;

	*out_again = false;
	if (selection_choose(now->conf, AREAS, now->selector, &choice,
	    &err) < 0) {
		if (now->is_screen)
			terminal_close();
		selection_choice_release(&choice);
		return verb_failed("review", &err, EX_NOINPUT);
	}
	review_init(&review, &choice);
	review_notes(&review, now->conf->log_dir);
	if (now->is_screen)
		*out_again = screen_loop(now, &review) == REVIEW_RELOAD;
	else
		status = show_lines(&review, now->options);
	review_release(&review);
	selection_choice_release(&choice);
	return status;
}

/* With the router's account, if we are root. */
static int
review_here(struct selection_now *now)
{
	struct err err;
	bool again = true;
	int status = EX_OK;

	if (daemon_drop(now->conf, ROLE_ROUTER, &err) < 0)
		return verb_failed("review", &err, EX_NOPERM);
	if (now->is_screen && terminal_open(&err) < 0) {
		fprintf(stderr, "zmailer: review: %s\n", err.text);
		now->is_screen = false;
	}
	event_open(now->conf->log_dir);
	while (status == EX_OK && again)
		status = review_once(now, &again);
	if (now->is_screen)
		terminal_close();
	return status;
}

/* ---- the process that reviews may not write the configuration; we do ----- */

static int
review_senders_allow(const char *conf_path, struct slice lines)
{
	struct slice senders[SENDERS_MAX];
	size_t count = 0;

	while (count < SENDERS_MAX && slice_cut(&lines, '\n',
	    &senders[count]))
		count += senders[count].n > 0;
	return count == 0 ? EX_OK : selection_allow(conf_path, senders, count,
	    false);
}

static int
review_apart(struct selection_now *now, const char *conf_path)
{
	struct str lines = STR_INIT;
	int ends[2], status = 0, allowed;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		fprintf(stderr, "zmailer: review: %s\n", strerror(errno));
		return EX_OSERR;
	}
	if (pid == 0) {
		close(ends[0]);
		now->allow_fd = ends[1];
		status = review_here(now);
		fflush(NULL);
		_exit(status);
	}
	close(ends[1]);
	(void)signal(SIGINT, SIG_IGN);
	(void)fd_read_all(ends[0], SENDERS_BYTES_MAX, &lines);
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)signal(SIGINT, SIG_DFL);
	allowed = review_senders_allow(conf_path, str_slice(&lines));
	str_release(&lines);
	if (!WIFEXITED(status))
		return EX_SOFTWARE;
	return WEXITSTATUS(status) ? WEXITSTATUS(status) : allowed;
}

static int
review_run(const struct conf *conf, const struct selection_options *options,
    bool is_list, const char *conf_path)
{
	struct arena *arena = arena_new();
	struct selector *selector;
	struct selection_now now = { .conf = conf, .options = options,
	    .allow_fd = -1, .is_screen = !is_list && !options->is_json &&
	    isatty(STDOUT_FILENO) };
	int status = selection_selector(options, arena, &selector);

	now.selector = selector;
	if (status == EX_OK)
		status = now.is_screen ? review_apart(&now, conf_path) :
		    review_here(&now);
	arena_free(&arena);
	return status;
}

int
verb_review(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	struct selection_options options;
	struct conf *conf;
	int status = selection_options_take(arguments, &options);

	if (status == EX_OK) {
		conf = verb_conf(conf_path);
		status = review_run(conf, &options,
		    arguments_has(arguments, OPT_LIST) ||
		    arguments_has(arguments, OPT_BATCH), conf_path);
		conf_free(&conf);
	}
	selection_options_release(&options);
	return status;
}

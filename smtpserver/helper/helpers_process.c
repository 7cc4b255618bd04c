/* helpers_process.c - helper processes and connections as the listener sees
 * them
 *
 * In     answers of helpers, ends of file
 * Out    questions on their way; helpers that start and end
 * Holds  what each helper has in hand
 * Trusts no helper: a token counts only when that helper has it in hand
 * Spec   helper.h has the lines
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/unix_socket.h"
#include "smtpserver/helper/helpers_internal.h"

#include "base/banned.h"

void
helper_end(struct helper *helper, const char *why)
{
	struct kind *kind = helper->kind;
	bool is_ours = kind->row->serve != NULL;
	struct helper_question *question;

	child_free(&helper->child);
	TAILQ_REMOVE(&kind->helpers, helper, entry);
	if (!helper->is_leaving)
		kind->staying--;
	/* the last one first: each goes in front of those before it */
	while ((question = TAILQ_LAST(&helper->in_hand, question_list)) !=
	    NULL) {
		TAILQ_REMOVE(&helper->in_hand, question, entry);
		/* somebody else's process may just have been replaced */
		if (!is_ours && !question->is_again)
			question_requeue(kind, question);
		else
			question_answer(kind->all, question, slice_of(why));
	}
	mem_free(&helper);
}

static void
helper_ended(void *context, const struct child_end *end)
{
	struct helper *helper = context;
	struct kind *kind = helper->kind;

	if (end->pid > 0 && !helper->is_leaving &&
	    end->lived_ms < CHILD_RESTART_MS)
		kind->not_before_ms = clock_steady_ms() + CHILD_RESTART_MS;
	helper_end(helper, helper->is_hanging ? "trouble the helper hangs" :
	    "trouble the helper died");
	kind_stir(kind);
}

void
helper_kill(struct helper *helper)
{
	helper->is_hanging = true;
	if (child_pid(helper->child) > 0)
		child_signal(helper->child, SIGKILL);
	else
		helper_end(helper, "trouble the helper hangs");
}

static void
helper_take_line(struct helper *helper, struct slice line)
{
	struct helpers *all = helper->kind->all;
	struct helper_question *question = NULL;
	struct slice token_text;
	uint64_t token;

	if (slice_word(&line, &token_text) &&
	    slice_number(token_text, 1, UINT64_MAX, &token))
		question = asks_find(all->asks, token);
	line = slice_from(line, line.n > 0);
	if (question == NULL || question->helper != helper ||
	    !(slice_starts(line, "ok ") || slice_starts(line, "trouble "))) {
		warning("helper %s talks nonsense",
		    helper->kind->row->name);
		return;
	}
	TAILQ_REMOVE(&helper->in_hand, question, entry);
	helper->in_hand_count--;
	question_answer(all, question, line);
}

/* Nothing left to do for one that leaves: it sees our end. */
static void
helper_leave_if_done(struct helper *helper)
{
	if (helper->is_leaving && !helper->kind->row->keeps &&
	    helper->in_hand_count == 0 &&
	    child_outbox(helper->child)->len == 0)
		child_hang_up(helper->child);
}

static void
helper_read(void *context)
{
	struct helper *helper = context;
	struct slice line;

	while (child_line(helper->child, &line))
		helper_take_line(helper, line);
	helper_leave_if_done(helper);
	kind_stir(helper->kind);
}

void
helper_ask_to_leave(struct helper *helper)
{
	child_dismiss(helper->child);
	if (helper->kind->row->keeps) {
		str_adds(child_outbox(helper->child), "leave\n");
		child_send(helper->child);
	}
	helper_leave_if_done(helper);
}

static struct helper *
helper_new(struct kind *kind)
{
	struct helper *helper = mem_alloc(1, sizeof(*helper));

	helper->kind = kind;
	helper->child = child_new(kind->all->process, &kind->child, helper);
	TAILQ_INIT(&helper->in_hand);
	TAILQ_INSERT_TAIL(&kind->helpers, helper, entry);
	kind->staying++;
	return helper;
}

static void
helper_connect_to(struct kind *kind, int fd)
{
	child_connect(helper_new(kind)->child, fd);
}

/* In the child: nothing of the listener's stays open. */
static void
helper_run(void *context, int socket)
{
	const struct helper *helper = context;
	struct helpers *all = helper->kind->all;

	if (all->child_fn != NULL)
		all->child_fn(all->context);
	helper->kind->row->serve(all->process, socket);
}

static int
helper_fork(struct kind *kind, struct err *err)
{
	struct helper *helper = helper_new(kind);

	if (child_start(helper->child, err) == 0)
		return 0;
	helper_end(helper, "");
	return -1;
}

static int
helper_connect(struct kind *kind, struct err *err)
{
	struct err why;
	int fd = unix_socket_connect_in(kind->all->process->conf->run_dir,
	    kind->row->socket, SOCK_NONBLOCK, &why);

	if (fd < 0)
		return err_set(err, "cannot reach %s", why.text);
	helper_connect_to(kind, fd);
	return 0;
}

static int
helper_open(struct kind *kind, struct err *err)
{
	struct helpers *all = kind->all;
	int fd;

	if (all->open_fn == NULL)
		return err_set(err, "nobody answers questions of kind %s",
		    kind->row->name);
	fd = all->open_fn(all->context, err);
	if (fd < 0)
		return -1;
	helper_connect_to(kind, fd);
	return 0;
}

int
helper_start(struct kind *kind, struct err *err)
{
	if (kind->row->serve != NULL)
		return helper_fork(kind, err);
	return kind->row->socket != NULL ? helper_connect(kind, err) :
	    helper_open(kind, err);
}

void
kind_init(struct kind *kind, struct helpers *helpers,
    const struct helper_kind *row)
{
	kind->all = helpers;
	kind->row = row;
	TAILQ_INIT(&kind->queue);
	TAILQ_INIT(&kind->helpers);
	str_init(&kind->title);
	str_addf(&kind->title, "smtpserver %s", row->name);
	kind->child = (struct child_kind){
		.name = row->name,
		.title = row->serve != NULL ? kind->title.buf : NULL,
		.is_secret = true, .end_signal = SIGKILL,
		.run = helper_run, .read = helper_read, .ended = helper_ended,
	};
}

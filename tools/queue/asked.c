/* asked.c - the queue as the scheduler tells it to who may not read the spool
 *
 * In     answers to `list`: a line a recipient, those of a message together
 * Out    views, of what this user may see: his own mail
 * Holds  the message whose lines come, in an arena
 * Trusts nothing in words and addresses: words are escaped
 * Spec   view.h; doc/protocol/control.md sections 2 and 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "tools/queue/control.h"
#include "tools/queue/view.h"

#include "base/banned.h"

struct asked {
	struct arena	*arena;		/* of the message at hand */
	struct view	 view;
	size_t		 room;
	int64_t		 now_s;
	view_fn		*fn;
	void		*context;
	bool		 is_over;	/* fn had enough */
	struct str	 value;
};

bool
view_is_forbidden(const struct conf *conf)
{
	struct str path = STR_INIT;
	bool is_forbidden;

	str_addf(&path, "%s/%s", conf->spool_dir,
	    spool_area_names[AREA_TRANSPORT]);
	is_forbidden = geteuid() != 0 && access(path.buf, R_OK | X_OK) != 0 &&
	    errno == EACCES;
	str_release(&path);
	return is_forbidden;
}

int
view_refuse(const struct conf *conf, enum spool_area area, struct err *err)
{
	errno = EACCES;
	return err_sys(err, "%s/%s", conf->spool_dir, spool_area_names[area]);
}

/* A member of the line, in the message's arena. */
static struct slice
asked_member(struct asked *asked, struct slice line, const char *key)
{
	str_reset(&asked->value);
	(void)json_get(line, key, &asked->value);
	return slice_copy(asked->arena, str_slice(&asked->value));
}

static const char *
member_text(struct asked *asked, struct slice line, const char *key)
{
	return slice_dup(asked->arena, asked_member(asked, line, key));
}

static const char *
member_escaped(struct asked *asked, struct slice line, const char *key)
{
	struct str clean = STR_INIT;
	const char *text;

	str_add_escaped(&clean, asked_member(asked, line, key));
	text = arena_dup(asked->arena, clean.buf, clean.len);
	str_release(&clean);
	return text;
}

static void
asked_message_end(struct asked *asked)
{
	if (asked->view.rcpt_count > 0 && !asked->is_over)
		asked->is_over = !asked->fn(asked->context, &asked->view);
	mem_free(&asked->view.rcpts);
	asked->room = 0;
	arena_reset(asked->arena);
	asked->view = (struct view){ .id = "" };
}

static void
message_begin(struct asked *asked, struct slice line)
{
	asked->view = (struct view){ .area = AREA_TRANSPORT, .why = "",
	    .id = member_text(asked, line, "id"),
	    .name = member_text(asked, line, "file"),
	    .state = member_text(asked, line, "state"),
	    .sender = asked_member(asked, line, "from"),
	    .user = asked_member(asked, line, "user"),
	    .size_bytes = (uint64_t)json_get_number(line, "size"),
	    .time_s = asked->now_s - json_get_number(line, "age_s") };
}

static bool
asked_take_line(void *context, struct slice line)
{
	struct asked *asked = context;
	struct view *view = &asked->view;

	str_reset(&asked->value);
	(void)json_get(line, "id", &asked->value);
	if (!slice_is(str_slice(&asked->value), view->id)) {
		asked_message_end(asked);
		message_begin(asked, line);
	}
	if (view->rcpt_count == asked->room) {
		asked->room = asked->room > 0 ? asked->room * 2 : 8;
		view->rcpts = mem_grow(view->rcpts, asked->room,
		    sizeof(*view->rcpts));
	}
	view->rcpts[view->rcpt_count++] = (struct view_rcpt){
		.offset = (uint32_t)json_get_number(line, "offset"),
		.user = asked_member(asked, line, "to"),
		.channel = asked_member(asked, line, "channel"),
		.host = asked_member(asked, line, "host"),
		.state = member_text(asked, line, "state"),
		.tries = (unsigned)json_get_number(line, "tries"),
		.next_s = json_get_number(line, "next"),
		.who = member_escaped(asked, line, "who"),
		.words = member_escaped(asked, line, "text"),
		.status = member_text(asked, line, "code")
	};
	return true;
}

int
view_each_asked(const char *run_dir, const struct selector *selector,
    view_fn *fn, void *context, bool *out_is_own, struct err *err)
{
	struct asked asked = { .arena = arena_new(), .view = { .id = "" },
	    .now_s = clock_wall_s(), .fn = fn, .context = context,
	    .value = STR_INIT };
	struct str request = STR_INIT, words = STR_INIT, last = STR_INIT;
	struct control control;
	enum control_reached reached = control_connect(run_dir, &control,
	    err);
	int result = -1;

	if (reached == CONTROL_ABSENT)
		err_set(err, "you may not read the spool, and the "
		    "scheduler, which knows your mail, does not run");
	if (reached == CONTROL_REACHED) {
		control_begin(&request, "list");
		if (selector != NULL) {
			selector_add(&words, selector);
			json_text(&request, "select", str_slice(&words));
		}
		result = control_ask(&control, &request, asked_take_line,
		    &asked,
		    &last, err);
		asked_message_end(&asked);
	}
	if (out_is_own != NULL)
		*out_is_own = json_is(str_slice(&last), "whose", "own");
	control_hang_up(&control);
	str_release(&request);
	str_release(&words);
	str_release(&last);
	str_release(&asked.value);
	arena_free(&asked.arena);
	return result;
}

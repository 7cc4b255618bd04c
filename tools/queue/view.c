/* view.c - the queue as people see it: every message in every directory
 *
 * In     control files and message files
 * Out    a struct view for each
 * Holds  one file's bytes at a time; some files open ahead
 * Trusts nothing it reads: what cannot be read is shown with the reason
 * Spec   doc/INTERNALS.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "grammar/message/header.h"
#include "mail/state.h"
#include "tools/queue/view.h"

#include "base/banned.h"

struct walk {
	const struct spool	*spool;
	const struct live	*live;
	enum view_flags		 flags;
	view_fn			*fn;
	void			*context;
	enum spool_area		 area;
	unsigned		 priority;
	struct arena		*arena;
	int64_t			 now_s;
	struct str		 text;
	ino_t			 number;	/* the file's: the scheduler's
						 * name for it */
	bool			 is_over;
};

static const enum mail_state area_states[AREA_COUNT] = {
	[AREA_PUBLIC] = MAIL_STATE_ARRIVING, [AREA_ROUTER] = MAIL_STATE_ROUTING,
	[AREA_TRANSPORT] = MAIL_STATE_READY,
	[AREA_DEFERRED] = MAIL_STATE_DEFERRED,
	[AREA_FREEZER] = MAIL_STATE_FROZEN, [AREA_POSTMAN] = MAIL_STATE_POSTMAN,
	[AREA_TRASH] = MAIL_STATE_TRASH,
};

/* ---- control files ----------------------------------------------- */

/* The scheduler tells the moment of the first recipient of those that go
 * together; the others have it from the one before them. */
static int64_t
next_of(const struct walk *walk, const struct control_rcpt *in,
    const struct view_rcpt *before)
{
	int64_t next_s = live_next_s(walk->live, walk->number, in->offset);

	if (next_s == 0 && before != NULL &&
	    slice_equal(before->channel, in->channel) &&
	    slice_equal(before->host, in->host))
		next_s = before->next_s;
	return next_s > 0 ? next_s : in->next_s;
}

/* Words of an order, as a control file has them: a copy's may hold what a
 * terminal obeys. */
static const char *
order_words(const struct walk *walk, struct slice text)
{
	char *words = slice_dup(walk->arena, text);

	for (char *p = words; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	return words;
}

/* What an operator ordered comes before what the queue would do.  A hold
 * whose time is over is none. */
static bool
order_state(const struct walk *walk, const struct control_rcpt *in,
    struct view_rcpt *out)
{
	if (in->is_cancelled)
		out->state = MAIL_STATE_WORD(DELETED);
	else if (in->is_frozen)
		out->state = MAIL_STATE_WORD(FROZEN);
	else if (!control_rcpt_is_free(in, walk->now_s))
		out->state = MAIL_STATE_WORD(HELD);
	else
		return false;
	out->next_s = in->is_held && !in->is_frozen ? in->hold_until_s : 0;
	out->who = order_words(walk, in->ordered_by);
	out->words = in->order_reason.n > 0 ?
	    order_words(walk, in->order_reason) : out->state;
	return true;
}

static void
rcpt_from_control(const struct walk *walk, const struct control_rcpt *in,
    struct view_rcpt *out, bool is_first)
{
	const struct live_thread *thread;

	*out = (struct view_rcpt){ .offset = in->offset, .user = in->user,
	    .channel = in->channel, .host = in->host, .tries = in->tries,
	    .orcpt = in->orcpt, .given = in->given,
	    .zone = in->zone, .who = "", .words = "", .status = "",
	    .dest_state = "",
	    .state = MAIL_STATE_WORD(READY) };
	if (in->last != NULL) {
		out->who = in->last->verdict.who;
		out->words = in->last->verdict.text;
		out->status = in->last->verdict.status;
		if (in->last->verdict.kind >= VERDICT_DEFERRED)
			out->trouble = &in->last->verdict;
		out->state = in->is_final && !in->is_cancelled ?
		    verdict_names[in->last->verdict.kind] :
		    MAIL_STATE_WORD(WAITING);
	}
	out->is_untold = control_rcpt_is_failed(in);
	if (in->is_final)
		return;
	thread = live_find(walk->live, in->channel, in->host);
	if (thread != NULL)
		out->dest_state = thread->state;
	if (order_state(walk, in, out))
		return;
	out->next_s = next_of(walk, in, is_first ? NULL : out - 1);
	if (thread == NULL)
		return;
	if (thread->is_suspended) {
		out->state = MAIL_STATE_WORD(SUSPENDED);
	} else if (thread->held_until_s > 0) {
		out->state = MAIL_STATE_WORD(DOWN);
		if (out->next_s < thread->held_until_s)
			out->next_s = thread->held_until_s;
		if (*out->words == '\0')
			out->words = arena_dup(walk->arena, thread->reason,
			    strlen(thread->reason));
	} else if (thread->flight > 0 && in->tries == 0) {
		out->state = MAIL_STATE_WORD(ACTIVE);
	}
}

/* Of the message: that one recipient is active; or what keeps all that are
 * not over. */
static const char *
view_state_of(const struct view *view)
{
	const char *state = NULL;
	bool is_over = false, is_failed = false;

	for (size_t i = 0; i < view->rcpt_count; i++) {
		const char *own = view->rcpts[i].state;
		bool is_kept = strcmp(own, "held") == 0 ||
		    strcmp(own, "frozen") == 0 || strcmp(own, "deleted") == 0;

		if (strcmp(own, "active") == 0)
			return own;
		if (verdict_kind_parse(slice_of(own)) >= 0) {
			is_over = true;
			is_failed = is_failed || view->rcpts[i].is_untold;
			continue;
		}
		if (!is_kept || (state != NULL && strcmp(state, own) != 0))
			own = view->state;
		state = own;
	}
	if (state == NULL && is_failed)
		return MAIL_STATE_WORD(FAILED);
	if (state == NULL && is_over)
		return MAIL_STATE_WORD(DONE);
	return state != NULL ? state : view->state;
}

static void
view_from_control(const struct walk *walk, const struct control_file *control,
    struct view *view)
{
	size_t count = 0;

	view->id = control->id;
	view->size_bytes = control->size_bytes;
	view->user = control->user;
	view->source = control->source;
	view->msgid = control->msgid;
	view->zone = control->terms.zone;
	view->asked = control->terms.priority;
	view->tls = terms_tls(&control->terms);
	view->time_s = spool_id_time_us(slice_of(control->id)) / 1000000;
	view->rcpts = arena_alloc(walk->arena,
	    (control->rcpt_total + 1) * sizeof(*view->rcpts));
	for (size_t i = 0; i < control->group_count; i++) {
		const struct control_group *group = &control->groups[i];

		if (i == 0) {
			view->sender = group->sender;
			view->header = group->header;
		}
		for (size_t k = 0; k < group->rcpt_count; k++) {
			rcpt_from_control(walk, &group->rcpts[k],
			    &view->rcpts[count], count == 0);
			count++;
		}
	}
	view->rcpt_count = count;
	view->state = view_state_of(view);
}

/* ---- message files ----------------------------------------------- */

/* The first Message-Id of a header; empty: it has none. */
static struct slice
view_msgid_of(struct slice header)
{
	struct header_field field;
	bool is_broken;

	while (header_next(&header, &field, &is_broken))
		if (header_is(&field, "Message-Id"))
			return header_msgid(field.value);
	return (struct slice){ NULL, 0 };
}

static void
view_from_envelope(const struct walk *walk, const struct envelope *envelope,
    struct view *view)
{
	struct str address = STR_INIT;

	view->id = envelope->id;
	view->time_s = spool_id_time_us(slice_of(envelope->id)) / 1000000;
	path_add(&address, &envelope->from);
	view->sender = slice_copy(walk->arena, str_slice(&address));
	view->user = envelope->user;
	view->source = envelope_source(envelope);
	view->zone = envelope->terms.zone;
	if (view->reason.n == 0 && view->area == AREA_FREEZER &&
	    strncmp(view->why, "policy-", 7) == 0)
		view->reason = envelope->aside;
	view->asked = envelope->terms.priority;
	view->tls = terms_tls(&envelope->terms);
	view->rcpts = arena_alloc(walk->arena,
	    (envelope->rcpt_count + 1) * sizeof(*view->rcpts));
	for (size_t i = 0; i < envelope->rcpt_count; i++) {
		str_reset(&address);
		path_add(&address, &envelope->rcpts[i].path);
		view->rcpts[i] = (struct view_rcpt){ .who = "", .words = "",
		    .status = "", .state = view->state,
		    .orcpt = envelope->rcpts[i].orcpt,
		    .user = slice_copy(walk->arena, str_slice(&address)) };
	}
	view->rcpt_count = envelope->rcpt_count;
	str_release(&address);
}

static void
view_take_header(const struct walk *walk, struct slice file,
    const struct envelope *envelope, struct view *view)
{
	size_t header;

	if ((walk->flags & (VIEW_HEADER | VIEW_MSGID)) == 0)
		return;
	view->header = slice_from(file, envelope->header_offset);
	header = header_bytes(view->header);
	view->header = slice_first(view->header, header);
	view->msgid = view_msgid_of(view->header);
}

/* ---- a copy ------------------------------------------------------ */

/* Without its recipients, if they are not all in what is there. */
static void
copy_from_front(const struct walk *walk, struct slice front,
    struct view *view)
{
	struct envelope *envelope = arena_alloc(walk->arena,
	    sizeof(*envelope));
	struct err err;

	if (envelope_parse(walk->arena, front, envelope, &err) == 0) {
		view_from_envelope(walk, envelope, view);
		view_take_header(walk, front, envelope, view);
	} else if (envelope_peek(front, envelope, &err) == 0) {
		envelope->rcpt_count = 0;
		view_from_envelope(walk, envelope, view);
	}
}

void
view_from_copy(struct arena *arena, struct slice control, struct slice front,
    enum view_flags flags, struct view *view)
{
	static const struct live none;
	struct walk walk = { .live = &none, .flags = flags, .arena = arena,
	    .now_s = clock_wall_s() };
	struct control_file *parsed = arena_alloc(arena, sizeof(*parsed));
	char *id = arena_dup(arena, view->id, strlen(view->id));
	uint64_t size_bytes = view->size_bytes;
	struct err err;

	view->state = VIEW_COPY;
	if (control.n > 0 && control_file_parse(arena, control, parsed,
	    &err) == 0)
		view_from_control(&walk, parsed, view);
	else
		copy_from_front(&walk, front, view);
	for (size_t i = 0; i < view->rcpt_count; i++) {
		struct view_rcpt *rcpt = &view->rcpts[i];

		if (!view_rcpt_is_over(rcpt))
			rcpt->state = VIEW_COPY;
		rcpt->next_s = 0;
	}
	/* the row says which message it is, whatever is in it */
	view->id = id;
	view->size_bytes = size_bytes;
	view->time_s = spool_id_time_us(slice_of(id)) / 1000000;
	view->state = VIEW_COPY;
}

/* ---- one file ---------------------------------------------------- */

static bool
view_is_control(const struct walk *walk, const char *name)
{
	return walk->area == AREA_TRANSPORT ||
	    slice_ends(slice_of(name), ".control");
}

/* At most so many bytes from the front. */
static int
view_front_read(int fd, size_t most, struct str *out)
{
	str_reset(out);
	return fd_read_all(fd, most, out);
}

static void
file_view(struct walk *walk, int fd, const char *name, struct view *view)
{
	struct control_file *control = arena_alloc(walk->arena,
	    sizeof(*control));
	struct envelope *envelope = arena_alloc(walk->arena,
	    sizeof(*envelope));
	struct err err;

	if (view_is_control(walk, name)) {
		if (control_file_read(fd, CONTROL_BYTES_MAX, &walk->text,
		    &err) < 0 || control_file_parse(walk->arena,
		    str_slice(&walk->text), control, &err) < 0)
			view->trouble = arena_dup(walk->arena, err.text,
			    strlen(err.text));
		else
			view_from_control(walk, control, view);
		return;
	}
	if (view_front_read(fd, VIEW_ENVELOPE_BYTES_MAX, &walk->text) < 0 ||
	    envelope_parse(walk->arena, str_slice(&walk->text), envelope,
	    &err) < 0) {
		view->trouble = arena_dup(walk->arena, err.text,
		    strlen(err.text));
		return;
	}
	view_from_envelope(walk, envelope, view);
	view_take_header(walk, str_slice(&walk->text), envelope, view);
}

static const char *
name_look(struct walk *walk, const char *name)
{
	const char *last = strrchr(name, '/');
	struct spool_name parsed;

	walk->number = 0;
	if (!spool_name_parse(slice_of(last ? last + 1 : name), &parsed))
		return "";
	walk->number = parsed.inode;
	return slice_dup(walk->arena, parsed.why);
}

static bool
walk_file(void *context, const char *name, int fd)
{
	struct walk *walk = context;
	struct view view = { .area = walk->area,
		.priority = walk->priority,
		.name = name,
		.id = "-",
		.state = mail_states[area_states[walk->area]].name };
	char reason[SPOOL_REASON_BYTES];
	struct stat st;

	if (*name == '.' || strstr(name, "/.") != NULL ||
	    ((walk->area == AREA_POSTMAN || walk->area == AREA_TRASH) &&
	    slice_ends(slice_of(name), ".control")))
		return true;	/* plans; control files beside their message */
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink == 0)
		return true;	/* moved on meanwhile */
	arena_reset(walk->arena);
	view.why = name_look(walk, name);
	view.size_bytes = (uint64_t)st.st_size;
	view.time_s = st.st_mtime;
	if (*view.why != '\0' && spool_reason_read(fd, reason))
		view.reason = slice_of(reason);
	file_view(walk, fd, name, &view);
	walk->is_over = !walk->fn(walk->context, &view);
	return !walk->is_over;
}

/* Of transport/ only the files of the page. */
static void
walk_page(struct walk *walk)
{
	const struct live *live = walk->live;
	char name[SPOOL_NAME_BYTES];

	for (size_t i = 0; i < live->next_count && !walk->is_over; i++) {
		int fd;

		if (i > 0 && live->nexts[i].file == live->nexts[i - 1].file)
			continue;
		spool_hashed_name(walk->spool, (ino_t)live->nexts[i].file,
		    name);
		fd = openat(spool_dir_fd(walk->spool, AREA_TRANSPORT, 0),
		    name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;	/* moved on meanwhile */
		(void)walk_file(walk, name, fd);
		close(fd);
	}
}

int
view_each(const struct spool *spool, const struct live *live,
    enum view_flags flags, view_fn *fn, void *context, struct err *err)
{
	static const enum spool_area areas[] = {
		AREA_ROUTER, AREA_TRANSPORT, AREA_DEFERRED, AREA_FREEZER,
		AREA_POSTMAN, AREA_TRASH
	};
	struct walk walk = { .spool = spool, .live = live, .flags = flags,
	    .fn = fn, .context = context, .text = STR_INIT,
	    .now_s = clock_wall_s() };
	int result = 0;

	walk.arena = arena_new();
	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		unsigned priorities = areas[i] == AREA_ROUTER ?
		    SPOOL_PRIORITIES : 1;

		if (areas[i] == AREA_TRASH && (flags & VIEW_TRASH) == 0)
			continue;
		walk.area = areas[i];
		if (walk.area == AREA_TRANSPORT && live->is_page) {
			walk.priority = 0;
			walk_page(&walk);
			continue;
		}
		for (walk.priority = 0; walk.priority < priorities &&
		    !walk.is_over && result == 0; walk.priority++)
			result = spool_scan_files(spool, walk.area,
			    walk.priority, walk_file, &walk, err);
	}
	arena_free(&walk.arena);
	str_release(&walk.text);
	return result;
}

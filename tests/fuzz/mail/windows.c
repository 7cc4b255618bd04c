/* windows.c - is a control file in windows what it is as a whole?
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "mail/control_file/window.h"
#include "tests/fuzz/mail/windows.h"

struct comparing {
	struct str	*out;
	struct arena	*arena;		/* of the whole */
	struct control_file whole;
	int		 fd;
	size_t		 group, rcpt;	/* of the whole; the next one */
	size_t		 rcpts, final, cancelled, reports;
};

#define SAME(what, a, b) do { \
		if ((a) != (b)) { \
			str_addf(out, "%s: %lld, in a window %lld", what, \
			    (long long)(a), (long long)(b)); \
			return -1; \
		} \
	} while (0)
#define SAME_WORDS(what, a, b) do { \
		if (!slice_equal(a, b)) { \
			str_addf(out, "%s: \"" SLICE_FMT "\", in a window \"" \
			    SLICE_FMT "\"", what, SLICE_ARG(a), \
			    SLICE_ARG(b)); \
			return -1; \
		} \
	} while (0)

static int
records_compare(const struct control_record *a, const struct control_record *b,
    struct str *out)
{
	SAME("has an outcome", a != NULL, b != NULL);
	if (a == NULL)
		return 0;
	SAME("kind", a->kind, b->kind);
	SAME("time_s", a->time_s, b->time_s);
	SAME("record's tries", a->tries, b->tries);
	SAME("record's next_s", a->next_s, b->next_s);
	SAME("verdict", a->verdict.kind, b->verdict.kind);
	SAME_WORDS("status", slice_of(a->verdict.status),
	    slice_of(b->verdict.status));
	SAME_WORDS("who", slice_of(a->verdict.who), slice_of(b->verdict.who));
	SAME_WORDS("text", slice_of(a->verdict.text),
	    slice_of(b->verdict.text));
	return 0;
}

static int
ways_compare(const struct control_rcpt *a, const struct control_rcpt *b,
    struct str *out)
{
	SAME("way_count", a->way_count, b->way_count);
	SAME("way_since_s", a->way_since_s, b->way_since_s);
	for (size_t i = 0; i < a->way_count; i++) {
		const struct control_way *x = &a->ways[i], *y = &b->ways[i];

		SAME("way's offset", x->offset, y->offset);
		SAME_WORDS("way's channel", x->channel, y->channel);
		SAME_WORDS("way's host", x->host, y->host);
		SAME_WORDS("way's user", x->user, y->user);
		SAME("way's uid", x->uid, y->uid);
		SAME("way's after_s", x->after_s, y->after_s);
	}
	return 0;
}

static int
orders_compare(const struct control_rcpt *a, const struct control_rcpt *b,
    struct str *out)
{
	SAME("is_cancelled", a->is_cancelled, b->is_cancelled);
	SAME("is_held", a->is_held, b->is_held);
	SAME("is_frozen", a->is_frozen, b->is_frozen);
	SAME("is_reopened", a->is_reopened, b->is_reopened);
	SAME("is_scheduled", a->is_scheduled, b->is_scheduled);
	SAME("hold_until_s", a->hold_until_s, b->hold_until_s);
	SAME("held_since_s", a->held_since_s, b->held_since_s);
	SAME("held_s", a->held_s, b->held_s);
	SAME("thawed_s", a->thawed_s, b->thawed_s);
	SAME("expire_s", a->expire_s, b->expire_s);
	SAME_WORDS("ordered_by", a->ordered_by, b->ordered_by);
	SAME_WORDS("order_reason", a->order_reason, b->order_reason);
	SAME("is_order_of_next", a->is_order_of_next, b->is_order_of_next);
	return 0;
}

static int
rcpts_compare(const struct control_rcpt *a, const struct control_rcpt *b,
    struct str *out)
{
	SAME("first_offset", a->first_offset, b->first_offset);
	SAME("offset", a->offset, b->offset);
	SAME_WORDS("channel", a->channel, b->channel);
	SAME_WORDS("host", a->host, b->host);
	SAME_WORDS("user", a->user, b->user);
	SAME("uid", a->uid, b->uid);
	SAME("notify", a->notify, b->notify);
	SAME_WORDS("orcpt", a->orcpt, b->orcpt);
	SAME_WORDS("given", a->given, b->given);
	SAME_WORDS("zone", a->zone, b->zone);
	SAME("is_final", a->is_final, b->is_final);
	SAME("is_reported", a->is_reported, b->is_reported);
	SAME("delay_notices", a->delay_notices, b->delay_notices);
	SAME("tries", a->tries, b->tries);
	SAME("first_try_s", a->first_try_s, b->first_try_s);
	SAME("last_try_s", a->last_try_s, b->last_try_s);
	SAME("next_s", a->next_s, b->next_s);
	if (ways_compare(a, b, out) < 0 || orders_compare(a, b, out) < 0)
		return -1;
	return records_compare(a->last, b->last, out);
}

static int
common_compare(const struct control_file *a, const struct control_file *b,
    struct str *out)
{
	SAME_WORDS("id", slice_of(a->id), slice_of(b->id));
	SAME("inode", a->inode, b->inode);
	SAME("body_offset", a->body_offset, b->body_offset);
	SAME("size_bytes", a->size_bytes, b->size_bytes);
	SAME_WORDS("msgid", a->msgid, b->msgid);
	SAME_WORDS("errors_to", a->errors_to, b->errors_to);
	SAME_WORDS("envid", a->envid, b->envid);
	SAME("ret", a->ret, b->ret);
	SAME_WORDS("bodytype", a->bodytype, b->bodytype);
	SAME_WORDS("user", a->user, b->user);
	SAME_WORDS("source", a->source, b->source);
	SAME_WORDS("auth", a->terms.auth, b->terms.auth);
	SAME("by_s", a->terms.by_s, b->terms.by_s);
	SAME("tried", a->terms.tried, b->terms.tried);
	SAME("head_bytes", a->head_bytes, b->head_bytes);
	return 0;
}

static int
group_compare(struct comparing *comparing, const struct control_group *b)
{
	const struct control_group *a =
	    &comparing->whole.groups[comparing->group];
	struct str *out = comparing->out;
	struct slice header;
	struct err err;

	SAME("sender_offset", a->sender_offset, b->sender_offset);
	SAME("header_offset", a->header_offset, b->header_offset);
	SAME_WORDS("sender", a->sender, b->sender);
	SAME_WORDS("errors_to", a->errors_to, b->errors_to);
	if (control_header_read(comparing->fd, b->header_offset,
	    comparing->arena, &header, &err) < 0) {
		str_adds(out, err.text);
		return -1;
	}
	SAME_WORDS("header", a->header, header);
	SAME("has so many", a->rcpt_count >= comparing->rcpt + b->rcpt_count,
	    true);
	for (size_t i = 0; i < b->rcpt_count; i++)
		if (rcpts_compare(&a->rcpts[comparing->rcpt++], &b->rcpts[i],
		    out) < 0)
			return -1;
	return 0;
}

/* A group of the whole ends where the next window's, or group's, is another. */
static int
window_compare(struct comparing *comparing, const struct control_file *window)
{
	struct str *out = comparing->out;

	for (size_t i = 0; i < window->group_count; i++) {
		const struct control_group *a =
		    &comparing->whole.groups[comparing->group];

		if (window->groups[i].sender_offset != a->sender_offset) {
			SAME("all of a group", a->rcpt_count, comparing->rcpt);
			comparing->group++;
			comparing->rcpt = 0;
		}
		SAME("there is a group", comparing->group <
		    comparing->whole.group_count, true);
		if (group_compare(comparing, &window->groups[i]) < 0)
			return -1;
	}
	comparing->rcpts += window->rcpt_total;
	comparing->final += window->final_total;
	comparing->cancelled += window->cancelled_total;
	comparing->reports += window->report_records;
	return 0;
}

static int
all_compare(struct comparing *comparing, struct control_windows *windows)
{
	const struct control_file *whole = &comparing->whole;
	struct arena *arena = arena_new();
	struct str *out = comparing->out, text = STR_INIT;
	struct control_file window;
	struct err err;
	int result = common_compare(whole, control_windows_common(windows),
	    out);

	for (size_t i = 0; result == 0 && i < control_windows_count(windows);
	    i++) {
		arena_reset(arena);
		result = control_windows_read(windows, i, arena, &text,
		    &window, &err);
		if (result < 0)
			str_addf(out, "window %zu: %s", i, err.text);
		else
			result = window_compare(comparing, &window);
	}
	str_release(&text);
	arena_free(&arena);
	if (result < 0)
		return -1;
	SAME("rcpt_total", whole->rcpt_total,
	    control_windows_common(windows)->rcpt_total);
	SAME("rcpts", whole->rcpt_total, comparing->rcpts);
	SAME("final_total", whole->final_total, comparing->final);
	SAME("cancelled_total", whole->cancelled_total, comparing->cancelled);
	SAME("report_records", whole->report_records, comparing->reports);
	return 0;
}

int
windows_compare(struct slice file, size_t rcpts, size_t bytes, struct str *out)
{
	const struct control_window_size size = { rcpts, bytes };
	struct comparing comparing = { .out = out, .arena = arena_new(),
	    .fd = memfd_create("control", MFD_CLOEXEC) };
	struct control_windows *windows;
	struct err whole_err = { "" }, err = { "" };
	bool is_whole = control_file_parse(comparing.arena, file,
	    &comparing.whole, &whole_err) == 0;
	int result = 0;
	enum control_windows_got got;

	if (comparing.fd < 0 || fd_write_all(comparing.fd, file.p,
	    file.n) != 0)
		abort();
	got = control_windows_open(comparing.fd, rcpts == 0 ? NULL : &size,
	    &windows, &err);
	if (got != (is_whole ? CONTROL_WINDOWS_GOOD : CONTROL_WINDOWS_DAMAGED)
	    || strcmp(whole_err.text, is_whole ? "" : err.text) != 0) {
		str_addf(out, "whole: \"%s\", in windows: %d \"%s\"",
		    whole_err.text, got, err.text);
		result = -1;
	}
	if (result == 0 && is_whole)
		result = all_compare(&comparing, windows);
	control_windows_free(&windows);
	close(comparing.fd);
	arena_free(&comparing.arena);
	return result;
}

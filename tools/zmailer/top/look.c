/* look.c - the mail system at a glance: where the numbers come from
 *
 * In     the shared counters, the spool's directories, the scheduler
 * Out    a struct top
 * Holds  the destinations of the last look
 * Trusts nothing in names and words: they are cut
 * Spec   top.h; doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "base/json.h"
#include "base/mem.h"
#include "tools/queue/control.h"
#include "tools/queue/words.h"
#include "tools/zmailer/report/report.h"
#include "tools/zmailer/top/top.h"

#include "base/banned.h"

enum { TOPS_EVERY_MS = 30000 };

void
top_init(struct top *top)
{
	memset(top, 0, sizeof(*top));
	top->in_rate = top->out_rate = -1;
	top->arena = arena_new();
	top->page = -1;
	str_init(&top->tops);
}

void
top_release(struct top *top)
{
	mem_free(&top->destinations);
	arena_free(&top->arena);
	str_release(&top->tops);
}

/* ---- rates ----------------------------------------------------------- */

static void
top_look_push(double history[TOP_HISTORY], double rate)
{
	memmove(history, history + 1, (TOP_HISTORY - 1) * sizeof(*history));
	history[TOP_HISTORY - 1] = rate;
}

static double
rate_of(uint64_t before, uint64_t now, int64_t ms)
{
	return ms <= 0 || now < before ? -1 :
	    (double)(now - before) * 1000.0 / (double)ms;
}

static void
look_at_counters(struct top *top, const char *log_dir)
{
	int64_t now_ms = clock_steady_ms(), ms = now_ms - top->now_ms;
	int fd = open(log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t accepted, delivered;

	if (fd < 0 || counters_read(fd) != 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	close(fd);
	accepted = counters_sum("smtpserver_messages",
	    "result=\"accepted\"");
	delivered = counters_sum("deliveries", "result=\"ok\"");
	if (top->now_ms > 0) {
		top->in_rate = rate_of(top->accepted, accepted, ms);
		top->out_rate = rate_of(top->delivered, delivered, ms);
		top_look_push(top->in_history, top->in_rate);
		top_look_push(top->out_history, top->out_rate);
	}
	top->accepted = accepted;
	top->delivered = delivered;
	top->now_ms = now_ms;
}

/* ---- directories ------------------------------------------------------- */

struct counting { struct top *top; enum spool_area area; };

static bool
top_count_file(void *context, const char *name)
{
	struct counting *counting = context;
	const char *last = strrchr(name, '/');
	struct spool_name parts;

	name = last != NULL ? last + 1 : name;
	if (name[0] == '.' || !spool_name_parse(slice_of(name), &parts) ||
	    slice_ends(parts.why, ".control"))
		return true;
	counting->top->areas[counting->area]++;
	if (counting->area == AREA_POSTMAN && !slice_starts(parts.why, "_"))
		counting->top->only_copies++;
	return true;
}

static int
top_percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? -1 : (int)(part * 100 / whole);
}

static void
look_at_spool(struct top *top, const struct conf *conf)
{
	struct spool *spool;
	struct statvfs fs;
	struct err err;

	memset(top->areas, 0, sizeof(top->areas));
	top->only_copies = 0;
	top->disk_percent = top->inode_percent = -1;
	if (statvfs(conf->spool_dir, &fs) == 0) {
		top->disk_percent = top_percent(fs.f_bavail, fs.f_blocks);
		top->inode_percent = top_percent(fs.f_favail, fs.f_files);
	}
	if (conf_spool_open(conf, 0, &spool,
		&err) < 0)
		return;
	for (int area = 0; area < AREA_COUNT; area++) {
		struct counting counting = { top, (enum spool_area)area };

		if (area == AREA_PUBLIC || area == AREA_QUEUE)
			continue;
		for (unsigned p = 0; p < (area == AREA_ROUTER ?
		    SPOOL_PRIORITIES : 1); p++)
			(void)spool_scan(spool, counting.area, p,
			    top_count_file,
			    &counting, NULL);
	}
	spool_close(&spool);
}

/* ---- destinations ------------------------------------------------------ */

static void
copy_member(struct slice line, const char *key, char *out, size_t size)
{
	struct str clean = STR_INIT;

	json_add_escaped(&clean, line, key);
	snprintf(out, size, "%s", clean.buf);
	str_release(&clean);
}

static void
set_state(struct slice line, struct top_destination *to)
{
	int64_t held = json_get_number(line, "held_until");
	int64_t now_s = clock_wall_s(), pin = json_get_number(line, "pin");
	struct str text = STR_INIT;
	char state[16];

	copy_member(line, "state", state, sizeof(state));
	str_adds(&text, state);
	if (held > now_s && json_is(line, "state", "down")) {
		str_adds(&text, ", next ");
		words_add_moment(&text, held, now_s);
	} else if (to->active > 0 && to->ready > 0 &&
	    to->agents >= to->limit)
		str_adds(&text, ", at its limit");
	to->is_fine = !json_is(line, "state", "down") &&
	    !json_is(line, "state", "suspended");
	if (pin > 0)
		str_addf(&text, ", pinned %d", (int)pin);
	snprintf(to->state, sizeof(to->state), "%s", text.buf);
	str_release(&text);
}

static bool
take_destination(void *context, struct slice line)
{
	struct top *top = context;
	struct top_destination *to;
	char channel[24], host[55];

	if (top->count == TOP_DESTINATIONS_MAX)
		return false;
	if (top->count == top->room) {
		top->room = top->room ? top->room * 2 : 64;
		top->destinations = mem_grow(top->destinations, top->room,
		    sizeof(*top->destinations));
	}
	to = &top->destinations[top->count++];
	memset(to, 0, sizeof(*to));
	copy_member(line, "channel", channel, sizeof(channel));
	copy_member(line, "host", host, sizeof(host));
	snprintf(to->name, sizeof(to->name), "%s/%s", channel, host);
	to->ready = json_get_number(line, "ready");
	to->waiting = json_get_number(line, "waiting");
	to->active = json_get_number(line, "active");
	to->parked = json_get_number(line, "parked");
	to->agents = json_get_number(line, "agents");
	to->limit = json_get_number(line, "limit");
	if (to->ready + to->waiting + to->active + to->parked == 0)
		top->count--;		/* remembered, but has no mail */
	copy_member(line, "reason", to->words, sizeof(to->words));
	set_state(line, to);
	return true;
}

static int
top_compare(const void *a, const void *b)
{
	const struct top_destination *one = a, *two = b;
	int64_t mail = one->ready + one->waiting + one->active;
	int64_t other = two->ready + two->waiting + two->active;

	return mail != other ? (mail < other ? 1 : -1) :
	    strcmp(one->name, two->name);
}

static void
look_at_queue(struct top *top, const char *run_dir)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;

	top->count = 0;
	top->is_up = control_connect(run_dir, &control, &err) ==
	    CONTROL_REACHED;
	if (top->is_up) {
		control_begin(&request, "destinations");
		top->is_up = control_ask(&control, &request,
		    take_destination, top, &last, &err) == 0;
	}
	control_hang_up(&control);
	if (top->count > 1)
		qsort(top->destinations, top->count,
		    sizeof(*top->destinations), top_compare);
	str_release(&request);
	str_release(&last);
}

void
top_look(struct top *top, const struct conf *conf)
{
	look_at_counters(top, conf->log_dir);
	look_at_spool(top, conf);
	arena_reset(top->arena);
	standstill_look(conf, true, top->arena, &top->standstill);
	top->count = 0;
	top->is_up = !top->standstill.is_silent;
	if (top->is_up)
		look_at_queue(top, conf->run_dir);
}

/* ---- the journal ------------------------------------------------------- */

void
top_look_at_journal(struct top *top, const struct conf *conf)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	int64_t now_ms = clock_steady_ms();
	struct journal *journal;
	struct mail_report report;
	struct slice line;
	struct err err;

	if (top->page < 0 || (top->tops_ms != 0 &&
	    now_ms < top->tops_ms + TOPS_EVERY_MS))
		return;
	str_reset(&top->tops);
	top->tops_ms = now_ms;
	if (journal_days_open(conf->log_dir, 0, &journal, &err) < 0) {
		str_addf(&top->tops, "%s; zmailer report --top asks for you\n",
		    err.text);
		return;
	}
	report_init(&report);
	while (journal_next(journal, &cursor, &line))
		report_count_line(&report, line);
	journal_close(&journal);
	tops_print(&report.tops, (enum tops_sort)top->page, top->by,
	    TOPS_SHOWN, &top->tops);
	if (top->tops.len == 0)
		str_adds(&top->tops, "Nobody today.\n");
	report_count_release(&report);
}

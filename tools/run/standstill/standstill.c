/* standstill.c - what stands still, for every tool that tells how it goes
 *
 * In     the scheduler's orders and destinations, the spool's disk, what the
 *        daemons noted about other programs; parts.h has the rest
 * Out    rows
 * Holds  the scheduler's connection, while it looks
 * Trusts nothing in the words of others: controls are escaped
 * Spec   standstill.h; doc/protocol/control.md, orders, destinations
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "daemon/machine/neighbours.h"
#include "daemon/skeleton.h"
#include "journal/counters.h"
#include "journal/neighbours.h"
#include "mail/spool/spool.h"
#include "tools/queue/control.h"
#include "tools/queue/words.h"
#include "tools/run/standstill/parts.h"

#include "base/banned.h"

/* ---- orders ------------------------------------------------------------- */

struct standstill_sum {		/* of rows that are one line for people */
	struct str	names;
	uint64_t	count, mail;
	int64_t		since_s;
};

struct standstill_look {
	struct standstill	*all;
	struct standstill_sum	 suspended, down;
	uint64_t		 parked, held, frozen;
	uint64_t		 bodies_alone, controls_alone;
	int64_t			 now_s;
};

static void
standstill_sum_add(struct standstill_sum *sum, struct slice line,
    int64_t since_s)
{
	struct str channel = STR_INIT, host = STR_INIT;

	(void)json_get(line, "channel", &channel);
	(void)json_get(line, "host", &host);
	if (sum->count < STANDSTILL_NAMES_MAX)
		str_addf(&sum->names, "%s%s/%s", sum->count > 0 ? ", " : "",
		    channel.buf, host.buf);
	else if (sum->count == STANDSTILL_NAMES_MAX)
		str_adds(&sum->names, ", ...");
	if (since_s > 0 && (sum->since_s == 0 || since_s < sum->since_s))
		sum->since_s = since_s;
	sum->count++;
	str_release(&channel);
	str_release(&host);
}

static bool
standstill_order(void *context, struct slice line)
{
	struct standstill_look *look = context;
	int64_t since_s = json_get_number(line, "since");
	struct str who = STR_INIT, why = STR_INIT, text = STR_INIT;
	struct standstill_row *row;

	if (json_is(line, "order", "suspend"))
		standstill_sum_add(&look->suspended, line, since_s);
	if (!json_is(line, "order", "drain"))
		return true;
	(void)json_get(line, "by", &who);
	(void)json_get(line, "reason", &why);
	row = standstill_row(look->all, "drain", "");
	row->since_s = since_s;
	row->next = "zmailer undrain";
	str_adds(&text, "drained");
	standstill_add_since(&text, since_s);
	if (who.len > 0)
		str_addf(&text, " by %s", who.buf);
	if (why.len > 0)
		str_addf(&text, " (%s)", why.buf);
	str_adds(&text, ": mail is taken, none is delivered");
	standstill_say(look->all, row, &text);
	str_release(&who);
	str_release(&why);
	str_release(&text);
	return true;
}

/* ---- destinations ------------------------------------------------------- */

/* A next hop that is a program of the site, not a host of the world. */
static bool
destination_is_neighbour(struct slice line)
{
	return json_is(line, "channel", "lmtp");
}

static bool
standstill_destination(void *context, struct slice line)
{
	struct standstill_look *look = context;
	uint64_t mail = (uint64_t)(json_get_number(line, "ready") +
	    json_get_number(line, "waiting"));
	struct str reason = STR_INIT;

	look->parked += (uint64_t)json_get_number(line, "parked");
	if (json_is(line, "suspended", "true"))
		look->suspended.mail += mail;
	else if (mail > 0 && destination_is_neighbour(line) &&
	    json_get_number(line, "held_until") > look->now_s) {
		standstill_sum_add(&look->down, line, json_get_number(line,
		    "down_since"));
		look->down.mail += mail;
		if (look->down.count <= STANDSTILL_NAMES_MAX &&
		    json_get(line, "reason", &reason) && reason.len > 0)
			str_addf(&look->down.names, " (%s)", reason.buf);
	}
	str_release(&reason);
	return true;
}

static void
standstill_say_sum(struct standstill_look *look, struct standstill_sum *sum,
    const char *what, const char *verb, const char *next)
{
	struct standstill_row *row;
	struct str text = STR_INIT;

	if (sum->count > 0) {
		row = standstill_row(look->all, what, sum->names.buf);
		row->since_s = sum->since_s;
		row->count = sum->mail;
		row->next = next;
		str_addf(&text, "%s: %s", verb, sum->names.buf);
		standstill_add_since(&text, sum->since_s);
		/* a message with many recipients is several */
		str_addf(&text, ", %" PRIu64 " %s", sum->mail,
		    sum->mail == 1 ? "message waits" : "deliveries wait");
		standstill_say(look->all, row, &text);
	}
	str_release(&text);
	str_release(&sum->names);
}

/* Files that are no message of the scheduler's: its rescans could not mend
 * them. */
static void
standstill_say_alone(struct standstill *all, const char *area,
    uint64_t count, const char *what)
{
	struct standstill_row *row;

	if (count == 0)
		return;
	row = standstill_row(all, "files", area);
	row->count = count;
	row->text = arena_printf(all->arena, "%" PRIu64 " file%s of %s/ %s no "
	    "message of the scheduler's: %s", count, count == 1 ? "" : "s",
	    area, count == 1 ? "is" : "are", what);
	row->next = "zmailer events spool.trouble says why; stop, zmailer "
	    "fsck --repair, start";
}

/* Of one question; what may not be asked is left out.  False: no answer. */
static bool
standstill_ask(struct standstill_look *look, struct control *control,
    const char *op, control_fn *line)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct err err;
	bool is_answered;

	control_begin(&request, op);
	is_answered = control_ask(control, &request, line, look, &last,
	    &err) == 0 || last.len > 0;
	look->bodies_alone += (uint64_t)json_get_number(str_slice(&last),
	    "bodies_alone");
	look->controls_alone += (uint64_t)json_get_number(str_slice(&last),
	    "controls_alone");
	str_release(&request);
	str_release(&last);
	return is_answered;
}

static bool
standstill_take_objective(void *context, struct slice line)
{
	struct standstill_look *look = context;
	struct str name = STR_INIT, text = STR_INIT;
	struct standstill_row *row;

	(void)json_get(line, "objective", &name);
	row = standstill_row(look->all, "objective", name.buf);
	standstill_objective(look->all->arena, line, row, &text);
	standstill_say(look->all, row, &text);
	str_release(&name);
	str_release(&text);
	return true;
}

/* A line of count, by state. */
static bool
standstill_take_parked(void *context, struct slice line)
{
	struct standstill_look *look = context;

	if (json_is(line, "key", "held"))
		look->held = (uint64_t)json_get_number(line, "messages");
	else if (json_is(line, "key", "frozen"))
		look->frozen = (uint64_t)json_get_number(line, "messages");
	return true;
}

/* Apart, because what lets them go is not the same verb. */
static void
standstill_say_parked(struct standstill *all, uint64_t count,
    const char *state)
{
	struct standstill_row *row;

	if (count == 0)
		return;
	row = standstill_row(all, state, "");
	row->count = count;
	row->is_note = true;
	row->text = arena_printf(all->arena, "%" PRIu64 " message%s %s by "
	    "order", count, count == 1 ? " is" : "s are", state);
	row->next = arena_printf(all->arena, "zmailer list state=%s", state);
}

static void
standstill_scheduler(struct standstill *all, const char *run_dir)
{
	struct standstill_look look = { .all = all,
	    .now_s = clock_wall_s(), .suspended = { .names = STR_INIT },
	    .down = { .names = STR_INIT } };
	struct standstill_row *row;
	struct control control;
	struct err err;
	enum control_reached reached = control_connect(run_dir, &control,
	    &err);

	control.answer_ms = STANDSTILL_ANSWER_MS;
	all->is_silent = reached == CONTROL_ABSENT ||
	    (reached == CONTROL_REACHED &&
	    (!standstill_ask(&look, &control, "orders", standstill_order) ||
	    !standstill_ask(&look, &control, "destinations",
	    standstill_destination) ||
	    !standstill_ask(&look, &control, "objectives",
	    standstill_take_objective)));
	if (!all->is_silent && look.parked > 0)
		(void)standstill_ask(&look, &control, "count",
		    standstill_take_parked);
	control_hang_up(&control);
	if (all->is_silent) {
		row = standstill_row(all, "scheduler", "");
		row->text = reached == CONTROL_ABSENT ?
		    "the scheduler does not run: nothing is delivered" :
		    "the scheduler does not answer: it is stopped, or busy";
		row->next = "zmailer events state:daemon.exit; zmailer restart";
	}
	standstill_say_sum(&look, &look.suspended, "suspend",
	    "suspended by order", "zmailer orders; zmailer resume");
	standstill_say_sum(&look, &look.down, "next-hop",
	    "the next hop cannot be reached",
	    "start the program that it is, then zmailer retry");
	standstill_say_alone(all, "queue", look.bodies_alone,
	    "no control file, and it cannot be routed again");
	standstill_say_alone(all, "transport", look.controls_alone,
	    "no body, or it cannot be read");
	standstill_say_parked(all, look.held, "held");
	standstill_say_parked(all, look.frozen, "frozen");
}

/* ---- the disk ----------------------------------------------------------- */

/* effect: what happens when it is full. */
static void
standstill_disk(struct standstill *all, const char *dir, const char *effect)
{
	struct standstill_row *row;
	struct statvfs fs;
	bool is_full, has_no_files;

	if (statvfs(dir, &fs) != 0)
		return;
	is_full = (uint64_t)fs.f_bavail * fs.f_frsize < SPOOL_RESERVE_BYTES;
	has_no_files = fs.f_files > 0 && fs.f_favail == 0;
	if (!is_full && !has_no_files)
		return;
	row = standstill_row(all, "disk", dir);
	row->text = arena_printf(all->arena, "the disk of %s is full (%s): "
	    "%s", dir, is_full ? "less than 1 MB is free" :
	    "no inode is free", effect);
	row->next = arena_printf(all->arena, "make room; df %s %s", is_full ?
	    "-h" : "-i", dir);
}

static void
standstill_disks(struct standstill *all, const struct conf *conf)
{
	struct stat spool, log;

	standstill_disk(all, conf->spool_dir,
	    "mail is refused for now with 452");
	if (stat(conf->spool_dir, &spool) == 0 &&
	    stat(conf->log_dir, &log) == 0 && spool.st_dev != log.st_dev)
		standstill_disk(all, conf->log_dir,
		    "what happens is not written down");
}

/* ---- set aside ----------------------------------------------------------- */

static bool
standstill_count_file(void *context, const char *name)
{
	const char *base = strrchr(name, '/');
	struct spool_name parsed;

	base = base != NULL ? base + 1 : name;
	/* a control file beside its message is no message */
	if (base[0] != '.' && !(spool_name_parse(slice_of(base), &parsed) &&
	    slice_ends(parsed.why, ".control")))
		(*(uint64_t *)context)++;
	return true;
}

/* What waits for a person; what may not be read is left out. */
static void
standstill_aside(struct standstill *all, const struct conf *conf)
{
	static const struct {
		enum spool_area	area;
		const char	*text, *next;
	} rows[] = {
		{ AREA_DEFERRED, "in deferred/: routing had trouble",
		    "zmailer resubmit" },
		{ AREA_FREEZER, "in freezer/ for a person to look at",
		    "zmailer review" },
		{ AREA_POSTMAN, "in postman/ for a person to look at",
		    "zmailer review" },
	};
	struct standstill_row *row;
	struct spool *spool;
	struct err err;

	if (conf_spool_open(conf, 0, &spool,
	    &err) < 0)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t count = 0;

		(void)spool_scan(spool, rows[i].area, 0,
		    standstill_count_file, &count, &err);
		if (count == 0)
			continue;
		row = standstill_row(all, "set-aside",
		    spool_area_names[rows[i].area]);
		row->count = count;
		row->next = rows[i].next;
		row->text = arena_printf(all->arena, "%" PRIu64 " message%s "
		    "%s", count, count == 1 ? " waits" : "s wait",
		    rows[i].text);
	}
	spool_close(&spool);
}

/* A note: a site may want it so, and mail flows.  A person's own instance is
 * often for a try. */
static void
standstill_memory(struct standstill *all, const struct conf *conf)
{
	bool is_meant = conf->sync == SYNC_EPHEMERAL;
	struct standstill_row *row;

	if (!spool_is_in_memory(conf->spool_dir) ||
	    (!is_meant && daemon_is_private(conf)))
		return;
	row = standstill_row(all, "memory", conf->spool_dir);
	row->is_note = true;
	row->text = arena_printf(all->arena, "mail is kept in memory: %s is "
	    "gone when the machine ends", conf->spool_dir);
	row->next = is_meant ? "`sync ephemeral` says so; to keep it, name a "
	    "`spool` on a disk" : "name a `spool` on a disk, or say `sync "
	    "ephemeral`";
}

/* ---- other programs ----------------------------------------------------- */

static void
standstill_failing(struct standstill *all, const struct machine_neighbour *one,
    const struct neighbour *state)
{
	struct standstill_row *row = standstill_row(all, one->kind, one->name);
	struct str text = STR_INIT;

	row->since_s = state->since_s;
	row->count = state->told;
	str_addf(&text, "%s %s does not do its work", one->kind, one->name);
	standstill_add_since(&text, state->since_s);
	str_addf(&text, ": %s; %" PRIu64 " command%s refused for it",
	    state->reason, state->told, state->told == 1 ? " was" : "s were");
	standstill_say(all, row, &text);
	row->next = "start or mend that program";
	str_release(&text);
}

static void
standstill_neighbour(struct standstill *all,
    const struct machine_neighbour *one)
{
	struct neighbour state;
	struct err err;

	/* It may have come back, and nobody has asked it since: then it
	 * listens.  Who listens and fails all the same said more than
	 * "connect". */
	if (neighbour_is_down(one->kind, one->name, &state) &&
	    (strstr(state.reason, "connect") == NULL ||
	    machine_knock(one->name, &err) != MACHINE_ANSWERS))
		standstill_failing(all, one, &state);
}

static void
standstill_neighbours(struct standstill *all, const struct conf *conf)
{
	struct machine_neighbour *named;
	size_t count = machine_neighbours(conf, all->arena, &named);
	int fd = open(conf->log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && counters_read(fd) == 0)
		for (size_t i = 0; i < count; i++)
			standstill_neighbour(all, &named[i]);
	if (fd >= 0)
		close(fd);
}

/* No mail has met it yet: the first that does would be refused. */
static void
standstill_silent(struct standstill *all, const struct machine_neighbour *one,
    const struct err *err)
{
	struct standstill_row *row = standstill_row(all, one->kind, one->name);
	struct str text = STR_INIT;

	str_addf(&text, "nobody listens at %s %s: %s; mail that needs it %s",
	    one->kind, one->name, err->text, strcmp(one->kind, "lmtp") == 0 ?
	    "waits" : "is refused for now");
	standstill_say(all, row, &text);
	row->next = "start or mend that program";
	str_release(&text);
}

/* Is there a row of it already, be it of the mail that waits for it? */
static bool
standstill_has(const struct standstill *all,
    const struct machine_neighbour *one)
{
	for (size_t i = 0; i < all->count; i++)
		if (strstr(all->rows[i].text, one->name) != NULL)
			return true;
	return false;
}

void
standstill_knock(const struct conf *conf, struct standstill *all)
{
	struct machine_neighbour *named;
	size_t count = machine_neighbours(conf, all->arena, &named);
	int64_t end_ms = clock_steady_ms() + STANDSTILL_KNOCK_MS;
	struct err err;

	for (size_t i = 0; i < count && clock_steady_ms() < end_ms; i++)
		if (!standstill_has(all, &named[i]) &&
		    machine_knock(named[i].name, &err) == MACHINE_SILENT)
			standstill_silent(all, &named[i], &err);
	standstill_cluster(all, conf);
	standstill_notify(all, conf);
	standstill_resolver(all, conf);
}

/* ---- all of it ---------------------------------------------------------- */

void
standstill_look(const struct conf *conf, bool is_running, struct arena *arena,
    struct standstill *out)
{
	*out = (struct standstill){ .arena = arena };
	standstill_disks(out, conf);
	standstill_memory(out, conf);
	standstill_aside(out, conf);
	if (!is_running)
		return;
	standstill_processes(out, conf->run_dir);
	standstill_progress(out, conf->run_dir);
	if (!out->is_silent)
		standstill_scheduler(out, conf->run_dir);
	standstill_files(out, conf);
	standstill_neighbours(out, conf);
}

bool
standstill_has_trouble(const struct standstill *standstill)
{
	for (size_t i = 0; i < standstill->count; i++)
		if (!standstill->rows[i].is_note)
			return true;
	return false;
}

void
standstill_add_text(struct str *out, const struct standstill_row *row,
    const char *front)
{
	str_addf(out, "%s%s -> %s\n", front, row->text, row->next);
}

static void
standstill_add_json(struct str *out, const struct standstill_row *row)
{
	json_open_answer(out);
	json_text(out, "standstill", slice_of(row->what));
	json_text(out, "name", slice_of(row->name));
	json_text(out, "level", slice_of(row->is_note ? "note" : "warning"));
	json_number(out, "since", row->since_s);
	json_number(out, "count", (int64_t)row->count);
	json_text(out, "text", slice_of(row->text));
	json_text(out, "next", slice_of(row->next));
	json_close(out);
}

void
standstill_print(const struct standstill *standstill, bool is_json)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < standstill->count; i++)
		if (is_json)
			standstill_add_json(&text, &standstill->rows[i]);
		else if (!standstill->rows[i].is_good)
			standstill_add_text(&text, &standstill->rows[i], "! ");
	fputs(text.buf, stdout);
	str_release(&text);
}

/* watch.c - zmailer watch: raise alarms while something stands still
 *
 * In     ages and numbers of files of the spool's directories; the rows of
 *        standstill.h; limits
 * Out    a line, or a command, when an alarm begins and when it ends
 * Holds  the alarms that have begun
 * Trusts nothing in names and words of others: the rows are escaped
 * Spec   zmailer-watch(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "grammar/units.h"
#include "tools/queue/area.h"
#include "tools/queue/words.h"
#include "tools/run/standstill/standstill.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { WATCH_EVERY_MS = 60000 };

/* A limit of -1 means no limit. */
static struct watch_limit {
	enum spool_area	 area;
	int64_t		 age_s;
	int64_t		 count;
	const char	*next;
} limits[] = {
	{ AREA_PUBLIC, 60, -1, "zmailer fsck" },
	{ AREA_ROUTER, 300, -1, "zmailer status" },
	{ AREA_TRANSPORT, 3600, -1, "zmailer queue" },
	{ AREA_DEFERRED, 86400, -1, "zmailer why area:deferred" },
	{ AREA_FREEZER, -1, 0, "zmailer review" },
	{ AREA_POSTMAN, -1, 0, "zmailer review" },
};
enum { LIMITS = sizeof(limits) / sizeof(limits[0]) };

struct alarm {
	const char	*what, *name;	/* together they are its key */
	const char	*text, *next;
};

struct alarms {
	struct arena	*arena;
	struct alarm	*all;
	size_t		 count, room;
};

/* ---- what there is to ring about ------------------------------------- */

static void
alarm_add(struct alarms *alarms, const char *what, const char *name,
    const char *text, const char *next)
{
	if (alarms->count == alarms->room) {
		alarms->room = alarms->room > 0 ? alarms->room * 2 : 16;
		alarms->all = mem_grow(alarms->all, alarms->room,
		    sizeof(*alarms->all));
	}
	alarms->all[alarms->count++] = (struct alarm){
		arena_printf(alarms->arena, "%s", what),
		arena_printf(alarms->arena, "%s", name),
		arena_printf(alarms->arena, "%s", text),
		arena_printf(alarms->arena, "%s", next)
	};
}

static bool
alarm_is_in(const struct alarms *alarms, const struct alarm *alarm)
{
	for (size_t i = 0; i < alarms->count; i++)
		if (strcmp(alarms->all[i].what, alarm->what) == 0 &&
		    strcmp(alarms->all[i].name, alarm->name) == 0)
			return true;
	return false;
}

static void
watch_area(struct alarms *alarms, const struct watch_limit *limit,
    const struct area *area)
{
	const char *name = spool_area_names[limit->area];
	struct str text = STR_INIT;

	if (limit->age_s >= 0 && area->oldest_s > limit->age_s) {
		str_addf(&text, "the oldest of %" PRIu64 " in %s/ is there "
		    "for ", area->count, name);
		words_add_span(&text, area->oldest_s);
		str_adds(&text, ", more than ");
		words_add_span(&text, limit->age_s);
		alarm_add(alarms, "age", name, text.buf, limit->next);
	}
	str_reset(&text);
	if (limit->count >= 0 && area->count > (uint64_t)limit->count) {
		str_addf(&text, "%" PRIu64 " in %s/, more than %" PRId64,
		    area->count, name, limit->count);
		alarm_add(alarms, "count", name, text.buf, limit->next);
	}
	str_release(&text);
}

/* returns -1 when a directory cannot be read */
static int
watch_spool(struct alarms *alarms, const struct conf *conf, struct err *err)
{
	struct spool *spool;
	int result = spool_open(conf->spool_dir, 0, conf->hash_levels, &spool,
	    err);

	for (size_t i = 0; result == 0 && i < LIMITS; i++) {
		struct area area = { .spool = spool,
		    .area = limits[i].area, .now_s = clock_wall_s() };
		unsigned priorities = area.area == AREA_ROUTER ?
		    SPOOL_PRIORITIES : 1;

		if (limits[i].age_s < 0 && limits[i].count < 0)
			continue;
		for (; result == 0 && area.priority < priorities;
		    area.priority++)
			result = area_count(&area, err);
		watch_area(alarms, &limits[i], &area);
	}
	spool_close(&spool);
	return result;
}

/* The limits are in the place of "set-aside", which has none. */
static void
watch_standstill(struct alarms *alarms, const struct conf *conf)
{
	struct standstill found;
	char holder[256];
	pid_t pid;
	bool is_running = spool_lock_holder(conf->spool_dir, holder,
	    sizeof(holder), &pid) == SPOOL_LOCK_HELD;

	if (!is_running)
		alarm_add(alarms, "stopped", "", "zmailer does not run",
		    "zmailer start");
	standstill_look(conf, is_running, alarms->arena, &found);
	for (size_t i = 0; i < found.count; i++)
		if (!found.rows[i].is_note &&
		    strcmp(found.rows[i].what, "set-aside") != 0)
			alarm_add(alarms, found.rows[i].what,
			    found.rows[i].name, found.rows[i].text,
			    found.rows[i].next);
}

/* The configuration is read anew each time: it may be another. */
static int
watch_look(struct alarms *alarms, const char *conf_path, struct err *err)
{
	struct conf *conf = verb_conf_spool(conf_path);
	int result;

	alarms->arena = arena_new();
	result = watch_spool(alarms, conf, err);
	if (result == 0)
		watch_standstill(alarms, conf);
	conf_free(&conf);
	return result;
}

static void
alarms_release(struct alarms *alarms)
{
	mem_free(&alarms->all);
	arena_free(&alarms->arena);
	*alarms = (struct alarms){ .count = 0 };
}

/* ---- ringing -------------------------------------------------------- */

static void
watch_execute(const char *command, const struct alarm *alarm,
    const char *change)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (setenv("ZMAILER_ALARM", change, 1) == 0 &&
		    setenv("ZMAILER_WHAT", alarm->what, 1) == 0 &&
		    setenv("ZMAILER_NAME", alarm->name, 1) == 0 &&
		    setenv("ZMAILER_TEXT", alarm->text, 1) == 0 &&
		    setenv("ZMAILER_NEXT", alarm->next, 1) == 0)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		fprintf(stderr, "zmailer: watch: cannot fork: %s\n",
		    strerror(errno));
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fprintf(stderr, "zmailer: watch: %s: %s %d\n", command,
		    WIFEXITED(status) ? "exit" : "signal",
		    WIFEXITED(status) ? WEXITSTATUS(status) :
		    WTERMSIG(status));
}

static void
watch_ring(const char *command, const struct alarm *alarm, const char *change)
{
	char now[CLOCK_TEXT_BYTES];

	if (command != NULL) {
		watch_execute(command, alarm, change);
		return;
	}
	clock_local(clock_wall_s(), now);
	printf("%s %s %s%s%s: %s", now, change, alarm->what,
	    alarm->name[0] != '\0' ? " " : "", alarm->name, alarm->text);
	if (strcmp(change, "begin") == 0)
		printf(" -> %s", alarm->next);
	putchar('\n');
	fflush(stdout);
}

/* Those of one look that the other has not. */
static void
watch_tell(const char *command, const struct alarms *alarms,
    const struct alarms *others, const char *change)
{
	for (size_t i = 0; i < alarms->count; i++)
		if (!alarm_is_in(others, &alarms->all[i]))
			watch_ring(command, &alarms->all[i], change);
}

/* Signals that end it come only here.  False: one came. */
static bool
watch_sleep(int64_t ms, const sigset_t *ends)
{
	const struct timespec span = { ms / 1000, ms % 1000 * 1000000 };

	return sigtimedwait(ends, NULL, &span) < 0;
}

/* ---- limits that are given ------------------------------------------- */

static struct watch_limit *
limit_find(struct slice name)
{
	for (size_t i = 0; i < LIMITS; i++)
		if (slice_is(name, spool_area_names[limits[i].area]))
			return &limits[i];
	return NULL;
}

/* "router=5m", "postman=3", "transport=off". */
static int
limit_take(const struct arguments *arguments, const char *word)
{
	struct slice value = slice_of(word), name;
	struct watch_limit *limit;
	uint64_t number;
	int64_t ms;
	struct err err;

	if (!slice_cut(&value, '=', &name) || value.n == 0 ||
	    (limit = limit_find(name)) == NULL)
		return arguments_refuse(arguments, "%s is no limit: public, "
		    "router, transport, deferred, freezer or postman, and "
		    "=SPAN, =COUNT or =off", word);
	if (slice_is(value, "off"))
		limit->age_s = limit->count = -1;
	else if (slice_number(value, 0, INT64_MAX, &number))
		limit->count = (int64_t)number;
	else if (units_span_ms(value, &ms, &err) == 0)
		limit->age_s = ms / 1000;
	else
		return arguments_refuse(arguments, "%s: %s", word, err.text);
	return EX_OK;
}

/* ---- the verb -------------------------------------------------------- */

static int
watch_run(const struct arguments *arguments, const sigset_t *ends)
{
	bool is_once = arguments_has(arguments, OPT_ONCE);
	const char *command = arguments_text(arguments, OPT_EXEC);
	int64_t every_ms = arguments_number(arguments, OPT_EVERY,
	    WATCH_EVERY_MS);
	struct alarms before = { .count = 0 };
	struct err err = { "" };
	int result, status;

	do {
		struct alarms now = { .count = 0 };

		result = watch_look(&now, arguments->conf_path, &err);
		if (result == 0) {
			watch_tell(command, &before, &now, "end");
			watch_tell(command, &now, &before, "begin");
		}
		alarms_release(&before);
		before = now;
		status = now.count > 0 ? 1 : EX_OK;
	} while (result == 0 && !is_once && watch_sleep(every_ms, ends));
	alarms_release(&before);
	return result == 0 ? status : verb_failed("watch", &err, EX_NOPERM);
}

int
verb_watch(struct arguments *arguments)
{
	sigset_t ends;
	int status = EX_OK;

	for (int i = 0; status == EX_OK && i < arguments->count; i++)
		status = limit_take(arguments, arguments->words[i]);
	if (status != EX_OK)
		return status;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return watch_run(arguments, &ends);
}

/* verb_metrics.c - zmailer metrics: OpenMetrics text for monitoring
 *
 * In     the counters that the processes share; the spool; the scheduler's
 *        counts when it runs
 * Out    text that Prometheus and its kin read
 * Trusts nothing in the spool
 * Spec   zmailer-metrics(8); OpenMetrics 1.0; libzm/base/metrics.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/json.h"
#include "mail/spool/spool.h"
#include "tools/queue/control.h"
#include "tools/verb.h"

#include "base/banned.h"

struct area {			/* what lies in one directory */
	const struct spool	*spool;
	enum spool_area		 area;
	unsigned		 priority;
	uint64_t		 count, copies;
	int64_t			 oldest_s;	/* of its files; 0: none */
};

/* The age of what came here first, by when its file was last written: for
 * mail that waits for a person that is when it was put there. */
static void
take_age(struct area *area, const char *name)
{
	struct stat st;

	if (fstatat(spool_dir_fd(area->spool, area->area, area->priority),
	    name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (area->oldest_s == 0 || st.st_mtime < area->oldest_s))
		area->oldest_s = st.st_mtime;
}

static bool
count_file(void *context, const char *name)
{
	struct area *area = context;
	const char *last = strrchr(name, '/');
	const char *path = name;
	struct spool_name parts;

	name = last != NULL ? last + 1 : name;
	if (!spool_name_parse(slice_of(name), &parts) ||
	    slice_ends(parts.why, ".control") || name[0] == '.')
		return true;
	area->count++;
	take_age(area, path);
	area->copies += slice_starts(parts.why, "_");
	return true;
}

static void
add_gauge(struct str *out, const char *name, const char *text)
{
	str_addf(out, "# TYPE zmailer_%s gauge\n# HELP zmailer_%s %s\n", name,
	    name, text);
}

/* How old the oldest of each directory is: 0 when it is empty. */
static void
add_ages(struct str *out, const struct area *areas, size_t count)
{
	int64_t now_s = clock_wall_s();

	add_gauge(out, "area_oldest_seconds",
	    "age of the oldest file in a directory");
	for (size_t i = 0; i < count; i++)
		str_addf(out, "zmailer_area_oldest_seconds{area=\"%s\"} %"
		    PRId64 "\n", areas[i].area == AREA_TRANSPORT ? "queue" :
		    spool_area_names[areas[i].area], areas[i].oldest_s > 0 &&
		    areas[i].oldest_s < now_s ? now_s - areas[i].oldest_s :
		    0);
}

static void
add_areas(struct str *out, const struct spool *spool)
{
	static const enum spool_area areas[] = { AREA_ROUTER, AREA_TRANSPORT,
		AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN, AREA_TRASH };
	enum { AREAS = sizeof(areas) / sizeof(areas[0]) };
	struct area found[AREAS];
	uint64_t only_copies = 0;

	add_gauge(out, "area_messages", "messages in a directory");
	for (size_t i = 0; i < AREAS; i++) {
		struct area area = { .spool = spool, .area = areas[i] };

		for (unsigned p = 0; p < (areas[i] == AREA_ROUTER ?
		    SPOOL_PRIORITIES : 1); p++) {
			area.priority = p;
			(void)spool_scan(spool, areas[i], p, count_file,
			    &area, NULL);
		}
		found[i] = area;
		str_addf(out, "zmailer_area_messages{area=\"%s\"} %" PRIu64
		    "\n", areas[i] == AREA_TRANSPORT ? "queue" :
		    spool_area_names[areas[i]], area.count);
		if (areas[i] == AREA_POSTMAN)
			only_copies = area.count - area.copies;
	}
	add_ages(out, found, AREAS);
	add_gauge(out, "postman_only_copies",
	    "messages in postman/ that are nowhere else");
	str_addf(out, "zmailer_postman_only_copies %" PRIu64 "\n",
	    only_copies);
}

static void
add_space(struct str *out, const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) != 0)
		return;
	add_gauge(out, "spool_free_bytes", "room on the spool's disk");
	str_addf(out, "zmailer_spool_free_bytes %" PRIu64 "\n",
	    (uint64_t)fs.f_bavail * fs.f_frsize);
	add_gauge(out, "spool_free_inodes", "files that fit on it");
	str_addf(out, "zmailer_spool_free_inodes %" PRIu64 "\n",
	    (uint64_t)fs.f_favail);
}

/* Every state has a line, so that a graph has no gaps. */
static const char *const states[] = { "ready", "waiting", "down",
	"suspended", "active", "held", "frozen", "done", "deleted" };
enum { STATE_COUNT = sizeof(states) / sizeof(states[0]) };

struct state_counts {
	int64_t		recipients[STATE_COUNT], messages[STATE_COUNT];
};

static bool
take_state(void *context, struct slice line)
{
	struct state_counts *counts = context;
	struct str key = STR_INIT;

	if (json_get(line, "key", &key))
		for (int i = 0; i < STATE_COUNT; i++)
			if (slice_is(str_slice(&key), states[i])) {
				counts->recipients[i] = json_get_number(line,
				    "recipients");
				counts->messages[i] = json_get_number(line,
				    "messages");
			}
	str_release(&key);
	return true;
}

static void
add_states(struct str *out, const char *name, const char *text,
    const int64_t *counts)
{
	add_gauge(out, name, text);
	for (int i = 0; i < STATE_COUNT; i++)
		str_addf(out, "zmailer_%s{state=\"%s\"} %" PRId64 "\n",
		    name, states[i], counts[i]);
}

static void
add_queue(struct str *out, const char *run_dir)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct state_counts counts = { { 0 }, { 0 } };
	struct control control;
	struct err err;
	bool is_up = control_connect(run_dir, &control, &err) == 1;

	if (is_up) {
		control_begin(&request, "count");
		is_up = control_ask(&control, &request, take_state, &counts,
		    &last, &err) == 1;
	}
	control_close(&control);
	add_gauge(out, "up", "whether the scheduler answers");
	str_addf(out, "zmailer_up %d\n", is_up);
	if (is_up) {
		add_states(out, "queue_recipients", "recipients that the "
		    "scheduler has, by state", counts.recipients);
		add_states(out, "queue_messages", "messages that have a "
		    "recipient in a state", counts.messages);
	}
	str_release(&request);
	str_release(&last);
}

/* The same in the text format of Prometheus (0.0.4), which promtool reads:
 * a family is called as its samples are. */
static void
classic_add(struct str *out, struct slice text)
{
	struct slice line, word, kind, name = { "", 0 };
	const char *suffix = "";

	while (slice_cut(&text, '\n', &line)) {
		struct slice rest = slice_from(line, 7);

		if (line.n == 0 || slice_is(line, "# EOF"))
			continue;
		if (slice_starts(line, "# TYPE ") && slice_word(&rest, &name) &&
		    slice_word(&rest, &kind)) {
			suffix = slice_is(kind, "counter") ? "_total" :
			    slice_is(kind, "info") ? "_info" : "";
			str_addf(out, "# TYPE " SLICE_FMT "%s " SLICE_FMT
			    "\n", SLICE_ARG(name), suffix,
			    SLICE_ARG(slice_is(kind, "info") ?
			    SLICE("gauge") : kind));
		} else if (slice_starts(line, "# HELP ") &&
		    slice_word(&rest, &word)) {
			str_addf(out, "# HELP " SLICE_FMT "%s" SLICE_FMT
			    "\n", SLICE_ARG(word), suffix, SLICE_ARG(rest));
		} else {
			str_add_slice(out, line);
			str_addc(out, '\n');
		}
	}
}

int
verb_metrics(int argc, char **argv, const char *conf_path)
{
	struct str out = STR_INIT, classic = STR_INIT;
	struct spool *spool;
	struct conf *conf;
	struct err err;
	int log_fd;

	bool is_classic = argc == 2 && strcmp(argv[1], "--prometheus") == 0;

	if (argc > 1 && !is_classic)
		return verb_usage(argv[0], "'%s' is too much", argv[1]);
	conf = verb_conf(conf_path);
	if (spool_open(conf->spool_dir, 0, conf->hash_levels, &spool,
		&err) < 0) {
		fprintf(stderr, "zmailer: metrics: %s\n", err.text);
		conf_free(&conf);
		return EX_NOINPUT;
	}
	log_fd = open(conf->log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)counters_read(log_fd);	/* without it: all zero */
	if (log_fd >= 0)
		close(log_fd);
	str_addf(&out, "# TYPE zmailer_build info\n# HELP zmailer_build what "
	    "runs here\nzmailer_build_info{version=\"%s\"} 1\n",
	    PACKAGE_VERSION);
	counters_print(&out);
	add_queue(&out, conf->run_dir);
	add_areas(&out, spool);
	add_space(&out, conf->spool_dir);
	str_adds(&out, "# EOF\n");
	if (is_classic)
		classic_add(&classic, str_slice(&out));
	fputs(is_classic ? classic.buf : out.buf, stdout);
	str_release(&classic);
	str_release(&out);
	spool_close(&spool);
	conf_free(&conf);
	return EX_OK;
}

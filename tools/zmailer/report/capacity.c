/* capacity.c - how much mail this machine can take, and what ends it first
 *
 * In     the journal's times; the configuration; the spool's disk
 * Out    messages a second of each stage, messages that fit
 * Holds  a file without a name while the disk is measured
 * Trusts nothing
 * Spec   zmailer-report(8), --capacity
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "mail/spool/spool.h"
#include "tools/zmailer/report/capacity.h"

#include "base/banned.h"

enum {
	SYNCS_MAX = 64, SYNC_FOR_MS = 500, SYNC_BYTES = 4096,
	MESSAGE_BYTES = 20000,		/* while no mail was seen */
	FILES_OF_A_MESSAGE = 2,
	SECOND_US = 1000000
};

/* ---- the disk ---------------------------------------------------------- */

static int
capacity_compare(const void *a, const void *b)
{
	int64_t one = *(const int64_t *)a, two = *(const int64_t *)b;

	return (one > two) - (one < two);
}

/* The file has no name: whatever happens, nothing is left of it. */
static int
capacity_nameless(const char *spool_dir)
{
#ifdef O_TMPFILE
	struct str dir = STR_INIT;
	int fd;

	str_addf(&dir, "%s/%s", spool_dir, spool_area_names[AREA_PUBLIC]);
	fd = open(dir.buf, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	str_release(&dir);
	return fd;
#else
	(void)spool_dir;
	errno = ENOSYS;
	return -1;
#endif
}

static void
sync_measure(const char *spool_dir, struct capacity *out)
{
	static const char page[SYNC_BYTES];
	int64_t took_us[SYNCS_MAX], end_ms = clock_steady_ms() + SYNC_FOR_MS;
	int fd = capacity_nameless(spool_dir);
	size_t count = 0;

	out->sync_us = out->sync_worst_us = -1;
	if (fd < 0)
		return;
	while (count < SYNCS_MAX && clock_steady_ms() < end_ms) {
		int64_t begin_us = clock_steady_us();

		if (write(fd, page, sizeof(page)) != (ssize_t)sizeof(page) ||
		    fsync(fd) != 0)
			break;
		took_us[count++] = clock_steady_us() - begin_us;
	}
	close(fd);
	if (count == 0)
		return;
	qsort(took_us, count, sizeof(took_us[0]), capacity_compare);
	out->sync_us = took_us[count / 2];
	out->sync_worst_us = took_us[count - 1];
}

static int
room_find(const char *spool_dir, struct capacity *out, struct err *err)
{
	struct statvfs fs;
	uint64_t by_bytes, by_inodes;

	if (statvfs(spool_dir, &fs) != 0) {
		err_sys(err, "%s", spool_dir);
		return -1;
	}
	out->free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	out->free_inodes = (uint64_t)fs.f_favail;
	/* a page more for the control file */
	by_bytes = out->free_bytes / (out->message_bytes + fs.f_frsize);
	by_inodes = out->free_inodes / FILES_OF_A_MESSAGE;
	/* some file systems make inodes as they need them, and count none */
	out->room_by = fs.f_files > 0 && by_inodes < by_bytes ? "inodes" :
	    "bytes";
	out->room = out->room_by[0] == 'i' ? by_inodes : by_bytes;
	return 0;
}

/* ---- the stages -------------------------------------------------------- */

/* What took less than a millisecond is counted as one. */
static int64_t
median_us(const struct report_times *times)
{
	int64_t ms = report_percentile(times, 50);

	return ms < 0 ? -1 : ms == 0 ? 1000 : ms * 1000;
}

uint64_t
capacity_rate(const struct capacity_stage *stage)
{
	if (stage->one_us < 0)
		return 0;
	return (uint64_t)stage->at_a_time * SECOND_US /
	    (uint64_t)(stage->one_us > 0 ? stage->one_us : 1);
}

const struct capacity_stage *
capacity_first(const struct capacity *capacity)
{
	const struct capacity_stage *first = NULL;

	for (size_t i = 0; i < 3; i++) {
		const struct capacity_stage *stage = &capacity->stages[i];

		if (stage->one_us >= 0 && (first == NULL ||
		    capacity_rate(stage) < capacity_rate(first)))
			first = stage;
	}
	return first;
}

int
capacity_find(const struct conf *conf, const struct mail_report *report,
    struct capacity *out, struct err *err)
{
	*out = (struct capacity){ .message_bytes = report->accepted > 0 ?
	    report->bytes / report->accepted : MESSAGE_BYTES };
	if (room_find(conf->spool_dir, out, err) < 0)
		return -1;
	sync_measure(conf->spool_dir, out);
	out->stages[0] = (struct capacity_stage){ "accept", out->sync_us,
	    conf->smtpserver_workers, "workers smtpserver" };
	out->stages[1] = (struct capacity_stage){ "route",
	    median_us(&report->routing), conf->router_workers,
	    "workers router" };
	out->stages[2] = (struct capacity_stage){ "deliver",
	    median_us(&report->attempt), conf->limits.agents,
	    "limit agents" };
	return 0;
}

/* ---- the page ---------------------------------------------------------- */

/* "0.8 ms", "1200 ms". */
static void
add_us(struct str *out, int64_t us)
{
	if (us < 0)
		str_adds(out, "not known");
	else if (us < 10000)
		str_addf(out, "%" PRId64 ".%02" PRId64 " ms", us / 1000,
		    us % 1000 / 10);
	else
		str_addf(out, "%" PRId64 " ms", us / 1000);
}

static void
add_stage(struct str *out, const struct capacity_stage *stage)
{
	struct str one = STR_INIT;

	add_us(&one, stage->one_us);
	str_addf(out, "  %-10s %10s %10u  ", stage->name, one.buf,
	    stage->at_a_time);
	if (stage->one_us < 0)
		str_addf(out, "%10s", "-");
	else
		str_addf(out, "%10" PRIu64, capacity_rate(stage));
	str_addf(out, "  %s\n", stage->by);
	str_release(&one);
}

void
capacity_print(const struct capacity *capacity, struct str *out)
{
	const struct capacity_stage *first = capacity_first(capacity);

	str_addf(out, "  %-10s %10s %10s  %10s\n", "STAGE", "ONE TAKES",
	    "AT A TIME", "A SECOND");
	for (size_t i = 0; i < 3; i++)
		add_stage(out, &capacity->stages[i]);
	str_adds(out, "\nsync       ");
	add_us(out, capacity->sync_us);
	str_adds(out, ", the slowest ");
	add_us(out, capacity->sync_worst_us);
	str_adds(out, "; messages that come together share one\n");
	str_addf(out, "room       %" PRIu64 " messages of %" PRIu64 " bytes: "
	    "%" PRIu64 " MB and %" PRIu64 " inodes are free, the %s end "
	    "first\n", capacity->room, capacity->message_bytes,
	    capacity->free_bytes >> 20, capacity->free_inodes,
	    capacity->room_by);
	if (first == NULL)
		str_adds(out, "first      not known\n");
	else
		str_addf(out, "first      %s gives way, at about %" PRIu64
		    " messages a second (%s %u)\n", first->name,
		    capacity_rate(first), first->by, first->at_a_time);
}

void
capacity_print_json(const struct capacity *capacity, struct str *out)
{
	const struct capacity_stage *first = capacity_first(capacity);

	for (size_t i = 0; i < 3; i++) {
		const struct capacity_stage *stage = &capacity->stages[i];

		json_open_answer(out);
		json_text(out, "kind", SLICE("stage"));
		json_text(out, "name", slice_of(stage->name));
		json_number(out, "one_us", stage->one_us);
		json_number(out, "at_a_time", stage->at_a_time);
		json_number(out, "a_second", (int64_t)capacity_rate(stage));
		json_bool(out, "first", stage == first);
		json_close(out);
	}
	json_open_answer(out);
	json_text(out, "kind", SLICE("disk"));
	json_number(out, "sync_us", capacity->sync_us);
	json_number(out, "sync_worst_us", capacity->sync_worst_us);
	json_number(out, "free_bytes", (int64_t)capacity->free_bytes);
	json_number(out, "free_inodes", (int64_t)capacity->free_inodes);
	json_number(out, "room", (int64_t)capacity->room);
	json_text(out, "room_by", slice_of(capacity->room_by));
	json_close(out);
}

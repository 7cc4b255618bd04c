/* progress.c - a line on a terminal while an order takes its time
 *
 * In     how much is done
 * Out    a line on standard error, written over itself
 * Holds  the action of SIGINT meanwhile
 * Spec   progress.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/selection/progress.h"

#include "base/banned.h"

enum { SILENT_US = 1000000, BETWEEN_US = 200000 };

static volatile sig_atomic_t progress_interrupted;

static void
progress_on_interrupt(int number)
{
	(void)number;
	progress_interrupted = 1;
}

void
progress_begin(struct selection_progress *progress, const char *verb,
    const char *done, uint64_t total)
{
	struct sigaction action = { .sa_handler = progress_on_interrupt,
		.sa_flags = SA_RESTART };

	*progress = (struct selection_progress){ .verb = verb, .done = done,
		.total = total, .begun_us = clock_real_us(),
		.is_terminal = isatty(STDERR_FILENO) == 1 };
	progress->shown_us = progress->begun_us + SILENT_US - BETWEEN_US;
	progress_interrupted = 0;
	sigaction(SIGINT, &action, &progress->before);
}

void
progress_add(struct str *out, const struct selection_progress *progress,
    uint64_t count, int64_t span_us)
{
	uint64_t rate = span_us <= 0 ? 0 :
	    count * 1000000 / (uint64_t)span_us;
	char left[CLOCK_TEXT_BYTES];

	str_addf(out, "%" PRIu64 " of %" PRIu64 " message%s %s", count,
	    progress->total, progress->total == 1 ? "" : "s", progress->done);
	if (rate == 0 || count > progress->total)
		return;
	clock_span((int64_t)((progress->total - count) / rate), left);
	str_addf(out, ", %" PRIu64 " a second, %s left", rate, left);
}

bool
progress_step(struct selection_progress *progress, uint64_t count)
{
	int64_t now_us = clock_real_us();
	struct str line = STR_INIT;

	if (progress->is_terminal &&
	    now_us - progress->shown_us >= BETWEEN_US) {
		progress_add(&line, progress, count,
		    now_us - progress->begun_us);
		fprintf(stderr, "\r%-79s", line.buf);
		fflush(stderr);
		progress->is_shown = true;
		progress->shown_us = now_us;
	}
	str_release(&line);
	return progress_interrupted == 0;
}

void
progress_hide(struct selection_progress *progress)
{
	if (progress->is_shown)
		fprintf(stderr, "\r%79s\r", "");
	progress->is_shown = false;
}

bool
progress_end(struct selection_progress *progress, uint64_t count)
{
	progress_hide(progress);
	sigaction(SIGINT, &progress->before, NULL);
	if (progress_interrupted == 0)
		return false;
	fprintf(stderr, "zmailer: %s: interrupted: %" PRIu64 " of %" PRIu64
	    " message%s %s; the rest is as it was, the same order goes on "
	    "with it\n", progress->verb, count, progress->total,
	    progress->total == 1 ? "" : "s", progress->done);
	return true;
}

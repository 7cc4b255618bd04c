/* record.c - what sessions said, kept for a while so that it can be replayed
 *
 * In     a line
 * Out    LOGDIR/record-YYYY-MM-DD.jsonl, nobody else's to read
 * Holds  the descriptor of today's file
 * Spec   zmailer-replay(8); doc/INTERNALS.md section 9
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
#include "base/err.h"
#include "journal/event.h"
#include "journal/record.h"

#include "base/banned.h"

static int record_fd = -1;
static char record_day[16];	/* of record_fd */
static char record_complained[16];	/* that day */

static void
record_complain(const char *what)
{
	if (strcmp(record_complained, record_day) == 0)
		return;
	strlcpy(record_complained, record_day, sizeof(record_complained));
	warning("record-%s.jsonl: %s; sessions are not recorded until "
	    "tomorrow", record_day, what);
}

/* Today's file; false: it cannot be opened. */
static bool
record_open_today(struct stat *out)
{
	char now_text[CLOCK_TEXT_BYTES], name[64];

	clock_rfc3339(clock_wall_us(), now_text);
	/* removed by hand: begun anew */
	if (record_fd >= 0 && strncmp(record_day, now_text, 10) == 0 &&
	    fstat(record_fd, out) == 0 && out->st_nlink > 0)
		return true;
	if (record_fd >= 0)
		close(record_fd);
	snprintf(record_day, sizeof(record_day), "%.10s", now_text);
	snprintf(name, sizeof(name), "record-%s.jsonl", record_day);
	record_fd = openat(event_dir(), name, O_WRONLY | O_APPEND | O_CREAT |
	    O_CLOEXEC | O_NOFOLLOW, 0600);
	return record_fd >= 0 && fstat(record_fd, out) == 0;
}

void
record_line(struct slice line, uint64_t max_bytes)
{
	struct stat st;

	if (!event_is_kept())
		return;
	if (!record_open_today(&st))
		record_complain(strerror(errno));
	else if ((uint64_t)st.st_size + line.n > max_bytes)
		record_complain("it is as large as record size allows");
	else if (write(record_fd, line.p, line.n) != (ssize_t)line.n)
		record_complain(strerror(errno));
}

/* left.c - what a stop did not wait for
 *
 * In     the journal since it was ordered
 * Out    a line for each agent that goes on
 * Holds  nothing
 * Trusts no line: what cannot be read is left out
 * Spec   scheduler(8), SIGTERM; zmailer-events(5), agent.left
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "tools/journal/journal.h"
#include "tools/run/left.h"

#include "base/banned.h"

enum { LEFT_DAYS = 2 };		/* midnight may lie between */

static void
left_tell(struct slice line, FILE *out)
{
	struct str channel = STR_INIT, host = STR_INIT, pid = STR_INIT,
	    jobs = STR_INIT;

	journal_line_word(line, "channel", &channel);
	journal_line_word(line, "host", &host);
	journal_line_word(line, "child", &pid);
	journal_line_word(line, "jobs", &jobs);
	fprintf(out, "zmailer: stop: the agent for %s/%s, pid %s, has not "
	    "finished message " SLICE_FMT "%s: it goes on, and the next start "
	    "waits for it\n", channel.buf, host.buf, pid.buf,
	    SLICE_ARG(journal_line_id(line)),
	    strcmp(jobs.buf, "1") == 0 ? "" : " and others");
	str_release(&channel);
	str_release(&host);
	str_release(&pid);
	str_release(&jobs);
}

void
left_print(const char *log_dir, int64_t since_ms, FILE *out)
{
	const struct journal_span span = { since_ms, INT64_MAX };
	struct journal_cursor cursor = { 0, 0, 0 };
	struct journal *journal;
	struct slice line, value;
	struct err err;

	if (journal_days_open(log_dir, LEFT_DAYS, &journal, &err) < 0)
		return;
	journal_within(journal, &span);
	while (journal_next(journal, &cursor, &line))
		if (journal_line_has(line, "ev", &value) &&
		    slice_is(value, "agent.left") &&
		    journal_line_ms(line) >= since_ms)
			left_tell(line, out);
	journal_close(&journal);
}

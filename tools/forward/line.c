/* line.c - an event as syslog and journald take it
 *
 * In     a line of the journal
 * Out    a datagram
 * Trusts nothing in the line: controls are escaped, so that no field and no
 *        line begins in a value
 * Spec   RFC 3164 section 4.1 (as syslog(3) writes it to /dev/log);
 *        systemd's "Native Journal Protocol"
 *
 * SPDX-License-Identifier: ISC
 */
#include <syslog.h>
#include <time.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "journal/event.h"
#include "tools/forward/forward.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

static int
forward_level(struct slice ev)
{
	for (int i = 0; i < EV_COUNT; i++)
		if (slice_is(ev, event_rows[i].name))
			return event_rows[i].level == EVENT_WARN ?
			    LOG_WARNING : LOG_INFO;
	return LOG_INFO;
}

/* "Nov 23 00:41:07", local, as every line of that file is. */
static void
forward_add_moment(struct slice line, struct str *out)
{
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr",
	    "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	int64_t at_ms = journal_line_ms(line);
	struct tm tm;

	clock_local_parts(at_ms >= 0 ? at_ms / 1000 : clock_wall_s(), &tm);
	str_addf(out, "%s %2d %02d:%02d:%02d", months[tm.tm_mon % 12],
	    tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

struct forward_words {
	struct str	program, pid, id, ev, values;
};

static void
forward_words_take(struct slice line, struct forward_words *out)
{
	journal_line_word(line, "d", &out->program);
	journal_line_word(line, "pid", &out->pid);
	journal_line_word(line, "id", &out->id);
	journal_line_word(line, "ev", &out->ev);
	journal_line_values(line, &out->values);
}

static void
forward_words_release(struct forward_words *words)
{
	str_release(&words->program);
	str_release(&words->pid);
	str_release(&words->id);
	str_release(&words->ev);
	str_release(&words->values);
}

static void
forward_add_text(const struct forward_words *words, struct str *out)
{
	str_addf(out, "%s %s", words->id.len > 0 ? words->id.buf : "-",
	    words->ev.buf);
	if (words->values.len > 0)
		str_addf(out, " %s", words->values.buf);
}

/* A field for each key: ZMAILER_TO=..., names of A to Z and _ alone. */
static void
forward_add_fields(struct slice line, struct str *out)
{
	struct str value = STR_INIT;
	struct slice key;
	size_t cursor = 0;

	while (json_next(line, &cursor, &key, &value)) {
		bool is_name = key.n > 0 && key.n < 50;

		for (size_t i = 0; i < key.n; i++)
			is_name = is_name && (ascii_is_lower(key.p[i]) ||
			    key.p[i] == '_');
		if (!is_name || slice_is(key, "t"))
			continue;
		str_adds(out, "ZMAILER_");
		for (size_t i = 0; i < key.n; i++)
			str_addc(out, key.p[i] == '_' ? '_' :
			    (char)(key.p[i] - 'a' + 'A'));
		str_addc(out, '=');
		str_add_escaped(out, str_slice(&value));
		str_addc(out, '\n');
	}
	str_release(&value);
}

static void
forward_add_journald(const struct forward_words *words, struct slice line,
    struct str *out)
{
	str_addf(out, "PRIORITY=%d\nSYSLOG_IDENTIFIER=zmailer\n"
	    "SYSLOG_PID=%s\nMESSAGE=%s: ",
	    forward_level(str_slice(&words->ev)), words->pid.buf,
	    words->program.buf);
	forward_add_text(words, out);
	if (out->len > FORWARD_LINE_BYTES / 2)
		str_truncate(out, FORWARD_LINE_BYTES / 2);
	str_addc(out, '\n');
	forward_add_fields(line, out);
	/* a field that does not fit is left out whole */
	while (out->len > FORWARD_LINE_BYTES) {
		size_t n = out->len - 1;

		while (n > 0 && out->buf[n - 1] != '\n')
			n--;
		str_truncate(out, n);
	}
}

void
forward_line(const struct conf_log_to *to, struct slice line, struct str *out)
{
	struct forward_words words = { STR_INIT, STR_INIT, STR_INIT, STR_INIT,
	    STR_INIT };

	str_reset(out);
	forward_words_take(line, &words);
	if (to->kind == LOG_TO_JOURNALD) {
		forward_add_journald(&words, line, out);
	} else {
		str_addf(out, "<%u>", to->facility << 3 |
		    (unsigned)forward_level(str_slice(&words.ev)));
		forward_add_moment(line, out);
		str_addf(out, " zmailer/%s[%s]: ", words.program.buf,
		    words.pid.buf);
		forward_add_text(&words, out);
		if (out->len > FORWARD_LINE_BYTES)
			str_truncate(out, FORWARD_LINE_BYTES);
	}
	forward_words_release(&words);
}

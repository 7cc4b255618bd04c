/* events_manual.c - print zmailer-events(5) from the rows of events.h
 *
 * In     journal/events.h
 * Out    mdoc on standard output
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "journal/event.h"

#include "base/banned.h"

static const char head[] =
    ".\\\" made from libzm/journal/events.h\n"
    ".Dd November 20, 2026\n.Dt ZMAILER-EVENTS 5\n.Os\n"
    ".Sh NAME\n.Nm zmailer-events\n.Nd the journal of zmailer\n"
    ".Sh DESCRIPTION\n"
    "Every process of\n.Xr zmailer 8\nappends its events to\n"
    ".Pa LOGDIR/events-YYYY-MM-DD.jsonl\n(days in UTC), one JSON object a "
    "line, flat, keys in this order:\n"
    ".Bl -tag -width Ds\n"
    ".It t\nthe moment, RFC 3339, UTC, milliseconds\n"
    ".It id\nthe spool id of the message, when it is about one\n"
    ".It ev\nthe event, see below\n"
    ".It d , pid\nprogram and process\n.El\n.Pp\n"
    "and then the event's own keys, all of them text.\nText from other "
    "machines is escaped as JSON asks; bytes that are not UTF-8 become "
    "U+FFFD.\nAn event of level warn is also written to the program's "
    "standard error.\n"
    ".Xr zmailer 8\n.Cm trace\njoins the lines of a message by its id.\n"
    ".Sh EVENTS\n.Bl -tag -width Ds\n";

static const char tail[] =
    ".El\n.Sh EXAMPLES\nThe last deliveries:\n"
    ".Dl zmailer events --json -n 20 \\(aqstate:rcpt.*\\(aq\n.Pp\n"
    "prints lines such as\n"
    ".D1 {\\(dqt\\(dq:\\(dq2026-11-20T21:04:00.123Z\\(dq,\\(dqid\\(dq:"
    "\\(dq01jd3x8k2mc4n7\\(dq,\\(dqev\\(dq:\\(dqrcpt.ok\\(dq,...}\n"
    ".Sh SEE ALSO\n.Xr zmailer 8 ,\n.Xr zmailer.conf 5\n";

int
main(void)
{
	fputs(head, stdout);
	for (int i = 0; i < EV_COUNT; i++) {
		const struct event_row *row = &event_rows[i];

		printf(".It %s (%s)\n%s\nKeys: %s.\n", row->name,
		    row->level == EVENT_WARN ? "warn" : "info", row->text,
		    row->keys);
	}
	fputs(tail, stdout);
	return 0;
}

/* print.c - one message of the queue: as a list entry, JSON, mailq, in full
 *
 * In     a struct view
 * Out    text; every remote word escaped, one line
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/queue/view.h"

#include "base/banned.h"

void
view_add_size(struct str *out, uint64_t bytes)
{
	static const char units[] = "BKMGT";
	uint64_t whole = bytes, rest = 0;
	size_t unit = 0;

	while (whole >= 1024 && unit < 4) {
		rest = whole % 1024;
		whole /= 1024;
		unit++;
	}
	if (unit == 0 || whole >= 100)
		str_addf(out, "%ju%c", (uintmax_t)whole, units[unit]);
	else
		str_addf(out, "%ju.%ju%c", (uintmax_t)whole,
		    (uintmax_t)(rest * 10 / 1024), units[unit]);
}

static void
view_add_sender(struct str *out, const struct view *view)
{
	if (view->sender.n == 0)
		str_adds(out, "<>");
	else
		str_add_escaped(out, view->sender);
}

/* "next in 5m", "next now"; nothing for what is over. */
static void
add_next(struct str *out, const struct view_rcpt *rcpt, int64_t now_s)
{
	char span[CLOCK_TEXT_BYTES];

	if (rcpt->next_s == 0)
		return;
	clock_span(rcpt->next_s > now_s ? rcpt->next_s - now_s : 0, span);
	str_addf(out, ", next in %s", span);
}

static void
view_add_words(struct str *out, const struct view_rcpt *rcpt,
    const char *indent)
{
	if (*rcpt->words == '\0')
		return;
	str_adds(out, indent);
	if (*rcpt->who != '\0')
		str_addf(out, "%s: ", rcpt->who);
	str_adds(out, rcpt->words);
	str_addc(out, '\n');
}

bool
view_rcpt_is_over(const struct view_rcpt *rcpt)
{
	int kind = verdict_kind_parse(slice_of(rcpt->state));

	if (strcmp(rcpt->state, "deleted") == 0)
		return true;
	if (rcpt->is_untold)
		return false;
	return kind >= 0 && verdict_is_final((enum verdict_kind)kind);
}

void
view_add_why(struct str *out, struct slice reason, const char *why)
{
	/* the number of a rule's line is in its place, too */
	bool is_told = reason.n > 0 && strncmp(why, "policy-", 7) == 0;

	if (!is_told)
		str_add_escaped(out, slice_of(why));
	if (reason.n > 0 && !is_told)
		str_adds(out, ": ");
	str_add_escaped(out, reason);
}

void
view_add_list(struct str *out, const struct view *view, int64_t now_s)
{
	char age[CLOCK_TEXT_BYTES];
	struct str size = STR_INIT;

	clock_span(now_s > view->time_s ? now_s - view->time_s : 0, age);
	view_add_size(&size, view->size_bytes);
	str_addf(out, "%-*s %6s %6s  %-8s ", VIEW_ID_COLUMNS, view->id, age,
	    size.buf, view->state);
	view_add_sender(out, view);
	if (*view->why != '\0') {
		str_adds(out, "  (");
		view_add_why(out, view->reason, view->why);
		str_addc(out, ')');
	}
	str_addc(out, '\n');
	if (view->trouble != NULL)
		str_addf(out, "    %s/%s: %s\n", spool_area_names[view->area],
		    view->name, view->trouble);
	for (size_t i = 0; i < view->rcpt_count; i++) {
		const struct view_rcpt *rcpt = &view->rcpts[i];

		if (view_rcpt_is_over(rcpt))
			continue;
		str_adds(out, "    ");
		str_add_escaped(out, rcpt->user);
		if (rcpt->tries > 0)
			str_addf(out, "  tried %u time%s", rcpt->tries,
			    rcpt->tries == 1 ? "" : "s");
		if (rcpt->channel.n > 0 && strcmp(rcpt->state, "waiting") != 0
		    && strcmp(rcpt->state, "ready") != 0 &&
		    strcmp(rcpt->state, VIEW_COPY) != 0)
			str_addf(out, "  %s", rcpt->state);
		add_next(out, rcpt, now_s);
		str_addc(out, '\n');
		view_add_words(out, rcpt, "        ");
	}
	str_release(&size);
}

void
view_add_json(struct str *out, const struct view *view)
{
	/* flat by base/json.h: a line a recipient, the message repeated */
	for (size_t i = 0; i == 0 || i < view->rcpt_count; i++) {
		const struct view_rcpt *rcpt = view->rcpt_count > 0 ?
		    &view->rcpts[i] : NULL;

		json_open_answer(out);
		json_text(out, "id", slice_of(view->id));
		json_text(out, "area", slice_of(spool_area_names[view->area]));
		json_text(out, "file", slice_of(view->name));
		json_text(out, "why", slice_of(view->why));
		json_text(out, "reason", view->reason);
		json_text(out, "from", view->sender);
		json_number(out, "size", (int64_t)view->size_bytes);
		json_number(out, "time", view->time_s);
		json_text(out, "state", slice_of(rcpt ? rcpt->state :
		    view->state));
		if (rcpt != NULL) {
			json_text(out, "to", rcpt->user);
			json_text(out, "channel", rcpt->channel);
			json_text(out, "host", rcpt->host);
			json_number(out, "tries", rcpt->tries);
			json_number(out, "next", rcpt->next_s);
			json_text(out, "code", slice_of(rcpt->status));
			json_text(out, "who", slice_of(rcpt->who));
			json_text(out, "reply", slice_of(rcpt->words));
		}
		if (view->tls != NULL)
			json_text(out, "tls", slice_of(view->tls));
		if (view->trouble != NULL)
			json_text(out, "trouble", slice_of(view->trouble));
		json_close(out);
	}
}

/* The look of Postfix's and sendmail's mailq, for eyes and scripts. */
void
view_add_mailq(struct str *out, const struct view *view)
{
	const char *mark = strcmp(view->state, "active") == 0 ? "*" :
	    view->area == AREA_FREEZER || strcmp(view->state, "held") == 0 ||
	    strcmp(view->state, "frozen") == 0 ? "!" : " ";
	char date[CLOCK_TEXT_BYTES], id[SPOOL_ID_BYTES + 2];

	clock_local_mailq(view->time_s, date);
	snprintf(id, sizeof(id), "%s%s", view->id, mark);
	str_addf(out, "%-17s %8ju %s  ", id, (uintmax_t)view->size_bytes,
	    date);
	if (view->sender.n == 0)
		str_adds(out, "MAILER-DAEMON");
	else
		str_add_escaped(out, view->sender);
	str_addc(out, '\n');
	if (view->trouble != NULL)
		str_addf(out, "(%s)\n", view->trouble);
	else if (*view->why != '\0') {
		str_addf(out, "(%s: ", view->state);
		view_add_why(out, view->reason, view->why);
		str_adds(out, ")\n");
	}
	for (size_t i = 0; i < view->rcpt_count; i++) {
		const struct view_rcpt *rcpt = &view->rcpts[i];

		if (view_rcpt_is_over(rcpt))
			continue;
		if (*rcpt->words != '\0')
			str_addf(out, "(%s%s%s)\n", rcpt->who,
			    *rcpt->who != '\0' ? ": " : "", rcpt->words);
		str_addf(out, "%45s", "");
		str_add_escaped(out, rcpt->user);
		str_addc(out, '\n');
	}
	str_addc(out, '\n');
}

static void
add_show_rcpt(struct str *out, const struct view_rcpt *rcpt, int64_t now_s)
{
	str_adds(out, "To:      ");
	str_add_escaped(out, rcpt->user);
	str_addf(out, "  %s", rcpt->state);
	if (rcpt->tries > 0)
		str_addf(out, ", tried %u time%s", rcpt->tries,
		    rcpt->tries == 1 ? "" : "s");
	if (!view_rcpt_is_over(rcpt))
		add_next(out, rcpt, now_s);
	str_addc(out, '\n');
	if (rcpt->channel.n > 0) {
		str_adds(out, "         by ");
		str_add_escaped(out, rcpt->channel);
		if (rcpt->host.n > 0) {
			str_adds(out, " to ");
			str_add_escaped(out, rcpt->host);
		}
		str_addc(out, '\n');
	}
	view_add_words(out, rcpt, "         ");
}

/* Bytes of the character in front when it is whole and only shows itself;
 * 0: a control (C0 but LF and TAB, DEL, C1), one that turns the direction of
 * writing (Unicode Bidi_Control), or no UTF-8. */
static size_t
print_harmless(struct slice text)
{
	const unsigned char *p = (const unsigned char *)text.p;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 :
	    p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (n > text.n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if (n == 1)
		return p[0] == '\n' || p[0] == '\t' ||
		    (p[0] >= ' ' && p[0] != 0x7f);
	if ((n == 2 && p[0] == 0xc2 && p[1] < 0xa0) ||
	    (n == 2 && p[0] == 0xd8 && p[1] == 0x9c) ||
	    (n == 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0x8e ||
	    p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
	    (n == 3 && p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa6 &&
	    p[2] <= 0xa9))
		return 0;
	return n;
}

/* The header's own lines; what is not harmless does not reach the
 * terminal. */
static void
view_add_header(struct str *out, struct slice header)
{
	struct slice rest = header;

	while (rest.n > 0) {
		size_t n = print_harmless(rest);

		if (n == 0)
			str_addf(out, "\\x%02x", (unsigned char)rest.p[0]);
		else
			str_add_slice(out, slice_first(rest, n));
		rest = slice_from(rest, n == 0 ? 1 : n);
	}
	if (header.n > 0 && header.p[header.n - 1] != '\n')
		str_addc(out, '\n');
}

void
view_add_show(struct str *out, const struct view *view, int64_t now_s)
{
	char date[CLOCK_TEXT_BYTES], age[CLOCK_TEXT_BYTES];

	clock_local(view->time_s, date);
	clock_span(now_s > view->time_s ? now_s - view->time_s : 0, age);
	str_addf(out, "Id:      %s\nFile:    %s", view->id,
	    spool_area_names[view->area]);
	if (view->priority > 0)
		str_addf(out, ".%u", view->priority);
	str_addf(out, "/%s\nState:   %s", view->name, view->state);
	if (*view->why != '\0') {
		str_adds(out, ": ");
		view_add_why(out, view->reason, view->why);
	}
	str_addf(out, "\nArrived: %s (%s ago)\nSize:    %ju\nFrom:    ", date,
	    age, (uintmax_t)view->size_bytes);
	view_add_sender(out, view);
	str_addc(out, '\n');
	if (view->tls != NULL)
		str_addf(out, "TLS:     %s\n", terms_tls_text(slice_of(
		    view->tls)));
	if (view->trouble != NULL)
		str_addf(out, "Trouble: %s\n", view->trouble);
	for (size_t i = 0; i < view->rcpt_count; i++)
		add_show_rcpt(out, &view->rcpts[i], now_s);
	str_addc(out, '\n');
	view_add_header(out, view->header);
}

/* bounce.c - the text of a report about deliveries
 *
 * In     a parsed control file, recipients chosen by the reporter
 * Out    a multipart/report: words for people, fields for programs, and
 *        what was sent
 * Holds  nothing
 * Trusts nothing that it quotes: a value never makes a second line, the
 *        boundary is one that does not occur in what is returned
 * Spec   RFC 3464 section 2; RFC 3461 sections 5.2, 6; RFC 6522; RFC 3834
 *        section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "grammar/xtext.h"
#include "scheduler/bounce.h"

#include "base/banned.h"

enum { SUBJECT_BYTES_MAX = 120 };

/* ---- small things -------------------------------------------------------- */

/* One value inside one line. */
static void
add_value(struct str *out, struct slice value)
{
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		str_addc(out, c < ' ' || c == 0x7f ? '?' : (char)c);
	}
}

static void
add_date(struct str *out, const char *name, int64_t wall_s)
{
	char text[CLOCK_TEXT_BYTES];

	clock_rfc5322(wall_s, text);
	str_addf(out, "%s: %s\n", name, text);
}

static bool
has_8bit(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] > 0x7f)
			return true;
	return false;
}

static enum bounce_kind
rcpt_kind(const struct bounce_rcpt *rcpt)
{
	if (rcpt->rcpt->last == NULL)
		return BOUNCE_DELAYED;
	switch (rcpt->rcpt->last->verdict.kind) {
	case VERDICT_FAILED:
		return BOUNCE_FAILED;
	case VERDICT_DEFERRED:
		return BOUNCE_DELAYED;
	default:
		return BOUNCE_DELIVERED;
	}
}

enum bounce_kind
bounce_kind(const struct bounce *bounce)
{
	enum bounce_kind most = BOUNCE_DELIVERED;

	for (size_t i = 0; i < bounce->rcpt_count; i++)
		if (rcpt_kind(&bounce->rcpts[i]) < most)
			most = rcpt_kind(&bounce->rcpts[i]);
	return most;
}

const char *
bounce_kind_name(enum bounce_kind kind)
{
	static const char *const names[] = {
		"failed", "delayed", "delivered"
	};

	return names[kind];
}

bool
bounce_returns_body(const struct work *work, enum bounce_kind kind,
    uint64_t limit_bytes)
{
	/* RFC 3461 section 4.3: RET is about failures; others get headers */
	return kind == BOUNCE_FAILED && work->ret != DSN_RET_HDRS &&
	    work->size_bytes <= limit_bytes;
}

bool
bounce_is_8bit(const struct bounce *bounce)
{
	if (has_8bit(bounce->group->header) || has_8bit(bounce->work->envid) ||
	    has_8bit(bounce->errors_to))
		return true;
	for (size_t i = 0; i < bounce->rcpt_count; i++)
		if (has_8bit(bounce->rcpts[i].rcpt->user))
			return true;
	return bounce->has_body && has_8bit(bounce->body);
}

static void
boundary_make(const struct bounce *bounce, struct str *boundary)
{
	struct slice header = bounce->group->header, body = bounce->body;

	str_addf(boundary, "=_%s/%s", bounce->id, bounce->nonce);
	while (memmem(header.p ? header.p : "", header.n, boundary->buf,
	    boundary->len) != NULL || (bounce->has_body &&
	    memmem(body.p ? body.p : "", body.n, boundary->buf,
	    boundary->len) != NULL))
		str_addc(boundary, 'x');
}

/* ---- header ------------------------------------------------------ */

static void
add_subject(const struct bounce *bounce, struct str *out)
{
	static const char *const words[] = {
		"Undelivered mail", "Mail is delayed", "Delivered mail"
	};
	struct slice user = bounce->rcpts[0].rcpt->user;

	str_addf(out, "Subject: %s: ", words[bounce_kind(bounce)]);
	add_value(out, slice_first(user, SUBJECT_BYTES_MAX));
	if (bounce->rcpt_count > 1)
		str_addf(out, " and %zu more", bounce->rcpt_count - 1);
	str_addc(out, '\n');
}

static void
add_header(const struct bounce *bounce, const struct str *boundary,
    struct str *out)
{
	str_addf(out, "From: Mail Delivery System <MAILER-DAEMON@%s>\nTo: ",
	    bounce->host);
	add_value(out, bounce->errors_to);
	str_addc(out, '\n');
	add_subject(bounce, out);
	add_date(out, "Date", bounce->now_s);
	str_addf(out, "Message-Id: <%s@%s>\n", bounce->id, bounce->host);
	if (bounce->work->msgid.n > 0) {
		str_adds(out, "References: ");
		add_value(out, bounce->work->msgid);
		str_addc(out, '\n');
	}
	str_addf(out, "Auto-Submitted: auto-replied\nMIME-Version: 1.0\n"
	    "Content-Type: multipart/report; report-type=delivery-status;\n"
	    "\tboundary=\"%s\"\n", boundary->buf);
	if (bounce_is_8bit(bounce))
		str_adds(out, "Content-Transfer-Encoding: 8bit\n");
	str_adds(out, "\nThis is a MIME message; its parts are a report, the "
	    "same for programs,\nand what was sent.\n\n");
}

/* ---- words for people -------------------------------------------- */

/* What the reader can do, by status (RFC 3463); the first that fits. */
static const struct { const char *status, *advice; } advice_rows[] = {
	{ ".1.8", "Your own address was not accepted as a sender. Write to "
	    "the postmaster." },
	{ ".1.", "Check the address for typing errors, or ask the person "
	    "for the present one." },
	{ ".2.2", "The mailbox is full. Try again later, or reach the person "
	    "another way." },
	{ ".2.", "The mailbox does not take mail. Reach the person another "
	    "way." },
	{ ".3.4", "The message is too big. Send less, or pass the files on "
	    "another way." },
	{ ".2.3", "The message is too big. Send less, or pass the files on "
	    "another way." },
	{ ".4.4", "Check what stands behind the @ for typing errors." },
	{ ".4.7", "The other side could not be reached for days. Try again "
	    "later, or reach the person another way." },
	{ ".7.", "The other side refuses this message by its rules. Its "
	    "words above say why; its postmaster can help." },
	{ "", "If the words above do not explain it, send this report to "
	    "your postmaster." },
};

static const char *
advice_for(const char *status)
{
	size_t i = 0;

	if (*status != '\0')
		status++;	/* the class says nothing here */
	while (strncmp(status, advice_rows[i].status,
	    strlen(advice_rows[i].status)) != 0)
		i++;
	return advice_rows[i].advice;
}

static const char *
action_of(const struct bounce_rcpt *entry)
{
	const struct work_record *last = entry->rcpt->last;

	if (last == NULL || last->verdict.kind == VERDICT_DEFERRED)
		return "delayed";
	/* a host that took it without DSN parameters: section 2.3.3 */
	if (last->verdict.kind == VERDICT_DELIVERED &&
	    slice_is(entry->rcpt->channel, "smtp"))
		return "relayed";
	return verdict_names[last->verdict.kind];
}

static void
add_person(const struct bounce *bounce, const struct bounce_rcpt *entry,
    struct str *out)
{
	const struct work_rcpt *rcpt = entry->rcpt;
	const struct work_record *last = rcpt->last;
	char text[CLOCK_TEXT_BYTES];

	str_adds(out, "  <");
	add_value(out, rcpt->user);
	str_adds(out, ">\n");
	if (last == NULL) {
		str_adds(out, "    was not reached yet.\n");
	} else {
		if (last->verdict.who[0] != '\0')
			str_addf(out, "    %s said:\n", last->verdict.who);
		str_adds(out, "    ");
		add_value(out, slice_of(last->verdict.text));
		str_addc(out, '\n');
	}
	if (rcpt_kind(entry) == BOUNCE_FAILED) {
		str_addf(out, "    %s\n", advice_for(last->verdict.status));
	} else if (strcmp(action_of(entry), "relayed") == 0) {
		str_adds(out, "    You will not hear more: that host sends "
		    "no reports.\n");
	} else if (rcpt_kind(entry) == BOUNCE_DELAYED) {
		clock_rfc5322(entry->until_s, text);
		str_addf(out, "    It is tried again until %s.\n", text);
	}
	str_addc(out, '\n');
}

static void
add_words(const struct bounce *bounce, struct str *out)
{
	static const char *const openings[] = {
		"Your message could not be delivered to everybody. It will "
		    "not be tried again for:",
		"Your message is not delivered yet. You need not send it "
		    "again. It waits for:",
		"You asked to be told: your message was delivered to:"
	};
	static const char *const more[] = {
		"It could not be delivered to:", "It still waits for:",
		"It was delivered to:"
	};
	enum bounce_kind first = bounce_kind(bounce);

	str_addf(out, "This is the mail system of %s.\n", bounce->host);
	for (int kind = BOUNCE_FAILED; kind <= BOUNCE_DELIVERED; kind++) {
		bool is_opened = false;

		for (size_t i = 0; i < bounce->rcpt_count; i++) {
			if ((int)rcpt_kind(&bounce->rcpts[i]) != kind)
				continue;
			if (!is_opened)
				str_addf(out, "\n%s\n\n", kind == (int)first ?
				    openings[kind] : more[kind]);
			is_opened = true;
			add_person(bounce, &bounce->rcpts[i], out);
		}
	}
	str_addf(out, "To ask your postmaster about it, name this number: "
	    "%s\n", bounce->work->id);
}

/* ---- fields for programs (RFC 3464 sections 2.2, 2.3) ------------ */

static void
add_message_fields(const struct bounce *bounce, struct str *out)
{
	struct str envid = STR_INIT;
	struct err err;

	str_addf(out, "Reporting-MTA: dns; %s\n", bounce->host);
	if (bounce->work->envid.n > 0) {
		str_adds(out, "Original-Envelope-Id: ");
		if (xtext_decode(bounce->work->envid, &envid, &err) != 1) {
			str_reset(&envid);
			str_add_slice(&envid, bounce->work->envid);
		}
		add_value(out, str_slice(&envid));
		str_addc(out, '\n');
	}
	add_date(out, "Arrival-Date", bounce->arrival_s);
	str_addf(out, "X-Spool-Id: %s\n", bounce->work->id);
	str_release(&envid);
}

/* "rfc822;xtext" -> "rfc822; decoded" (RFC 3461 section 6.3 (d)). */
static void
add_original_recipient(struct slice orcpt, struct str *out)
{
	struct str address = STR_INIT;
	struct slice rest = orcpt, type;
	struct err err;

	if (orcpt.n == 0 || !slice_cut(&rest, ';', &type) || rest.p == NULL)
		return;
	if (xtext_decode(rest, &address, &err) != 1) {
		str_reset(&address);
		str_add_slice(&address, rest);
	}
	str_adds(out, "Original-Recipient: ");
	add_value(out, type);
	str_adds(out, "; ");
	add_value(out, str_slice(&address));
	str_addc(out, '\n');
	str_release(&address);
}

/* The peer, when it is a host: "mx1.example.net[192.0.2.1]:25". */
static void
add_remote(const struct work_rcpt *rcpt, struct str *out)
{
	struct slice who = slice_of(rcpt->last->verdict.who);
	struct slice name = slice_first(who, slice_find(who, '['));
	bool is_reply = rcpt->last->verdict.text[0] >= '2' &&
	    rcpt->last->verdict.text[0] <= '5';

	if (name.n > 0 && name.n < who.n) {
		str_adds(out, "Remote-MTA: dns; ");
		add_value(out, name);
		str_addc(out, '\n');
	}
	if (rcpt->last->verdict.text[0] == '\0')
		return;
	str_addf(out, "Diagnostic-Code: %s; ",
	    name.n < who.n && is_reply ? "smtp" : "x-zmailer");
	add_value(out, slice_of(rcpt->last->verdict.text));
	str_addc(out, '\n');
}

static void
add_rcpt_fields(const struct bounce_rcpt *entry, struct str *out)
{
	const struct work_rcpt *rcpt = entry->rcpt;
	bool is_address = slice_find(rcpt->user, '@') < rcpt->user.n;
	const char *type = !is_address ? "x-local" :
	    has_8bit(rcpt->user) ? "utf-8" : "rfc822";

	str_addc(out, '\n');
	add_original_recipient(rcpt->orcpt, out);
	str_addf(out, "Final-Recipient: %s; ", type);
	add_value(out, rcpt->user);
	str_addf(out, "\nAction: %s\nStatus: %s\n", action_of(entry),
	    rcpt->last != NULL ? rcpt->last->verdict.status : "4.0.0");
	if (rcpt->last != NULL) {
		add_remote(rcpt, out);
		add_date(out, "Last-Attempt-Date", rcpt->last->time_s);
	}
	if (rcpt_kind(entry) == BOUNCE_DELAYED)
		add_date(out, "Will-Retry-Until", entry->until_s);
}

/* ---- the whole --------------------------------------------------- */

static void
add_lines(struct str *out, struct slice text)
{
	str_add_slice(out, text);
	if (text.n > 0 && text.p[text.n - 1] != '\n')
		str_addc(out, '\n');
}

static void
add_part(const struct bounce *bounce, const struct str *boundary,
    const char *type, bool is_8bit, struct str *out)
{
	str_addf(out, "--%s\nContent-Type: %s\n%s\n", boundary->buf, type,
	    is_8bit ? "Content-Transfer-Encoding: 8bit\n" : "");
}

static void
add_original(const struct bounce *bounce, const struct str *boundary,
    struct str *out)
{
	struct slice header = bounce->group->header;
	bool is_8bit = has_8bit(header) ||
	    (bounce->has_body && has_8bit(bounce->body));

	add_part(bounce, boundary, bounce->has_body ? "message/rfc822" :
	    "text/rfc822-headers", is_8bit, out);
	add_lines(out, header);
	if (bounce->has_body) {
		str_addc(out, '\n');
		add_lines(out, bounce->body);
	}
}

void
bounce_text(const struct bounce *bounce, struct str *out)
{
	struct str boundary = STR_INIT, part = STR_INIT;

	boundary_make(bounce, &boundary);
	add_header(bounce, &boundary, out);
	add_words(bounce, &part);
	add_part(bounce, &boundary, has_8bit(str_slice(&part)) ?
	    "text/plain; charset=utf-8" : "text/plain; charset=us-ascii",
	    has_8bit(str_slice(&part)), out);
	str_add_slice(out, str_slice(&part));

	str_reset(&part);
	add_message_fields(bounce, &part);
	for (size_t i = 0; i < bounce->rcpt_count; i++)
		add_rcpt_fields(&bounce->rcpts[i], &part);
	str_addc(out, '\n');
	add_part(bounce, &boundary, "message/delivery-status",
	    has_8bit(str_slice(&part)), out);
	str_add_slice(out, str_slice(&part));

	str_addc(out, '\n');
	add_original(bounce, &boundary, out);
	str_addf(out, "\n--%s--\n", boundary.buf);
	str_release(&boundary);
	str_release(&part);
}

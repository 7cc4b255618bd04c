/* bounce_fields.c - the part of a report that programs read
 *
 * In     recipients and their outcomes
 * Out    fields of the message, then of each recipient
 * Holds  nothing
 * Trusts nothing that it quotes: a value never makes a second line
 * Spec   RFC 3464 sections 2.2 and 2.3; RFC 6533 sections 3 and 4; RFC 2852
 *        (Deliver-By-Date); RFC 3461 section 6.3
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/smtp/xtext.h"
#include "scheduler/report/bounce_internal.h"

#include "base/banned.h"

/* In a global report as it is, else in ASCII. */
static void
fields_add_text(const struct bounce *bounce, struct slice value,
    struct str *out)
{
	if (bounce_is_global(bounce))
		bounce_add_value(out, value);
	else
		bounce_add_ascii(out, value);
}

/* ---- of the message (RFC 3464 section 2.2) ------------------------- */

static void
fields_add_message(const struct bounce *bounce, struct str *out)
{
	const struct control_file *control = bounce->control;
	struct str envid = STR_INIT;
	struct err err;

	str_addf(out, "Reporting-MTA: dns; %s\n", bounce->host);
	if (control->envid.n > 0) {
		str_adds(out, "Original-Envelope-Id: ");
		if (xtext_decode(control->envid, &envid, &err) != 0) {
			str_reset(&envid);
			str_add_slice(&envid, control->envid);
		}
		fields_add_text(bounce, str_slice(&envid), out);
		str_addc(out, '\n');
	}
	bounce_add_date(out, "Arrival-Date", bounce->arrival_s);
	if (control->terms.by_s > 0)
		bounce_add_date(out, "Deliver-By-Date", control->terms.by_s);
	str_addf(out, "X-Spool-Id: %s\n", control->id);
	str_release(&envid);
}

/* ---- addresses ------------------------------------------------------- */

/* "\x{20AC}" and what is like it becomes the character. */
static bool
fields_take_embedded(struct slice *rest, unsigned *out_code)
{
	size_t end;
	unsigned code = 0;

	if (!slice_starts(*rest, "\\x{"))
		return false;
	end = slice_find(*rest, '}');
	if (end == rest->n || end < 4 || end > 9)
		return false;
	for (size_t i = 3; i < end; i++) {
		char c = rest->p[i];

		if (ascii_is_digit(c))
			code = code << 4 | (unsigned)(c - '0');
		else if (c >= 'A' && c <= 'F')
			code = code << 4 | (unsigned)(c - 'A' + 10);
		else
			return false;
	}
	if (code < 0x20 || code == 0x7f || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return false;
	*out_code = code;
	*rest = slice_from(*rest, end + 1);
	return true;
}

static void
fields_add_utf8(struct str *out, unsigned code)
{
	if (code < 0x80) {
		str_addc(out, (char)code);
		return;
	}
	if (code < 0x800) {
		str_addc(out, (char)(0xc0 | code >> 6));
	} else {
		if (code < 0x10000) {
			str_addc(out, (char)(0xe0 | code >> 12));
		} else {
			str_addc(out, (char)(0xf0 | code >> 18));
			str_addc(out, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		str_addc(out, (char)(0x80 | (code >> 6 & 0x3f)));
	}
	str_addc(out, (char)(0x80 | (code & 0x3f)));
}

/* utf-8-addr-xtext and -unitext (RFC 6533 section 3) to plain UTF-8. */
static void
fields_decode_utf8(struct slice rest, struct str *out)
{
	while (rest.n > 0) {
		unsigned code;

		if (fields_take_embedded(&rest, &code)) {
			fields_add_utf8(out, code);
			continue;
		}
		str_addc(out, rest.p[0]);
		rest = slice_from(rest, 1);
	}
}

/* An address of type utf-8: raw in a global report, else with \x{...}, where
 * a backslash, "+" and "=" are such characters, too. */
static void
fields_add_utf8_address(const struct bounce *bounce, struct slice address,
    struct str *out)
{
	if (bounce_is_global(bounce)) {
		bounce_add_value(out, address);
		return;
	}
	while (address.n > 0) {
		char c = address.p[0];
		size_t n = (unsigned char)c < 0x80 ? 1 : slice_utf8(address);

		if (c == '\\' || c == '+' || c == '=')
			str_addf(out, "\\x{%X}", (unsigned char)c);
		else
			bounce_add_ascii(out, slice_first(address,
			    n > 0 ? n : 1));
		address = slice_from(address, n > 0 ? n : 1);
	}
}

static void
fields_add_address(const struct bounce *bounce, struct slice type,
    struct slice address, struct str *out)
{
	if (bounce_has_8bit(address)) {
		str_adds(out, "utf-8; ");
		fields_add_utf8_address(bounce, address, out);
	} else {
		bounce_add_ascii(out, type);
		str_adds(out, "; ");
		bounce_add_ascii(out, address);
	}
	str_addc(out, '\n');
}

/* "rfc822;xtext" -> "rfc822; decoded" (RFC 3461 section 6.3 (d)); a utf-8
 * address has its own way of hiding (RFC 6533 section 3). */
static void
fields_add_original(const struct bounce *bounce, struct slice orcpt,
    struct str *out)
{
	struct str address = STR_INIT;
	struct slice rest = orcpt, type;
	struct err err;

	if (orcpt.n == 0 || !slice_cut(&rest, ';', &type) || rest.p == NULL)
		return;
	if (slice_is_nocase(type, "utf-8")) {
		fields_decode_utf8(rest, &address);
	} else if (xtext_decode(rest, &address, &err) != 0) {
		str_reset(&address);
		str_add_slice(&address, rest);
	}
	str_adds(out, "Original-Recipient: ");
	fields_add_address(bounce, type, str_slice(&address), out);
	str_release(&address);
}

/* ---- of a recipient (RFC 3464 section 2.3) ------------------------- */

/* The peer, when it is a host: "mx1.example.net[192.0.2.1]:25". */
static void
fields_add_remote(const struct bounce *bounce, const struct control_rcpt *rcpt,
    struct str *out)
{
	struct slice who = slice_of(rcpt->last->verdict.who);
	struct slice words = slice_of(rcpt->last->verdict.text);
	struct slice name = slice_first(who, slice_find(who, '['));
	bool is_reply = words.n > 0 && words.p[0] >= '2' &&
	    words.p[0] <= '5';

	if (name.n > 0 && name.n < who.n) {
		str_adds(out, "Remote-MTA: dns; ");
		bounce_add_ascii(out, name);
		str_addc(out, '\n');
	}
	if (words.n == 0)
		return;
	str_addf(out, "Diagnostic-Code: %s; ",
	    name.n < who.n && is_reply ? "smtp" : "x-zmailer");
	fields_add_text(bounce, words, out);
	str_addc(out, '\n');
}

/* One that is delayed without a word from anybody: no answer from the host;
 * or late by its own wish. */
const char *
bounce_status(const struct bounce *bounce, const struct bounce_rcpt *entry)
{
	const struct control_record *last = entry->rcpt->last;
	int64_t by_s = bounce->control->terms.by_s;

	if (by_s > 0 && by_s <= bounce->now_s &&
	    bounce_rcpt_kind(entry) == BOUNCE_DELAYED)
		return "4.4.7";
	if (last == NULL)
		return "4.4.1";
	if (last->verdict.status[0] != '\0')
		return last->verdict.status;
	return bounce_rcpt_kind(entry) == BOUNCE_FAILED ? "5.0.0" :
	    bounce_rcpt_kind(entry) == BOUNCE_DELAYED ? "4.0.0" : "2.0.0";
}

static void
fields_add_rcpt(const struct bounce *bounce, const struct bounce_rcpt *entry,
    struct str *out)
{
	const struct control_rcpt *rcpt = entry->rcpt;
	bool is_address = slice_find(rcpt->user, '@') < rcpt->user.n;

	str_addc(out, '\n');
	fields_add_original(bounce, rcpt->orcpt, out);
	str_adds(out, "Final-Recipient: ");
	fields_add_address(bounce, is_address ? SLICE("rfc822") :
	    SLICE("x-local"),
	    rcpt->user, out);
	str_addf(out, "Action: %s\nStatus: ", bounce_action(entry));
	bounce_add_ascii(out, slice_of(bounce_status(bounce, entry)));
	str_addc(out, '\n');
	if (rcpt->last != NULL) {
		fields_add_remote(bounce, rcpt, out);
		bounce_add_date(out, "Last-Attempt-Date", rcpt->last->time_s);
	}
	if (bounce_rcpt_kind(entry) == BOUNCE_DELAYED)
		bounce_add_date(out, "Will-Retry-Until", entry->until_s);
}

void
bounce_add_fields(const struct bounce *bounce, struct str *out)
{
	fields_add_message(bounce, out);
	for (size_t i = 0; i < bounce->rcpt_count; i++)
		fields_add_rcpt(bounce, &bounce->rcpts[i], out);
	str_addc(out, '\n');
}

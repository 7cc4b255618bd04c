/* bounce.c - the text of a report about deliveries
 *
 * In     a parsed control file, recipients chosen by the reporter
 * Out    a multipart/report: words for people, fields for programs, and
 *        what was sent
 * Holds  nothing
 * Trusts nothing that it quotes: a value never makes a second line, the
 *        boundary is one that does not occur in what is returned
 * Spec   RFC 3464 section 2; RFC 3461 sections 5.2, 6; RFC 6522; RFC 6533;
 *        RFC 3834 section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "scheduler/report/bounce_internal.h"

#include "base/banned.h"

enum { SUBJECT_BYTES_MAX = 120 };

/* ---- what an outcome is -------------------------------------------- */

enum bounce_kind
bounce_rcpt_kind(const struct bounce_rcpt *rcpt)
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

const char *
bounce_action(const struct bounce_rcpt *entry)
{
	const struct control_record *last = entry->rcpt->last;

	if (last == NULL || last->verdict.kind == VERDICT_DEFERRED)
		return "delayed";
	/* a host that took it without DSN parameters: section 2.3.3 */
	if (last->verdict.kind == VERDICT_DELIVERED &&
	    slice_is(entry->rcpt->channel, "smtp"))
		return "relayed";
	return verdict_names[last->verdict.kind];
}

enum bounce_kind
bounce_kind(const struct bounce *bounce)
{
	enum bounce_kind most = BOUNCE_DELIVERED;

	for (size_t i = 0; i < bounce->rcpt_count; i++)
		if (bounce_rcpt_kind(&bounce->rcpts[i]) < most)
			most = bounce_rcpt_kind(&bounce->rcpts[i]);
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
bounce_returns_body(const struct control_file *control, enum bounce_kind kind,
    uint64_t limit_bytes)
{
	/* RFC 3461 section 4.3: RET is about failures; others get headers.
	 * A report is text, and binary content is none: a CR in it would be
	 * a line of the report to who reads it next. */
	return kind == BOUNCE_FAILED && control->ret != DSN_RET_HDRS &&
	    !slice_is_nocase(control->bodytype, "BINARYMIME") &&
	    control->size_bytes <= limit_bytes;
}

/* ---- bytes over 127 -------------------------------------------------- */

static bool
bounce_has_8bit_address(const struct bounce *bounce)
{
	if (bounce_has_8bit(bounce->errors_to))
		return true;
	for (size_t i = 0; i < bounce->rcpt_count; i++)
		if (bounce_has_8bit(bounce->rcpts[i].rcpt->user))
			return true;
	return false;
}

bool
bounce_is_global(const struct bounce *bounce)
{
	/* who sent with SMTPUTF8 can get such a report */
	return (bounce->control->terms.is_utf8 &&
	    (bounce_has_8bit_address(bounce) ||
	    bounce_has_8bit(bounce->group->header))) ||
	    bounce_has_8bit(bounce->errors_to);
}

static bool
bounce_has_8bit_form(const struct report_form *form)
{
	for (int i = FORM_OPENING; i < FORM_KEYS; i++)
		if (bounce_has_8bit(slice_of(form->texts[i])))
			return true;
	for (size_t i = 0; i < form->advice_count; i++)
		if (bounce_has_8bit(slice_of(form->advice[i].text)))
			return true;
	return false;
}

bool
bounce_is_8bit(const struct bounce *bounce)
{
	if (bounce_has_8bit(bounce->group->header) ||
	    bounce_has_8bit(bounce->control->envid) ||
	    bounce_has_8bit_address(bounce))
		return true;
	for (size_t i = 0; i < bounce->rcpt_count; i++)
		if (bounce->rcpts[i].rcpt->last != NULL && bounce_has_8bit(
		    slice_of(bounce->rcpts[i].rcpt->last->verdict.text)))
			return true;
	for (size_t i = 0; i < bounce->form_count; i++)
		if (bounce_has_8bit_form(bounce->forms[i]) || i > 0)
			return true;
	return bounce->has_body && bounce_has_8bit(bounce->body);
}

/* ---- header ------------------------------------------------------ */

static void
bounce_make_boundary(const struct bounce *bounce, struct str *boundary)
{
	struct slice header = bounce->group->header, body = bounce->body;

	str_addf(boundary, "=_%s/%s", bounce->id, bounce->nonce);
	while (memmem(header.p ? header.p : "", header.n, boundary->buf,
	    boundary->len) != NULL || (bounce->has_body &&
	    memmem(body.p ? body.p : "", body.n, boundary->buf,
	    boundary->len) != NULL))
		str_addc(boundary, 'x');
}

static void
bounce_add_subject(const struct bounce *bounce, struct str *out)
{
	const struct report_form *form = bounce_form(bounce, 0);
	struct str text = STR_INIT;
	char number[24];

	str_addf(&text, "%s: ",
	    form->texts[FORM_SUBJECT_FAILED + bounce_kind(bounce)]);
	str_add_slice(&text, slice_first(bounce->rcpts[0].rcpt->user,
	    SUBJECT_BYTES_MAX));
	if (bounce->rcpt_count > 1) {
		snprintf(number, sizeof(number), "%zu",
		    bounce->rcpt_count - 1);
		str_addc(&text, ' ');
		form_add(&text, form, FORM_SUBJECT_MORE, "n", number);
	}
	str_adds(out, "Subject: ");
	bounce_add_words(out, str_slice(&text));
	str_addc(out, '\n');
	str_release(&text);
}

/* A display name: an encoded word, plain words, or a quoted string. */
static void
bounce_add_from(const struct bounce *bounce, struct str *out)
{
	const char *name = bounce_form(bounce, 0)->texts[FORM_FROM];
	bool is_odd = strpbrk(name, "()<>[]:;@\\,.\"") != NULL &&
	    !bounce_has_8bit(slice_of(name));

	str_adds(out, "From: ");
	str_adds(out, is_odd ? "\"" : "");
	for (const char *p = name; is_odd && *p != '\0'; p++)
		if (*p != '"' && *p != '\\')
			str_addc(out, *p);
	if (!is_odd)
		bounce_add_words(out, slice_of(name));
	str_addf(out, "%s <MAILER-DAEMON@%s>\nTo: ", is_odd ? "\"" : "",
	    bounce->host);
	bounce_add_value(out, bounce->errors_to);
	str_addc(out, '\n');
}

static void
bounce_add_header(const struct bounce *bounce, const struct str *boundary,
    struct str *out)
{
	bounce_add_from(bounce, out);
	bounce_add_subject(bounce, out);
	bounce_add_date(out, "Date", bounce->now_s);
	str_addf(out, "Message-Id: <%s@%s>\n", bounce->id, bounce->host);
	if (bounce->control->msgid.n > 0) {
		str_adds(out, "References: ");
		bounce_add_value(out, bounce->control->msgid);
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

/* ---- the whole --------------------------------------------------- */

static void
bounce_add_lines(struct str *out, struct slice text)
{
	str_add_slice(out, text);
	if (text.n > 0 && text.p[text.n - 1] != '\n')
		str_addc(out, '\n');
}

static void
bounce_add_part(const struct str *boundary, const char *type,
    const char *language,
    bool is_8bit, struct str *out)
{
	str_addf(out, "--%s\nContent-Type: %s\n", boundary->buf, type);
	if (language != NULL)
		str_addf(out, "Content-Language: %s\n", language);
	str_adds(out, is_8bit ? "Content-Transfer-Encoding: 8bit\n\n" :
	    "\n");
}

static void
bounce_add_people_part(const struct bounce *bounce, const struct str *boundary,
    struct str *out)
{
	struct str part = STR_INIT;
	bool is_8bit;

	bounce_add_people(bounce, &part);
	is_8bit = bounce_has_8bit(str_slice(&part));
	bounce_add_part(boundary, is_8bit ? "text/plain; charset=utf-8" :
	    "text/plain; charset=us-ascii", bounce->form_count > 1 ? NULL :
	    bounce_form(bounce, 0)->language, is_8bit, out);
	str_add_slice(out, str_slice(&part));
	str_release(&part);
}

static void
bounce_add_header_fields(const struct bounce *bounce,
    const struct str *boundary,
    struct str *out)
{
	struct str part = STR_INIT;

	bounce_add_fields(bounce, &part);
	bounce_add_part(boundary, bounce_is_global(bounce) ?
	    "message/global-delivery-status" : "message/delivery-status",
	    NULL, bounce_has_8bit(str_slice(&part)), out);
	str_add_slice(out, str_slice(&part));
	str_addc(out, '\n');
	str_release(&part);
}

static void
bounce_add_original(const struct bounce *bounce, const struct str *boundary,
    struct str *out)
{
	struct slice header = bounce->group->header;
	bool is_8bit = bounce_has_8bit(header) ||
	    (bounce->has_body && bounce_has_8bit(bounce->body));
	/* RFC 6532 section 3.7: what needs UTF-8 in its header */
	bool is_global = bounce_has_8bit(header) &&
	    bounce_is_global(bounce);

	bounce_add_part(boundary, bounce->has_body ? is_global ?
	    "message/global" :
	    "message/rfc822" : is_global ? "message/global-headers" :
	    "text/rfc822-headers", NULL, is_8bit, out);
	bounce_add_lines(out, header);
	if (bounce->has_body) {
		str_addc(out, '\n');
		bounce_add_lines(out, bounce->body);
	}
}

void
bounce_text(const struct bounce *bounce, struct str *out)
{
	struct str boundary = STR_INIT;

	bounce_make_boundary(bounce, &boundary);
	bounce_add_header(bounce, &boundary, out);
	bounce_add_people_part(bounce, &boundary, out);
	bounce_add_header_fields(bounce, &boundary, out);
	bounce_add_original(bounce, &boundary, out);
	str_addf(out, "\n--%s--\n", boundary.buf);
	str_release(&boundary);
}

/* bounce.c - is a report about mail that we sent, and of who got it?
 *
 * In     a report as it came, whose own chain is good; answers of the DNS
 * Out    a judgement of the message that it returns
 * Holds  nothing
 * Trusts nobody: parts of the report are only looked at, and the chain of the
 *        message in it has the bounds of any
 * Spec   draft-ietf-dkim-dkim2-spec-04, "Authentication of Inbound Bounce
 *        Notifications"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/message/mime.h"
#include "origin/dkim2/bounce.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

/* ---- the message in it ------------------------------------------------ */

/* The line is --BOUNDARY, maybe with -- and blanks after it. */
static bool
line_is_border(struct slice line, const char *boundary)
{
	struct slice rest = slice_from(line, 2 + strlen(boundary));

	if (!slice_starts(line, "--") || !slice_starts(slice_from(line, 2),
	    boundary))
		return false;
	rest = slice_trim(rest);
	return rest.n == 0 || slice_is(rest, "--");
}

/* Cut what stands before the next border, without the line end that is the
 * border's.  false: there is no border */
static bool
part_cut(struct slice *rest, const char *boundary, struct slice *out)
{
	struct slice all = *rest;
	size_t at = 0;

	while (at < all.n) {
		struct slice left = slice_from(all, at);
		struct slice line = slice_first(left, slice_find(left, '\n'));

		if (line_is_border(line, boundary)) {
			*rest = slice_from(left, line.n + 1);
			*out = slice_first(all, at);
			if (slice_ends(*out, "\n"))
				out->n--;
			if (slice_ends(*out, "\r"))
				out->n--;
			return true;
		}
		at += line.n + 1;
	}
	return false;
}

/* Is the part what was returned: a message, or its header alone? */
static bool
part_is_returned(struct slice part, bool *out_is_header)
{
	struct slice header = slice_first(part, header_bytes(part)), type;
	struct header_field field;
	bool is_broken;

	while (header_next(&header, &field, &is_broken)) {
		if (!header_is(&field, "Content-Type"))
			continue;
		type = slice_trim(slice_first(field.value,
		    slice_find(field.value, ';')));
		*out_is_header = slice_is_nocase(type, "text/rfc822-headers") ||
		    slice_is_nocase(type, "message/global-headers");
		return *out_is_header ||
		    slice_is_nocase(type, "message/rfc822") ||
		    slice_is_nocase(type, "message/global");
	}
	return false;
}

bool
dkim2_returned(struct slice report, struct slice *out, bool *out_is_header)
{
	size_t n = header_bytes(report);
	struct slice rest = slice_from(report, n), part;
	struct mime_head head;

	mime_head_read(slice_first(report, n), false, &head);
	if (head.kind != MIME_MULTIPART ||
	    !part_cut(&rest, head.boundary, &part))
		return false;
	while (part_cut(&rest, head.boundary, &part))
		if (part_is_returned(part, out_is_header)) {
			*out = slice_from(part, header_bytes(part));
			return true;
		}
	return false;
}

/* ---- who, and to whom ------------------------------------------------- */

static enum origin
bounce_end(struct dkim2_chain *chain, const char *why)
{
	return dkim2_end(chain, ORIGIN_FAIL, "the report: %s", why);
}

/* Relaxed: one is the other, or below it. */
static bool
domains_align(struct slice a, struct slice b)
{
	return dkim2_is_at_or_below(a, b) || dkim2_is_at_or_below(b, a);
}

/* Who signed the report had the message: it was sent to his domain. */
static bool
hop_was_sent_to(const struct dkim2_hop *last, struct slice domain)
{
	for (size_t i = 0; i < last->to_count; i++)
		if (domains_align(dkim2_domain_of(last->to[i]), domain))
			return true;
	return false;
}

/* It was sent by whom the report came to. */
static bool
hop_is_of_rcpts(const struct dkim2_hop *last, const struct dkim2_mail *mail)
{
	struct slice domain = dkim2_domain_of(last->sender);

	for (size_t i = 0; i < mail->rcpt_count; i++) {
		struct slice rcpt = mail->rcpts[i];
		struct slice of = dkim2_domain_of(rcpt);

		if (!slice_equal_nocase(of, domain) || !slice_equal(
		    slice_first(rcpt, rcpt.n - of.n),
		    slice_first(last->sender, last->sender.n - domain.n)))
			return false;
	}
	return last->sender.n > 0;
}

enum origin
dkim2_bounce_judge(struct answers *answers, const struct dkim2_mail *mail,
    struct arena *arena, struct dkim2 *report)
{
	struct dkim2_chain chain = { .arena = arena, .out = report };
	struct dkim2 of_returned = { .origin = ORIGIN_NONE };
	struct dkim2_mail returned = { .received_s = mail->received_s,
	    .is_lenient = mail->is_lenient };
	const struct dkim2_hop *last;
	enum origin origin;

	if (report->origin != ORIGIN_PASS || mail->sender.n > 0 ||
	    !dkim2_returned(mail->message, &returned.message,
	    &returned.is_header))
		return report->origin;
	origin = dkim2_judge(answers, &returned, arena, &of_returned);
	if (origin == ORIGIN_ASKS || origin == ORIGIN_NONE)
		return origin == ORIGIN_ASKS ? origin : report->origin;
	if (origin != ORIGIN_PASS)
		return dkim2_end(&chain, origin == ORIGIN_TEMPERROR ? origin :
		    ORIGIN_FAIL, "the report returns: %s",
		    of_returned.reason);
	last = &of_returned.hops[of_returned.count - 1];
	if (!hop_is_of_rcpts(last, mail))
		return bounce_end(&chain, "what it returns was sent by "
		    "another than whom it comes to");
	if (!hop_was_sent_to(last, report->hops[report->count - 1].domain))
		return bounce_end(&chain, "who signed it is not whom the "
		    "message was sent to");
	return ORIGIN_PASS;
}

/* ---- a report of ours ------------------------------------------------- */

bool
dkim2_last_hop(struct slice header, struct arena *arena,
    struct dkim2_hop *out)
{
	struct dkim2 chain_out = { .origin = ORIGIN_NONE };
	const struct dkim2_mail mail = { .message = header };
	struct dkim2_chain chain = { .arena = arena, .mail = &mail,
	    .out = &chain_out };

	if (dkim2_read(&chain) != ORIGIN_PASS || chain_out.count == 0)
		return false;
	*out = chain_out.hops[chain_out.count - 1];
	return true;
}

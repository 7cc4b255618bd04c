/* test_bounce.c - reports are read back as a mail reader would
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/clock.h"
#include "grammar/message/header.h"
#include "scheduler/outcome/expire.h"
#include "scheduler/report/bounce.h"

enum { PARTS_MAX = 8 };

struct report {			/* taken apart again */
	struct slice	header;
	struct slice	parts[PARTS_MAX];	/* with their headers */
	size_t		count;
	bool		is_closed;
};

struct made {
	struct arena	*arena;
	struct control_file	 control;
	struct control_group group;
	struct control_rcpt rcpts[4];
	struct control_record last[4];
	struct bounce_rcpt chosen[4];
	struct bounce	 bounce;
	struct str	 text;
	struct report	 report;
};

static struct made m;

static void
make(void)
{
	memset(&m, 0, sizeof(m));
	m.arena = arena_new();
	str_init(&m.text);
	strlcpy(m.control.id, "01jd3x8k2mc4n7", sizeof(m.control.id));
	m.control.msgid = SLICE("<1@src.test>");
	m.control.size_bytes = 100;
	m.group.header = SLICE("From: alice@src.test\nSubject: hello\n");
	m.bounce = (struct bounce){ .control = &m.control, .group = &m.group,
	    .host = "mx.test", .id = "01jd3x9aaaaaaa", .nonce = "abc123",
	    .now_s = 1700000000, .arrival_s = 1699990000,
	    .errors_to = SLICE("alice@src.test"), .rcpts = m.chosen,
	    .has_body = true, .body = SLICE("Body.\n") };
}

static void
rcpt(const char *user, enum verdict_kind kind, const char *status,
    const char *who, const char *words)
{
	size_t n = m.bounce.rcpt_count++;

	m.rcpts[n] = (struct control_rcpt){ .user = slice_of(user),
	    .channel = SLICE("smtp"), .last = &m.last[n] };
	m.last[n].time_s = 1699999000;
	verdict_set(&m.last[n].verdict, kind, status, who, "%s", words);
	m.chosen[n] = (struct bounce_rcpt){ &m.rcpts[n], 1700400000 };
}

/* The value of the first field of this name, on one line. */
static const char *
field(struct slice message, const char *name)
{
	struct header_field found;
	struct str value = STR_INIT;
	bool is_broken = false;
	char *copy = NULL;

	while (copy == NULL && header_next(&message, &found, &is_broken) == 1)
		if (header_is(&found, name)) {
			header_add_unfolded(&value, found.value);
			copy = arena_dup(m.arena, value.buf, value.len);
		}
	str_release(&value);
	return copy;
}

/* The block of fields after the n-th blank line of a delivery-status. */
static struct slice
block(struct slice part, size_t n)
{
	struct slice rest = part;

	for (size_t at = 0; at + 1 < rest.n; at++)
		if (rest.p[at] == '\n' && rest.p[at + 1] == '\n' && n-- == 0)
			return slice_from(rest, at + 2);
	return slice_first(rest, 0);
}

static void
take_apart(struct slice text, struct report *out)
{
	const char *type = field(text, "Content-Type"), *boundary;
	struct slice rest = text, line;
	struct str open = STR_INIT;

	memset(out, 0, sizeof(*out));
	cr_assert_not_null(type);
	cr_assert_eq(strncmp(type, "multipart/report;", 17), 0);
	cr_assert_not_null(strstr(type, "report-type=delivery-status"));
	boundary = strstr(type, "boundary=\"");
	cr_assert_not_null(boundary);
	str_addf(&open, "--%.*s", (int)strcspn(boundary + 10, "\""),
	    boundary + 10);
	out->header = slice_first(text, header_bytes(text));
	while (slice_cut(&rest, '\n', &line)) {
		if (!slice_starts(line, open.buf))
			continue;
		if (out->count > 0)	/* close the part before */
			out->parts[out->count - 1].n = (size_t)(line.p -
			    out->parts[out->count - 1].p);
		if (slice_ends(line, "--")) {
			cr_assert_eq(line.n, open.len + 2);
			out->is_closed = true;
			break;
		}
		cr_assert_eq(line.n, open.len);
		cr_assert_lt(out->count, PARTS_MAX);
		out->parts[out->count++] = rest;
	}
	str_release(&open);
}

static void
build(void)
{
	bounce_text(&m.bounce, &m.text);
	take_apart(str_slice(&m.text), &m.report);
	cr_assert_eq(m.report.count, 3, "%s", m.text.buf);
	cr_assert(m.report.is_closed);
}

static void
done(void)
{
	str_release(&m.text);
	arena_free(&m.arena);
}

static bool
part_has(size_t part, const char *what)
{
	struct slice p = m.report.parts[part];

	return memmem(p.p, p.n, what, strlen(what)) != NULL;
}

Test(bounce, a_failure_has_all_its_fields)
{
	struct slice fields;

	make();
	rcpt("bob@dst.test", VERDICT_FAILED, "5.1.1",
	    "mx1.dst.test[192.0.2.1]:25", "550 5.1.1 no such user");
	m.rcpts[0].orcpt = SLICE("rfc822;bob+2Bx@old.test");
	m.control.envid = SLICE("QQ+2B7");
	build();
	cr_expect_str_eq(field(m.report.header, "From"),
	    "Mail Delivery System <MAILER-DAEMON@mx.test>");
	cr_expect_str_eq(field(m.report.header, "To"), "alice@src.test");
	cr_expect_str_eq(field(m.report.header, "Auto-Submitted"),
	    "auto-replied");
	cr_expect_str_eq(field(m.report.header, "References"), "<1@src.test>");
	cr_expect_str_eq(field(m.report.header, "Message-Id"),
	    "<01jd3x9aaaaaaa@mx.test>");
	cr_expect_str_eq(field(m.report.header, "MIME-Version"), "1.0");
	cr_expect(part_has(0, "bob@dst.test"));
	cr_expect(part_has(0, "mx1.dst.test[192.0.2.1]:25 said:"));
	cr_expect(part_has(0, "550 5.1.1 no such user"));
	cr_expect(part_has(0, "Check the address"));
	cr_expect(part_has(0, "01jd3x8k2mc4n7"));
	cr_expect_str_eq(field(m.report.parts[1], "Content-Type"),
	    "message/delivery-status");
	fields = block(m.report.parts[1], 0);
	cr_expect_str_eq(field(fields, "Reporting-MTA"), "dns; mx.test");
	cr_expect_str_eq(field(fields, "Original-Envelope-Id"), "QQ+7");
	cr_expect_not_null(field(fields, "Arrival-Date"));
	fields = block(m.report.parts[1], 1);
	cr_expect_str_eq(field(fields, "Original-Recipient"),
	    "rfc822; bob+x@old.test");
	cr_expect_str_eq(field(fields, "Final-Recipient"),
	    "rfc822; bob@dst.test");
	cr_expect_str_eq(field(fields, "Action"), "failed");
	cr_expect_str_eq(field(fields, "Status"), "5.1.1");
	cr_expect_str_eq(field(fields, "Remote-MTA"), "dns; mx1.dst.test");
	cr_expect_str_eq(field(fields, "Diagnostic-Code"),
	    "smtp; 550 5.1.1 no such user");
	cr_expect_not_null(field(fields, "Last-Attempt-Date"));
	cr_expect_null(field(fields, "Will-Retry-Until"));
	cr_expect_str_eq(field(m.report.parts[2], "Content-Type"),
	    "message/rfc822");
	cr_expect(part_has(2, "\n\nFrom: alice@src.test\nSubject: hello\n\n"
	    "Body.\n"));
	done();
}

Test(bounce, several_fates_in_one_report)
{
	make();
	rcpt("ok@dst.test", VERDICT_DELIVERED, "2.0.0",
	    "mx.dst.test[192.0.2.1]:25", "250 ok");
	rcpt("slow@dst.test", VERDICT_DEFERRED, "4.2.1", "mx", "later");
	rcpt("bad@dst.test", VERDICT_FAILED, "5.2.2", "mailbox", "full");
	build();
	cr_expect_eq(bounce_kind(&m.bounce), BOUNCE_FAILED);
	cr_expect_str_eq(field(block(m.report.parts[1], 1), "Action"),
	    "relayed");
	cr_expect_str_eq(field(block(m.report.parts[1], 2), "Action"),
	    "delayed");
	cr_expect_not_null(field(block(m.report.parts[1], 2),
	    "Will-Retry-Until"));
	cr_expect_str_eq(field(block(m.report.parts[1], 3), "Action"),
	    "failed");
	cr_expect(part_has(0, "mailbox is full"));
	cr_expect_not_null(strstr(field(m.report.header, "Subject"),
	    "and 2 more"));
	done();
}

Test(bounce, what_is_returned)
{
	static const struct {
		enum dsn_ret	ret;
		enum bounce_kind kind;
		uint64_t	size, limit;
		bool		want;
		const char	*bodytype;
	} rows[] = {
		{ DSN_RET_DEFAULT, BOUNCE_FAILED, 100, 1000, true, NULL },
		{ DSN_RET_FULL, BOUNCE_FAILED, 100, 1000, true, NULL },
		{ DSN_RET_HDRS, BOUNCE_FAILED, 100, 1000, false, NULL },
		{ DSN_RET_FULL, BOUNCE_FAILED, 1001, 1000, false, NULL },
		{ DSN_RET_FULL, BOUNCE_DELAYED, 100, 1000, false, NULL },
		{ DSN_RET_FULL, BOUNCE_DELIVERED, 100, 1000, false, NULL },
		{ DSN_RET_FULL, BOUNCE_FAILED, 100, 1000, true, "8BITMIME" },
		{ DSN_RET_FULL, BOUNCE_FAILED, 100, 1000, false,
		    "BINARYMIME" },
	};

	make();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m.control.ret = rows[i].ret;
		m.control.size_bytes = rows[i].size;
		m.control.bodytype = slice_of(rows[i].bodytype);
		cr_expect_eq(bounce_returns_body(&m.control, rows[i].kind,
		    rows[i].limit), rows[i].want, "row %zu", i);
	}
	rcpt("bad@dst.test", VERDICT_FAILED, NULL, "", "no");
	m.bounce.has_body = false;
	build();
	cr_expect_str_eq(field(m.report.parts[2], "Content-Type"),
	    "text/rfc822-headers");
	cr_expect_not(part_has(2, "Body."));
	done();
}

Test(bounce, hostile_values_stay_in_their_lines)
{
	make();
	m.bounce.errors_to = SLICE("a\r\nBcc: x@y");
	m.control.msgid = SLICE("<x>\nEvil: 1");
	m.control.envid = SLICE("e\nEvil: 2");
	rcpt("bob\n\nEvil: 3@dst.test", VERDICT_FAILED, "5.0.0", "mx\nEvil: 4",
	    "550 no\r\n\r\nEvil: 5");
	m.rcpts[0].orcpt = SLICE("rfc822;x\nEvil: 6");
	build();
	cr_expect_null(field(m.report.header, "Evil"));
	cr_expect_null(field(m.report.header, "Bcc"));
	for (size_t i = 0; i < 3; i++) {
		cr_expect_null(field(block(m.report.parts[1], i), "Evil"));
		cr_expect_not(part_has(1, "\nEvil:"));
		cr_expect_not(part_has(0, "\nEvil:"));
	}
	done();
}

/* Each value with each byte that ends a line, or does not show, somewhere. */
static void
build_hostile(const char *bytes, size_t n)
{
	char value[32] = "v";
	struct slice hostile = { value, n + 8 };
	struct str xtext = STR_INIT;

	memcpy(value + 1, bytes, n);
	memcpy(value + 1 + n, "Evil: 1", 7);
	for (size_t i = 0; i < hostile.n; i++)
		str_addf(&xtext, "+%02X", (unsigned char)value[i]);
	make();
	m.bounce.errors_to = m.control.msgid = hostile;
	rcpt("a", VERDICT_FAILED, "5.0.0", "mx[1]", "550 no");
	m.rcpts[0].user = hostile;
	memcpy(m.last[0].verdict.status, value, sizeof(
	    m.last[0].verdict.status) - 1);	/* of a damaged record */
	memcpy(m.last[0].verdict.text, value, hostile.n);
	snprintf(m.last[0].verdict.who, sizeof(m.last[0].verdict.who),
	    "%s[1]", value);
	m.control.envid = str_slice(&xtext);
	m.rcpts[0].orcpt = slice_of(arena_printf(m.arena, "%.*s;%s",
	    (int)hostile.n, value, xtext.buf));
	build();
	str_release(&xtext);
}

/* No line but ours, and nothing in it that does not show. */
static void
expect_clean(struct slice part, const char *bytes)
{
	struct slice rest = part, line;

	while (slice_cut(&rest, '\n', &line)) {
		cr_expect_not(slice_starts(line, "Evil"), "%s: " SLICE_FMT,
		    bytes, SLICE_ARG(part));
		for (size_t i = 0; i < line.n; i++)
			cr_expect((unsigned char)line.p[i] >= ' ' ||
			    line.p[i] == '\t', "%s: " SLICE_FMT, bytes,
			    SLICE_ARG(line));
	}
}

Test(bounce, no_value_makes_a_line_whatever_byte_it_has)
{
	static const char rows[][5] = { "\n", "\r", "\r\n", "\n\n", "\r\r",
	    "\n \n", "\x1b", "\v", "\f", "\x1f", "\x85", "\xe2\x80\xa8",
	    "\x7f", "\x01" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		build_hostile(rows[i], strlen(rows[i]));
		expect_clean(m.report.header, rows[i]);
		expect_clean(m.report.parts[0], rows[i]);
		expect_clean(m.report.parts[1], rows[i]);
		done();
	}
	build_hostile("", 1);		/* NUL */
	expect_clean(m.report.header, "NUL");
	done();
}

Test(bounce, a_message_cannot_close_the_report)
{
	make();
	m.group.header = SLICE("Subject: x\n"
	    "--=_01jd3x9aaaaaaa/abc123--\nX: y\n");
	m.bounce.body = SLICE("--=_01jd3x9aaaaaaa/abc123x--\n\nEvil\n");
	rcpt("bad@dst.test", VERDICT_FAILED, NULL, "", "no");
	build();
	cr_expect(part_has(2, "Evil"));
	done();
}

Test(bounce, eight_bits_are_announced)
{
	make();
	rcpt("bad@dst.test", VERDICT_FAILED, NULL, "", "no");
	cr_expect_not(bounce_is_8bit(&m.bounce));
	m.bounce.body = SLICE("gr\303\274n\n");
	cr_expect(bounce_is_8bit(&m.bounce));
	build();
	cr_expect_str_eq(field(m.report.header, "Content-Transfer-Encoding"),
	    "8bit");
	cr_expect_str_eq(field(m.report.parts[2],
	    "Content-Transfer-Encoding"), "8bit");
	cr_expect_null(field(m.report.parts[0], "Content-Transfer-Encoding"));
	m.bounce.has_body = false;
	cr_expect_not(bounce_is_8bit(&m.bounce));
	done();
}

Test(bounce, local_names_and_missing_ends)
{
	make();
	rcpt("bob", VERDICT_FAILED, "5.2.0", "mailbox", "no");
	m.group.header = SLICE("Subject: no end of line");
	m.bounce.body = SLICE("no end either");
	build();
	cr_expect_str_eq(field(block(m.report.parts[1], 1),
	    "Final-Recipient"), "x-local; bob");
	cr_expect(part_has(2, "no end of line\n\nno end either\n"));
	done();
}

Test(bounce, expiry_carries_the_last_words)
{
	struct verdict verdict;

	make();
	rcpt("slow@dst.test", VERDICT_DEFERRED, "4.2.1",
	    "mx.dst.test[192.0.2.1]:25", "450 4.2.1 later");
	m.rcpts[0].tries = 40;
	expire_verdict(&m.rcpts[0], 5 * 86400, &verdict);
	cr_expect_eq(verdict.kind, VERDICT_FAILED);
	cr_expect_str_eq(verdict.status, "5.4.7");
	cr_expect_str_eq(verdict.who, "mx.dst.test[192.0.2.1]:25");
	cr_expect_str_eq(verdict.text, "delivery time expired after 5d and 40 "
	    "attempts; last: 450 4.2.1 later");
	m.rcpts[0].last = NULL;
	expire_verdict(&m.rcpts[0], 5 * 86400, &verdict);
	cr_expect_str_eq(verdict.who, "scheduler");
	done();
}

/* test_sm.c - sm.conf: every flag, lines, words, batches
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transports/sm/batch.h"

static const char conf[] =
    "# a remark\n"
    "uux\tUmR\t/usr/bin/uux uux - -r $h!rmail ($u)\n"
    "  procm sSPfn /usr/bin/procmail procmail -a $h -d $u\n"
    "bare - /bin/cat\n"
    "nine 9 /bin/cat cat\n"
    "what Z /bin/cat cat\n"
    "rel P cat cat\n"
    "short P\n";

static const struct {
	const char *name;
	int	    want;
	size_t	    words;
	const char *flags, *err;
} line_rows[] = {
	{ "uux", 1, 5, "UmR", NULL }, { "procm", 1, 5, "sSPfn", NULL },
	{ "bare", 1, 1, "", NULL }, { "none", 0, 0, "", NULL },
	{ "#", 0, 0, "", NULL }, { "nine", -1, 0, "", "9 is refused" },
	{ "what", -1, 0, "", "no flag Z" }, { "rel", -1, 0, "", "absolute" },
	{ "short", -1, 0, "", "write NAME" },
};

Test(sm, lines)
{
	for (size_t i = 0; i < sizeof(line_rows) / sizeof(line_rows[0]);
	    i++) {
		struct mailer got;
		struct err err = { "" };

		cr_assert_eq(mailer_find(slice_of(conf),
		    slice_of(line_rows[i].name), &got, &err),
		    line_rows[i].want, "%s", line_rows[i].name);
		if (line_rows[i].err != NULL)
			cr_expect(strstr(err.text, line_rows[i].err), "%s",
			    err.text);
		if (line_rows[i].want <= 0)
			continue;
		cr_expect_eq(got.word_count, line_rows[i].words, "%s: %zu",
		    line_rows[i].name, got.word_count);
		for (const char *f = line_rows[i].flags; *f != '\0'; f++)
			cr_expect(mailer_has(&got, *f), "%c", *f);
	}
}

/* Each letter of ZMailer's has a row, once. */
Test(sm, flags)
{
	static const char all[] = "789bBeEfrHmnOPRSUXsDFAChIlLMpux";

	for (const char *f = all; *f != '\0'; f++) {
		unsigned count = 0;

		for (size_t i = 0; i < mailer_flag_count; i++)
			count += mailer_flags[i].letter == *f;
		cr_expect_eq(count, 1, "%c", *f);
	}
}

static const struct { const char *word, *user, *want; } word_rows[] = {
	{ "$u", "bob@x", "bob@x" }, { "$U", "Bob@X", "bob@x" },
	{ "$h!rmail", "b", "hub!rmail" }, { "($u)", "b", "(b)" },
	{ "$g", "b", "a@src.test" }, { "a$$b", "b", "a$b" },
	{ "-d$u", "-x", "-d-x" }, { "$u", "-x", NULL },
	{ "${MAILBIN}/x", "b", NULL }, { "$", "b", NULL },
	{ "$u", "a\nb", "a_b" },
};

Test(sm, words)
{
	for (size_t i = 0; i < sizeof(word_rows) / sizeof(word_rows[0]);
	    i++) {
		struct str out = STR_INIT;
		struct err err;
		int got = mailer_word(slice_of(word_rows[i].word),
		    SLICE("a@src.test"), SLICE("hub"),
		    slice_of(word_rows[i].user), &out, &err);

		cr_expect_eq(got, word_rows[i].want != NULL ? 0 : -1, "%s",
		    word_rows[i].word);
		if (word_rows[i].want != NULL)
			cr_expect_str_eq(out.buf, word_rows[i].want);
		str_release(&out);
	}
}

enum { BATCH_BYTES = 2000 };

static const struct { const char *flags, *want; } batch_rows[] = {
	{ "n", "S: s\n\n.x\nFrom y\nz\n" },
	{ "nX", "S: s\n\n..x\nFrom y\nz\n" },
	{ "nE", "S: s\n\n.x\n>From y\nz\n" },
	{ "nR", "S: s\r\n\r\n.x\r\nFrom y\r\nz\r\n" },
	{ "nP", "Return-Path: <a@s.t>\nS: s\n\n.x\nFrom y\nz\n" },
	{ "neO", "X-Envelope-From: <a@s.t>\nX-Envelope-To: <u@d>\n"
	    "X-Orcpt: rfc822;u@d\nS: s\n\n.x\nFrom y\nz\n" },
	{ "b", "MAIL FROM:<a@s.t>\nRCPT TO:<u@d>\nDATA\nS: s\n\n..x\n"
	    "From y\nz\n.\nQUIT\n" },
	{ "bH", "HELO me.test\nMAIL FROM:<a@s.t>\nRCPT TO:<u@d>\nDATA\n"
	    "S: s\n\n..x\nFrom y\nz\n.\nQUIT\n" },
	{ "BB", "EHLO me.test\nMAIL FROM:<a@s.t> SIZE=99 BODY=8BITMIME "
	    "RET=HDRS ENVID=e1\nRCPT TO:<u@d> NOTIFY=NEVER ORCPT=rfc822;u@d\n"
	    "DATA\nS: s\n\n..x\nFrom y\nz\n.\nQUIT\n" },
};

/* What a mailer with these flags reads. */
static void
batch_with(const char *flags, const char *sender, const char *header,
    const char *body, char got[BATCH_BYTES])
{
	char text[64], path[] = "/tmp/zm-sm-XXXXXX";
	const struct control_rcpt rcpt = { .user = SLICE("u@d"),
	    .orcpt = SLICE("rfc822;u@d"), .notify = DSN_NOTIFY_NEVER };
	const struct control_rcpt *rcpts[] = { &rcpt };
	const struct control_job job = { .sender = slice_of(sender),
	    .header = slice_of(header), .size_bytes = 99,
	    .bodytype = SLICE("8BITMIME"), .ret = DSN_RET_HDRS,
	    .envid = SLICE("e1") };
	struct mailer mailer;
	struct batch batch = { &mailer, "me.test", &job, -1, rcpts, 1 };
	struct err err = { "" };
	int in = mkstemp(path), out;
	ssize_t n;

	unlink(path);
	snprintf(text, sizeof(text), "m %s /bin/cat cat\n", flags);
	cr_assert_eq(mailer_find(slice_of(text), SLICE("m"), &mailer, &err),
	    1, "%s", err.text);
	cr_assert_eq(write(in, body, strlen(body)), (ssize_t)strlen(body));
	batch.body_fd = in;
	strcpy(path, "/tmp/zm-sm-XXXXXX");
	out = mkstemp(path);
	unlink(path);
	cr_assert_eq(batch_write(&batch, out, &err), 0);
	n = pread(out, got, BATCH_BYTES - 1, 0);
	got[n > 0 ? n : 0] = '\0';
	close(in);
	close(out);
}

static void
batch_of(const char *flags, const char *sender, const char *body,
    char got[BATCH_BYTES])
{
	batch_with(flags, sender, "S: s\n", body, got);
}

/* RFC 5321 section 4.4: who adds one takes away what stood there; a mailer
 * that does not is another hop. */
Test(sm, return_path_is_replaced_only_where_it_is_added)
{
	char got[BATCH_BYTES];

	batch_with("nP", "a@s.t", "Return-Path: <x@y>\nS: s\n"
	    "return-path:\n\t<z@y>\n", "x\n", got);
	cr_expect_str_eq(got, "Return-Path: <a@s.t>\nS: s\n\nx\n");
	batch_with("b", "a@s.t", "Return-Path: <x@y>\nS: s\n", "x\n", got);
	cr_expect_str_eq(got, "MAIL FROM:<a@s.t>\nRCPT TO:<u@d>\nDATA\n"
	    "Return-Path: <x@y>\nS: s\n\nx\n.\nQUIT\n");
}

Test(sm, batches)
{
	char got[BATCH_BYTES];

	for (size_t i = 0; i < sizeof(batch_rows) / sizeof(batch_rows[0]);
	    i++) {
		batch_of(batch_rows[i].flags, "a@s.t", ".x\nFrom y\nz", got);
		cr_expect_str_eq(got, batch_rows[i].want);
	}
}

Test(sm, bits_controls_and_uucp)
{
	char got[BATCH_BYTES];

	batch_of("n", "a@s.t", "\xe4\n", got);
	cr_expect_str_eq(got, "S: s\n\n\xe4\n");
	batch_of("n7", "a@s.t", "\xe4\n", got);
	cr_expect_str_eq(got, "S: s\n\nd\n");
	batch_of("nP", "a\nb@s.t", "x\n", got);
	cr_expect(slice_starts(slice_of(got), "Return-Path: <a_b@s.t>\nS:"),
	    "%s", got);
	batch_of("-", "", "x\n", got);
	cr_expect(slice_starts(slice_of(got), "From MAILER-DAEMON "), "%s",
	    got);
	cr_expect(strstr(got, "remote from") == NULL, "%s", got);
	batch_of("U", "a@s.t", "x\n", got);
	cr_expect(slice_starts(slice_of(got), "From a@s.t "), "%s", got);
	cr_expect(strstr(got, " remote from me.test\nS:"), "%s", got);
}

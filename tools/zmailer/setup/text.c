/* text.c - the file that zmailer setup writes, from answers
 *
 * In     answers
 * Out    a comment and statements; for a file that setup wrote for now (for a
 *        package), whether it was changed since, by a checksum
 * Trusts no answer: what the lexer would take for more than a word is quoted
 * Spec   zmailer-setup(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "io/unix_socket.h"
#include "tools/zmailer/setup/text.h"

#include "base/banned.h"

static const char setup_comment[] = "# zmailer setup wrote this; `zmailer "
    "help STATEMENT` explains a line\n";
static const char setup_mark[] = "# for now (";
static const char setup_mark_rest[] = "): as long as nobody changed it, "
    "zmailer setup may write it anew\n";
enum { MARK_DIGITS = 8 };

/* Is there an answer, other than none? */
static bool
setup_answer_is(const struct setup_answers *answers, int which)
{
	return strcmp(answers->of[which], "-") != 0;
}

/* As a word that the lexer reads back, whatever is in it. */
static void
setup_add_value(struct str *out, const char *value)
{
	if (value[0] != '\0' && strpbrk(value, " \t;{}#\"\\<>") == NULL) {
		str_adds(out, value);
		return;
	}
	str_addc(out, '"');
	for (const char *p = value; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\')
			str_addc(out, '\\');
		str_addc(out, *p);
	}
	str_addc(out, '"');
}

static void
setup_add_statement(struct str *out, const struct setup_answers *answers,
    const char *before, int which)
{
	if (!setup_answer_is(answers, which))
		return;
	str_adds(out, before);
	setup_add_value(out, answers->of[which]);
	str_addc(out, '\n');
}

static void
setup_add_listen(struct str *out, const struct setup_answers *answers)
{
	const char *answer = answers->of[SETUP_LISTEN];

	if (strcmp(answer, "all") == 0)
		str_adds(out, "listen 25\n");
	else if (strcmp(answer, "local") != 0)
		setup_add_statement(out, answers, "listen ", SETUP_LISTEN);
}

/* Passwords are sent only encrypted, so both ports need the certificate.  The
 * listener of this machine is no longer a preset if others are named. */
static void
setup_add_submission(struct str *out,
    const struct setup_answers *answers)
{
	const char *how = answers->of[SETUP_SUBMISSION];

	if (!setup_answer_is(answers, SETUP_SUBMISSION))
		return;
	if (strcmp(answers->of[SETUP_LISTEN], "local") == 0)
		str_adds(out, "listen 127.0.0.1:25\n");
	str_adds(out, "listen 587 submission\nlisten 465 submission tls\n");
	if (strcmp(how, "pam") == 0) {
		str_adds(out, "auth pam\n");
	} else if (unix_socket_is_meant(slice_of(how))) {
		setup_add_statement(out, answers, "auth dovecot ",
		    SETUP_SUBMISSION);
	} else {
		str_adds(out, "auth users <logins>\ntable logins file:");
		setup_add_value(out, how);
		str_addc(out, '\n');
	}
}

static void
setup_add_names(struct str *out, const struct setup_answers *answers)
{
	const char *host = answers->of[SETUP_HOST];
	const char *domain = answers->of[SETUP_DOMAIN];

	setup_add_statement(out, answers, "host ", SETUP_HOST);
	if (setup_answer_is(answers, SETUP_DOMAIN) &&
	    strcmp(domain, host) != 0)
		str_addf(out, "domain %s %s localhost\n", domain, host);
}

static void
setup_add_certificate(struct str *out, const struct setup_answers *answers)
{
	int key = setup_answer_is(answers, SETUP_KEY) ? SETUP_KEY :
	    SETUP_CERTIFICATE;

	if (!setup_answer_is(answers, SETUP_CERTIFICATE))
		return;
	str_adds(out, "tls certificate ");
	setup_add_value(out, answers->of[SETUP_CERTIFICATE]);
	str_adds(out, " key ");
	setup_add_value(out, answers->of[key]);
	str_addc(out, '\n');
}

void
setup_text_add(struct str *out, const struct setup_answers *answers,
    struct slice before)
{
	if (memmem(before.p, before.n, setup_comment,
	    strlen(setup_comment)) == NULL)
		str_adds(out, setup_comment);
	setup_add_names(out, answers);
	setup_add_listen(out, answers);
	if (setup_answer_is(answers, SETUP_VIA)) {
		str_adds(out, "route * via ");
		setup_add_value(out, answers->of[SETUP_VIA]);
		str_addc(out, '\n');
	}
	setup_add_statement(out, answers, "postmaster ", SETUP_POSTMASTER);
	setup_add_certificate(out, answers);
	setup_add_submission(out, answers);
	setup_add_statement(out, answers, "spool ", SETUP_SPOOL);
	setup_add_statement(out, answers, "run ", SETUP_RUN);
	setup_add_statement(out, answers, "log ", SETUP_LOG);
	setup_add_statement(out, answers, "mailbox maildir ", SETUP_MAILBOX);
}

/* ---- for now ------------------------------------------------------------- */

/* Where the comment begins; text.n: there is none. */
static size_t
setup_comment_at(struct slice text)
{
	const char *found = text.n == 0 ? NULL : memmem(text.p, text.n,
	    setup_comment, strlen(setup_comment));

	return found == NULL ? text.n : (size_t)(found - text.p);
}

void
setup_text_mark(struct str *out)
{
	struct slice text = str_slice(out);
	size_t at = setup_comment_at(text);
	struct str made = STR_INIT;
	struct slice rest;

	at += at < text.n ? strlen(setup_comment) : 0;
	rest = (struct slice){ text.p + at, text.n - at };
	str_addf(&made, SLICE_FMT "%s%08x%s", (int)at, text.p, setup_mark,
	    (unsigned)crc32c(0, rest.p, rest.n), setup_mark_rest);
	str_add(&made, rest.p, rest.n);
	str_truncate(out, 0);
	str_add(out, made.buf, made.len);
	str_release(&made);
}

bool
setup_text_is_for_now(struct slice text, size_t *out_begin)
{
	size_t at = setup_comment_at(text), n = strlen(setup_mark_rest);
	char mark[sizeof(setup_mark) + MARK_DIGITS + 1], *end;
	struct slice rest;
	unsigned long sum;

	*out_begin = text.n;
	rest = (struct slice){ text.p + at, text.n - at };
	if (rest.n < strlen(setup_comment) + sizeof(mark) - 2 + n)
		return false;
	rest.p += strlen(setup_comment);
	rest.n -= strlen(setup_comment);
	snprintf(mark, sizeof(mark), SLICE_FMT, (int)sizeof(mark) - 2, rest.p);
	if (strncmp(mark, setup_mark, strlen(setup_mark)) != 0)
		return false;
	sum = strtoul(mark + strlen(setup_mark), &end, 16);
	rest.p += sizeof(mark) - 2;
	rest.n -= sizeof(mark) - 2;
	if (*end != '\0' || memcmp(rest.p, setup_mark_rest, n) != 0 ||
	    crc32c(0, rest.p + n, rest.n - n) != sum)
		return false;
	*out_begin = at;
	return true;
}

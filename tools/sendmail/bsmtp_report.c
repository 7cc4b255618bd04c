/* bsmtp_report.c - a report about mail of a batch that was refused
 *
 * In     refused recipients with the words of the refusal; a header
 * Out    a message from <> to the sender, submitted as any other
 * Trusts nothing of the batch: its words are escaped, its header is quoted
 * Spec   RFC 3464, RFC 6522; sendmail(1), -bS
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "grammar/smtp/reply.h"
#include "tools/sendmail/bsmtp.h"
#include "tools/submit/submit.h"

#include "base/banned.h"

/* "550 5.1.1 words" -> "5.1.1"; what was put off has failed here. */
static void
status_add(struct str *out, struct slice reply)
{
	struct slice code, rest = reply;
	uint64_t number = 550;
	char status[12];

	if (!slice_word(&rest, &code) ||
	    !slice_number(slice_first(code, 3), 200, 599, &number))
		number = 550;
	reply_status((int)number, slice_trim(rest), status);
	status[0] = number / 100 == 4 ? '4' : '5';
	str_adds(out, status);
}

static void
bsmtp_report_words_add(struct str *out, const struct bsmtp_transaction *t)
{
	str_adds(out, "This message came in a batch, and these recipients "
	    "did not get it:\n\n");
	for (size_t i = 0; i < t->refused_count; i++) {
		str_adds(out, "  <");
		str_add_escaped(out, t->refused[i].rcpt);
		str_adds(out, ">\n    ");
		str_add_escaped(out, slice_first(t->refused[i].reply, 500));
		str_addc(out, '\n');
	}
}

static void
status_part_add(struct str *out, const struct bsmtp_transaction *t,
    const char *host)
{
	str_addf(out, "Reporting-MTA: dns; %s\n", host);
	for (size_t i = 0; i < t->refused_count; i++) {
		str_adds(out, "\nFinal-Recipient: rfc822; ");
		str_add_escaped(out, t->refused[i].rcpt);
		str_adds(out, "\nAction: failed\nStatus: ");
		status_add(out, t->refused[i].reply);
		str_adds(out, "\nDiagnostic-Code: smtp; ");
		str_add_escaped(out, slice_first(t->refused[i].reply, 500));
		str_addc(out, '\n');
	}
}

static void
bsmtp_report_add(struct str *out, const struct conf *conf,
    const struct bsmtp_transaction *t)
{
	char boundary[40];

	snprintf(boundary, sizeof(boundary), "batch-%llx",
	    (unsigned long long)clock_wall_us());
	str_addf(out, "From: Mail Delivery System <%s@%s>\n",
	    "MAILER-DAEMON", conf->host);
	str_adds(out, "To: <");
	str_add_escaped(out, t->sender);
	str_addf(out, ">\nSubject: Mail of a batch was refused\n"
	    "Auto-Submitted: auto-replied\nMIME-Version: 1.0\n"
	    "Content-Type: multipart/report; report-type=delivery-status;\n"
	    "\tboundary=\"%s\"\n\n--%s\n"
	    "Content-Type: text/plain; charset=utf-8\n\n", boundary,
	    boundary);
	bsmtp_report_words_add(out, t);
	str_addf(out, "\n--%s\nContent-Type: message/delivery-status\n\n",
	    boundary);
	status_part_add(out, t, conf->host);
	str_addf(out, "\n--%s\nContent-Type: text/rfc822-headers\n\n",
	    boundary);
	str_add_slice(out, str_slice(&t->header));
	str_addf(out, "\n--%s--\n", boundary);
}

/* Nobody to tell: the caller is. */
static int
report_here(const struct bsmtp_transaction *t)
{
	struct str text = STR_INIT;

	bsmtp_report_words_add(&text, t);
	fprintf(stderr, "sendmail: a message without a sender: %s",
	    text.buf);
	str_release(&text);
	return EX_DATAERR;
}

int
bsmtp_report(const struct conf *conf, const struct bsmtp_transaction *t)
{
	const char *rcpt = slice_dup(t->arena, t->sender);
	const struct submission what = { .sender = "", .rcpts = &rcpt,
		.rcpt_count = 1 };
	struct str text = STR_INIT;
	struct conf_brief brief;
	FILE *file;
	int status = EX_TEMPFAIL;

	conf_brief_of(conf, &brief);
	if (t->sender.n == 0)
		return report_here(t);
	bsmtp_report_add(&text, conf, t);
	file = tmpfile();
	if (file != NULL && fwrite(text.buf, 1, text.len, file) == text.len &&
	    fflush(file) == 0 && lseek(fileno(file), 0, SEEK_SET) == 0)
		status = submit_message(&brief, &what, fileno(file));
	else
		fprintf(stderr, "sendmail: a report cannot be written: %s\n",
		    strerror(errno));
	if (file != NULL)
		fclose(file);
	str_release(&text);
	return status;
}

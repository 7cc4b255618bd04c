/* mail.c - a report to another domain as a message
 *
 * In     the report, who gets it
 * Out    a message in the queue
 * Holds  nothing
 * Spec   RFC 8460 sections 5.1 and 5.3; RFC 8689 section 5; RFC 9990 section
 *        3.5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/clock.h"
#include "base/crc32c.h"
#include "grammar/base64.h"
#include "tools/submit/submit.h"
#include "tools/zmailer/report/send/mail.h"

#include "base/banned.h"

enum { BASE64_LINE = 76 };

/* What parts the parts: the id may be longer than a boundary (70 bytes). */
static uint32_t
mail_boundary(const struct report_mail *mail)
{
	return crc32c(0, mail->id, strlen(mail->id));
}

#ifdef HAVE_ZLIB
enum { GZIP_WINDOW = 15 + 16 };	/* deflateInit2: with the head of gzip */

static int
gzip_add(struct str *out, struct slice in, struct err *err)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)in.p,
	    .avail_in = (uInt)in.n };
	size_t room;
	int result;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
	    GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(err, "the report cannot be compressed: no "
		    "memory");
	room = deflateBound(&stream, (uLong)in.n);
	stream.next_out = (Bytef *)str_room(out, room);
	stream.avail_out = (uInt)room;
	result = deflate(&stream, Z_FINISH);
	out->len += room - stream.avail_out;
	deflateEnd(&stream);
	return result == Z_STREAM_END ? 0 :
	    err_set(err, "the report cannot be compressed");
}
#endif

static void
base64_add_lines(struct str *out, struct slice bytes)
{
	struct str text = STR_INIT;

	base64_add(&text, bytes);
	for (size_t at = 0; at < text.len; at += BASE64_LINE) {
		str_add_slice(out, slice_first(slice_from(str_slice(&text),
		    at), BASE64_LINE));
		str_addc(out, '\n');
	}
	str_release(&text);
}

/* ---- the message ------------------------------------------------------- */

struct mail_form {		/* what the kinds of reports differ in */
	const char	*id;		/* begins the Message-ID */
	const char	*type;		/* of the message, without boundary */
	const char	*plain, *packed;	/* of the report */
	const char	*end;		/* of the name of its file */
	bool		 is_id_in_name;
};

static const struct mail_form mail_forms[] = {
	[REPORT_MAIL_TLS] = { "tls-report",
	    "multipart/report; report-type=\"tlsrpt\"",
	    "application/tlsrpt+json", "application/tlsrpt+gzip", "json",
	    true },
	[REPORT_MAIL_DMARC] = { "dmarc-report", "multipart/mixed",
	    "text/xml", "application/gzip", "xml", false },
};

/* What only reports about TLS have. */
static void
mail_add_tls_fields(struct str *out, const struct report_mail *mail)
{
	if (mail->kind == REPORT_MAIL_TLS)
		str_addf(out, "TLS-Report-Domain: %s\n"
		    "TLS-Report-Submitter: %s\nTLS-Required: No\n",
		    mail->domain, mail->submitter);
}

static void
mail_add_header(struct str *out, const struct report_mail *mail)
{
	const struct mail_form *form = &mail_forms[mail->kind];
	char date[CLOCK_TEXT_BYTES];

	clock_rfc5322(mail->now_s, date);
	str_addf(out, "From: <%s>\nTo: ", mail->from);
	for (size_t i = 0; i < mail->to_count; i++)
		str_addf(out, "%s<%s>", i > 0 ? ",\n\t" : "",
		    mail->to[i].text);
	str_addf(out, "\nDate: %s\nMessage-ID: <%s.%s@%s>\n"
	    "Subject: Report Domain: %s\n\tSubmitter: %s\n"
	    "\tReport-ID: <%s@%s>\n", date, form->id, mail->id,
	    mail->submitter, mail->domain, mail->submitter, mail->id,
	    mail->submitter);
	mail_add_tls_fields(out, mail);
	str_addf(out, "Auto-Submitted: auto-generated\n"
	    "MIME-Version: 1.0\nContent-Type: %s;\n"
	    "\tboundary=\"zm-%08" PRIx32 "\"\n\n", form->type,
	    mail_boundary(mail));
}

static int
mail_add_data(struct str *out, const struct report_mail *mail,
    struct err *err)
{
	const struct mail_form *form = &mail_forms[mail->kind];
	struct slice data = mail->data;
	struct str packed = STR_INIT;
	const char *type = form->plain, *end = "";
	int result = 0;

#ifdef HAVE_ZLIB
	result = gzip_add(&packed, mail->data, err);
	data = str_slice(&packed);
	type = form->packed;
	end = ".gz";
#endif
	str_addf(out, "\n--zm-%08" PRIx32 "\nContent-Type: %s\n"
	    "Content-Transfer-Encoding: base64\n"
	    "Content-Disposition: attachment;\n"
	    "\tfilename=\"%s!%s!%lld!%lld%s%s.%s%s\"\n\n",
	    mail_boundary(mail), type,
	    mail->submitter, mail->domain, (long long)mail->begin_s,
	    (long long)mail->end_s, form->is_id_in_name ? "!" : "",
	    form->is_id_in_name ? mail->id : "", form->end, end);
	base64_add_lines(out, data);
	str_addf(out, "\n--zm-%08" PRIx32 "--\n", mail_boundary(mail));
	str_release(&packed);
	return result;
}

int
report_mail_add(struct str *out, const struct report_mail *mail,
    struct err *err)
{
	mail_add_header(out, mail);
	str_addf(out, "--zm-%08" PRIx32 "\nContent-Type: text/plain; "
	    "charset=us-ascii\n\n%s", mail_boundary(mail), mail->text);
	return mail_add_data(out, mail, err);
}

int
report_mail_send(const struct conf *conf, const struct report_mail *mail,
    struct slice message, char *out_id)
{
	const char *rcpts[RUA_MAX];
	struct submission what = { .sender = mail->from, .rcpts = rcpts,
		.rcpt_count = mail->to_count, .out_id = out_id,
		.tag = "report" };
	FILE *file = tmpfile();
	struct conf_brief brief;
	int status = EX_OSERR;

	for (size_t i = 0; i < mail->to_count; i++)
		rcpts[i] = mail->to[i].text;
	if (file != NULL && fwrite(message.p, 1, message.n, file) ==
	    message.n && fflush(file) == 0) {
		rewind(file);
		conf_brief_of(conf, &brief);
		status = submit_message(&brief, &what, fileno(file));
	}
	if (file != NULL)
		fclose(file);
	return status;
}

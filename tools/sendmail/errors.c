/* errors.c - what was not taken goes back by mail (-oem, -oee)
 *
 * In     a message on standard input, and why it was refused
 * Out    a message to its sender, from the null sender
 * Holds  two nameless temporary files: the message as it came (size limits
 *        it), and the mail around it
 * Trusts nobody: runs as the caller, who could send this mail himself
 * Spec   sendmail(1) -oe; RFC 3834 section 5 (Auto-Submitted)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tools/sendmail/errors.h"

#include "base/banned.h"

enum { PIECE_BYTES = 65536 };

/* The message part is text: what came may be no message at all. */
static void
write_mail(FILE *out, const struct conf_brief *conf, const char *to,
    const char *reason, FILE *copy)
{
	static char piece[PIECE_BYTES];
	struct str text = STR_INIT;
	size_t n;

	str_add_escaped(&text, slice_of(reason));
	fprintf(out, "From: Mail Delivery System <MAILER-DAEMON@%s>\n"
	    "To: <%s>\n"
	    "Subject: Your message was not accepted\n"
	    "Auto-Submitted: auto-replied\n"
	    "MIME-Version: 1.0\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: 8bit\n"
	    "\n"
	    "sendmail refused the message below; nobody has got it:\n\n"
	    "    %s\n\n"
	    "---- the message as it came ----\n",
	    conf->host, to, text.buf);
	rewind(copy);
	while ((n = fread(piece, 1, sizeof(piece), copy)) > 0)
		(void)fwrite(piece, 1, n, out);
	str_release(&text);
}

/* To the sender; when that is no address (it may be what was refused), to
 * the caller. */
static int
mail_to(const struct conf_brief *conf, const char *to, const char *reason,
    FILE *copy)
{
	struct submission answer = { .sender = "", .tag = "refused",
	    .rcpts = &to, .rcpt_count = 1 };
	FILE *mail = tmpfile();
	int status = EX_TEMPFAIL;

	if (mail == NULL)
		return EX_TEMPFAIL;
	write_mail(mail, conf, to, reason, copy);
	if (fflush(mail) == 0 && !ferror(mail)) {
		rewind(mail);
		status = submit_message(conf, &answer, fileno(mail));
	}
	fclose(mail);
	return status;
}

static bool
sendmail_is_refusal(int status)
{
	return status == EX_USAGE || status == EX_DATAERR ||
	    status == EX_UNAVAILABLE;
}

int
submit_or_tell(const struct conf_brief *conf, struct submission *what,
    bool hides_errors)
{
	FILE *copy = tmpfile();
	char reason[SUBMIT_ERROR_BYTES] = "";
	int status, told = EX_TEMPFAIL;

	what->out_error = reason;
	what->copy_fd = copy != NULL ? fileno(copy) : 0;
	status = submit_message(conf, what, STDIN_FILENO);
	if (copy == NULL)
		return status;
	if (sendmail_is_refusal(status) && (what->sender == NULL ||
	    *what->sender != '\0')) {	/* else a loop could begin */
		if (what->sender != NULL)
			told = mail_to(conf, what->sender, reason, copy);
		if (told != EX_OK)
			told = mail_to(conf, submit_caller(), reason, copy);
	}
	fclose(copy);
	return hides_errors && told == EX_OK ? EX_OK : status;
}

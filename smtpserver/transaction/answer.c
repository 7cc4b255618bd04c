/* answer.c - what a command has to say
 *
 * In     a code, a status, words; or what was wrong with a message
 * Out    an answer, for reply.c to write
 * Spec   RFC 5321 section 4.2; RFC 3463
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "smtpserver/transaction/answer.h"

#include "base/banned.h"

void
answer_set(struct session_answer *answer, int code, const char *status,
    const char *format, ...)
{
	va_list ap;

	answer->code = code;
	answer->status = status;
	answer->rule = NULL;
	answer->is_set_aside = false;
	va_start(ap, format);
	vsnprintf(answer->text, sizeof(answer->text), format, ap);
	va_end(ap);
}

void
answer_trouble(struct session_answer *out)
{
	answer_set(out, 451, "4.3.0",
	    "this cannot be looked up now, try later");
}

void
answer_fault(struct session_answer *out, enum content_fault fault)
{
	static const struct {
		int		 code;
		const char	*status, *text;
	} rows[] = {
		[CONTENT_GOOD] = { 0, NULL, NULL },
		[CONTENT_TOO_BIG] = { 552, "5.3.4", "the message is too big" },
		[CONTENT_HEADER_TOO_BIG] = { 552, "5.3.4",
		    "the header of the message is too big" },
		[CONTENT_LOOP] = { 554, "5.4.6",
		    "too many Received fields, this looks like a loop" },
		[CONTENT_BARE] = { 550, "5.5.2",
		    "a CR or LF stands alone, lines end in CR LF" },
		[CONTENT_NUL] = { 550, "5.6.0",
		    "there is a NUL byte in the message" },
		[CONTENT_LINE_TOO_LONG] = { 550, "5.6.0",
		    "a line of the message is too long" },
		[CONTENT_NO_HEADER] = { 550, "5.6.0",
		    "a binary message needs a header and an empty line" },
		[CONTENT_NO_SPACE] = { 452, "4.3.1",
		    "no space to store it now, try later" },
		[CONTENT_IO] = { 451, "4.3.0",
		    "it cannot be stored now, try later" },
	};

	answer_set(out, rows[fault].code, rows[fault].status, "%s",
	    rows[fault].text);
}

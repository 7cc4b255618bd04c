/* reason.c - the verdict that a host of channel error stands for
 *
 * In     host and user of a recipient
 * Out    a verdict: failed, with status and words
 * Spec   doc/INTERNALS.md section 7; RFC 3463
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/smtp/reply.h"
#include "grammar/smtp/xtext.h"
#include "transports/error/reason.h"

#include "base/banned.h"

enum { WORDS_BYTES_MAX = 400 };

static const struct {
	const char	*name, *status, *words;
} form_rows[] = {
#define FORM(name, status, words) { name, status, words },
#include "transports/error/forms.h"
#undef FORM
};

/* Words of a route: "5.1.6 moved to example.net", or without status. */
static void
reason_words_verdict(struct slice host, struct verdict *out)
{
	struct str words = STR_INIT;
	struct slice text, first, rest;
	char status[12] = "5.7.1";

	if (xtext_decode(host, &words, NULL) < 0) {
		str_reset(&words);
		str_add_slice(&words, host);
	}
	for (size_t i = 0; i < words.len; i++)
		if (words.buf[i] == '_')	/* the router's blanks */
			words.buf[i] = ' ';
	text = rest = str_slice(&words);
	if (slice_word(&rest, &first) && first.n >= 5 && first.n <= 9 &&
	    slice_starts(first, "5.")) {
		reply_status(550, first, status);
		if (slice_is(first, status))
			text = slice_trim(rest);
		else
			memcpy(status, "5.7.1", 6);
	}
	text = slice_first(text, WORDS_BYTES_MAX);
	verdict_set(out, VERDICT_FAILED, status, "router", SLICE_FMT,
	    SLICE_ARG(text.n > 0 ? text : SLICE("refused by a route")));
	str_release(&words);
}

void
reason_verdict(struct slice host, struct slice user, struct verdict *out)
{
	for (size_t i = 0; i < sizeof(form_rows) / sizeof(form_rows[0]); i++)
		if (slice_is(host, form_rows[i].name)) {
			verdict_set(out, VERDICT_FAILED, form_rows[i].status,
			    "router", "%s: " SLICE_FMT, form_rows[i].words,
			    SLICE_ARG(slice_first(user, WORDS_BYTES_MAX)));
			return;
		}
	reason_words_verdict(host, out);
}

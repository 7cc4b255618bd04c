/* words.c - what the old mailer last said about a message that waits
 *
 * In     Postfix's defer/, Exim's msglog/, lines of sendmail's qf
 * Out    the number of tries, where it is known, and the last words
 * Holds  nothing
 * Trusts no byte; it is no fault if there is no such file
 * Spec   bounce(8) of Postfix; the Exim specification, 58.5; sendmail's
 *        doc/op, appendix B
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/queue/queue.h"

#include "base/banned.h"

enum { WORDS_BYTES_MAX = 400 };
static const char exim_waits[] = "retry time not reached";

/* "DATE TIME == ADDRESS ... WORDS" is a try that failed, or a moment when it
 * was too early for one.  returns what is said from the address on; empty:
 * neither. */
static struct slice
exim_said(struct slice line)
{
	return line.n > 23 && slice_starts(slice_from(line, 19), " == ") ?
	    slice_from(line, 23) : SLICE("");
}

static bool
exim_is_try(struct slice said)
{
	for (size_t i = 0; i < said.n; i++)
		if (slice_starts(slice_from(said, i), exim_waits))
			return false;
	return true;
}

/* The tries of the recipient who failed last. */
static size_t
exim_tries(struct slice text, struct slice said)
{
	struct slice line, one, name = SLICE(""), other;
	size_t count = 0;

	(void)slice_word(&said, &name);
	while (name.n > 0 && slice_cut(&text, '\n', &line)) {
		one = exim_said(line);
		if (slice_word(&one, &other) && slice_equal(other, name))
			count += exim_is_try(one);
	}
	return count;
}

void
old_words(const struct old_kind *kind, struct slice text,
    struct old_words *out)
{
	struct slice line, said, all = text;
	uint64_t tries;

	*out = (struct old_words){ .said = SLICE("") };
	while (slice_cut(&text, '\n', &line)) {
		said = SLICE("");
		if (kind == &old_postfix && slice_starts(line, "reason="))
			said = slice_from(line, strlen("reason="));
		else if (kind == &old_exim)
			said = exim_said(line);
		else if (kind == &old_sendmail && slice_starts(line, "M"))
			said = slice_from(line, 1);
		else if (kind == &old_sendmail && slice_starts(line, "N") &&
		    slice_number(slice_from(line, 1), 0, 1000000, &tries))
			out->tries = (size_t)tries;
		if (slice_trim(said).n > 0)
			out->said = slice_first(slice_trim(said),
			    WORDS_BYTES_MAX);
	}
	if (kind == &old_exim && out->said.n > 0)
		out->tries = exim_tries(all, out->said);
}

/* "input/x/ID-H" is "msglog/x/ID", "deferred/X/ID" is "defer/X/ID"; NULL:
 * it has none. */
const char *
old_words_path(struct arena *arena, const struct old_kind *kind,
    const char *main)
{
	const char *theirs = kind == &old_exim ? "input/" : "deferred/";
	const char *at = strstr(main, theirs);
	size_t n = strlen(main);

	if (kind == &old_sendmail || at == NULL)
		return NULL;
	if (kind == &old_exim && slice_ends(slice_of(main), "-H"))
		n -= 2;
	return arena_printf(arena, "%.*s%s%.*s", (int)(at - main), main,
	    kind == &old_exim ? "msglog/" : "defer/", (int)(n - (size_t)(at -
	    main) - strlen(theirs)), at + strlen(theirs));
}

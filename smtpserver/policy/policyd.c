/* policyd.c - the Postfix policy protocol, our side of it
 *
 * In     attributes; the bytes of an answer
 * Out    a request; an action
 * Trusts no answer: bounded, and its text goes to clients and into headers
 *        only without control characters
 * Spec   Postfix SMTPD_POLICY_README, access(5)
 *
 * SPDX-License-Identifier: ISC
 */

#include "smtpserver/policy/policyd.h"

#include "base/banned.h"

static const struct {
	const char		*word;
	enum policyd_action	action;
} actions[] = {
	{ "DUNNO", POLICYD_DUNNO }, { "OK", POLICYD_ACCEPT },
	{ "PERMIT", POLICYD_ACCEPT }, { "REJECT", POLICYD_REJECT },
	{ "DEFER", POLICYD_DEFER }, { "DEFER_IF_REJECT", POLICYD_DUNNO },
	{ "DEFER_IF_PERMIT", POLICYD_DEFER_IF_PERMIT },
	{ "HOLD", POLICYD_FREEZE }, { "DISCARD", POLICYD_FREEZE },
	{ "PREPEND", POLICYD_PREPEND }, { "WARN", POLICYD_WARN },
	{ "INFO", POLICYD_WARN },
};

static bool
is_printable(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 127)
			return false;
	return true;
}

/* "5.7.1 words": the status of a refusal is ours to say. */
static struct slice
policyd_without_status(struct slice text)
{
	size_t n = slice_find(text, ' ');
	struct slice word = slice_first(text, n);
	unsigned dots = 0;

	if (word.n < 5 || word.n > 9 || word.p[1] != '.')
		return text;
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '.')
			dots++;
		else if (word.p[i] < '0' || word.p[i] > '9')
			return text;
	}
	return dots == 2 ? slice_trim(slice_from(text, n)) : text;
}

/* "Name: value", the name of printable ASCII.  RFC 5322 section 2.2. */
static bool
policyd_is_field(struct slice text)
{
	size_t colon = slice_find(text, ':');

	if (colon == 0 || colon == text.n)
		return false;
	for (size_t i = 0; i < colon; i++)
		if (text.p[i] <= ' ' || (unsigned char)text.p[i] > 126)
			return false;
	return true;
}

/* "450", "554": all other numbers mean accept, as in access(5). */
static bool
policyd_code_take(struct slice word, struct policyd_answer *out)
{
	uint64_t number;

	if (!slice_number(word, 0, UINT32_MAX, &number))
		return false;
	out->action = POLICYD_ACCEPT;
	if (number >= 400 && number <= 599) {
		out->action = number < 500 ? POLICYD_DEFER : POLICYD_REJECT;
		out->code = (int)number;
	}
	return true;
}

static bool
policyd_word_take(struct slice word, struct policyd_answer *out)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (slice_is_nocase(word, actions[i].word)) {
			out->action = actions[i].action;
			return true;
		}
	return false;
}

int
policyd_action_parse(struct slice text, struct policyd_answer *out,
    struct err *err)
{
	struct slice word = { NULL, 0 };

	*out = (struct policyd_answer){ .action = POLICYD_DUNNO };
	(void)slice_word(&text, &word);
	text = slice_trim(text);
	if (!policyd_code_take(word, out) && !policyd_word_take(word, out))
		return err_set(err, "the action '" SLICE_FMT "' is not known "
		    "here", SLICE_ARG(slice_first(word, 40)));
	if (text.n > POLICYD_TEXT_BYTES_MAX || !is_printable(text))
		return err_set(err, "its text is too long, or not printable");
	if (out->action == POLICYD_PREPEND && !policyd_is_field(text))
		return err_set(err, "PREPEND has no header field after it");
	out->text = out->action == POLICYD_PREPEND ? text :
	    policyd_without_status(text);
	return 0;
}

int
policyd_answer_find(struct slice bytes, struct slice *out_action,
    struct err *err)
{
	struct slice rest = bytes, line;
	bool is_found = false;

	while (slice_find(rest, '\n') < rest.n) {
		slice_cut(&rest, '\n', &line);
		line = slice_trim(line);
		if (line.n == 0)
			return is_found ? (int)(rest.p - bytes.p) :
			    err_set(err, "an answer without an action");
		if (slice_starts(line, "action=") && !is_found) {
			*out_action = slice_from(line, 7);
			is_found = true;
		}
	}
	return bytes.n > POLICYD_ANSWER_BYTES_MAX ?
	    err_set(err, "the answer is too long") : 0;
}

void
policyd_add(struct str *out, const char *name, struct slice value)
{
	str_addf(out, "%s=", name);
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		str_addc(out, c < ' ' || c == 127 ? '?' : (char)c);
	}
	str_addc(out, '\t');
}

void
policyd_request(struct str *out, struct slice attributes)
{
	for (size_t i = 0; i < attributes.n; i++)
		str_addc(out, attributes.p[i] == '\t' ? '\n' :
		    attributes.p[i]);
	str_addc(out, '\n');
}

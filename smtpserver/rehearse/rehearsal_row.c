/* rehearsal_row.c - a row of what is so and what is expected
 *
 * In     a line of words
 * Out    a struct rehearsal_row
 * Holds  nothing but the lists of the row
 * Trusts nobody: a line is a person's
 * Spec   zmailer-test(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/units.h"
#include "smtpserver/rehearse/rehearsal.h"

#include "base/banned.h"

const char *const rehearsal_words[REHEARSAL_COUNT] = {
	[REHEARSAL_ACCEPT] = "accept", [REHEARSAL_REJECT] = "reject",
	[REHEARSAL_DEFER] = "defer", [REHEARSAL_FREEZE] = "freeze",
	[REHEARSAL_TROUBLE] = "trouble", [REHEARSAL_NEED] = "need"
};

static struct slice *
text_of(struct rehearsal_row *row, struct slice word)
{
	const struct {
		const char	*word;
		struct slice	*text;
	} texts[] = {
		{ "from", &row->from }, { "name", &row->name },
		{ "helo", &row->helo }, { "listener", &row->listener },
		{ "user", &row->user }, { "sender", &row->sender },
		{ "to", &row->to }, { "service", &row->service },
		{ "cert", &row->cert }, { "issuer", &row->issuer },
		{ "fingerprint", &row->fingerprint },
		{ "spf", &row->spf }, { "dkim", &row->dkim },
		{ "dmarc", &row->dmarc }, { "policy", &row->policy },
		{ "dkim2", &row->dkim2 },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (slice_is(word, texts[i].word))
			return texts[i].text;
	return NULL;
}

static bool *
rehearsal_flag(struct rehearsal_row *row, struct slice word)
{
	const struct {
		const char	*word;
		bool		*flag;
	} flags[] = {
		{ "submission", &row->is_submission },
		{ "tls", &row->is_encrypted },
		{ "sender-unknown", &row->sender_unknown },
		{ "over", &row->is_over },
		{ "greylisted", &row->is_greylisted },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (slice_is(word, flags[i].word))
			return flags[i].flag;
	return NULL;
}

static int
rehearsal_word_take(struct rehearsal_row *row, struct slice word,
    struct slice *rest,
    struct err *err)
{
	struct slice value, *text = text_of(row, word);
	bool *flag = rehearsal_flag(row, word);

	if (flag != NULL) {
		*flag = true;
		return 0;
	}
	if (!slice_word(rest, &value))
		return err_set(err, "'" SLICE_FMT "' needs a value after it",
		    SLICE_ARG(slice_first(word, 40)));
	if (text != NULL)
		*text = value;
	else if (slice_is(word, "size"))
		return units_bytes(value, &row->size_bytes, err) < 0 ? -1 : 0;
	else if (slice_is(word, "listed"))
		str_addf(&row->listed, "%s" SLICE_FMT,
		    row->listed.len > 0 ? " " : "", SLICE_ARG(value));
	else
		return err_set(err, "there is no word '" SLICE_FMT "' here",
		    SLICE_ARG(slice_first(word, 40)));
	return 0;
}

static bool
result_find(struct slice word, enum rehearsal_result *out)
{
	for (int i = 0; i < REHEARSAL_COUNT; i++)
		if (slice_is(word, rehearsal_words[i])) {
			*out = (enum rehearsal_result)i;
			return true;
		}
	return false;
}

/* RESULT [5.7.1] [rule LINE] [text ANYTHING] */
static int
expectation_take(struct rehearsal_row *row, struct slice rest,
    struct err *err)
{
	struct slice word;

	row->has_expectation = true;
	if (!slice_word(&rest, &word) || !result_find(word, &row->want))
		return err_set(err, "after => stands one of: accept reject "
		    "defer freeze trouble need");
	while (slice_word(&rest, &word)) {
		if (slice_is(word, "text")) {
			row->want_text = slice_trim(rest);
			return 0;
		}
		if (slice_is(word, "rule")) {
			if (!slice_word(&rest, &word) || !slice_number(word, 1,
			    UINT32_MAX, &row->want_rule))
				return err_set(err, "rule needs the number of "
				    "its line");
		} else if (word.n >= 5 && word.p[1] == '.') {
			row->want_code = word;
		} else {
			return err_set(err, "'" SLICE_FMT "' is not a code, "
			    "rule or text", SLICE_ARG(slice_first(word, 40)));
		}
	}
	return 0;
}

enum rehearsal_line
rehearsal_parse(struct slice line, struct rehearsal_row *out,
    struct err *err)
{
	struct slice rest = line, word = { NULL, 0 };

	memset(out, 0, sizeof(*out));
	str_init(&out->listed);
	line = slice_trim(line);
	if (line.n == 0 || line.p[0] == '#')
		return REHEARSAL_LINE_EMPTY;
	while (slice_word(&rest, &word)) {
		if (slice_is(word, "=>"))
			break;
		if (rehearsal_word_take(out, word, &rest, err) < 0)
			return REHEARSAL_LINE_BAD;
		word = SLICE("");
	}
	if (out->to.n == 0) {
		err_set(err, "to whom? write to USER@DOMAIN");
		return REHEARSAL_LINE_BAD;
	}
	return slice_is(word, "=>") && expectation_take(out, rest, err) < 0 ?
	    REHEARSAL_LINE_BAD : REHEARSAL_LINE_ROW;
}

void
rehearsal_row_release(struct rehearsal_row *row)
{
	str_release(&row->listed);
}

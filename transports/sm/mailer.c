/* mailer.c - a line of sm.conf
 *
 * In     the text of sm.conf, a mailer's name
 * Out    its program, words and flags
 * Holds  nothing; pure
 * Trusts the file (root's); no sender and no recipient
 * Spec   zmailer-sm(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "transports/sm/mailer.h"

#include "base/banned.h"

const struct mailer_flag mailer_flags[] = {
	{ '7', MAILER_HONOURED, "the high bit of each byte is cleared" },
	{ '8', MAILER_HONOURED, "8-bit text may pass, as it does anyway" },
	{ '9', MAILER_REFUSED, "quoted-printable is not decoded" },
	{ 'b', MAILER_HONOURED, "batch SMTP around the message" },
	{ 'B', MAILER_HONOURED, "the same with SIZE and BODY; BB with DSN" },
	{ 'e', MAILER_HONOURED, "X-Envelope-From and X-Envelope-To fields" },
	{ 'E', MAILER_HONOURED, "lines that begin with From get a >" },
	{ 'f', MAILER_HONOURED, "-f and the sender as arguments" },
	{ 'r', MAILER_HONOURED, "-r and the sender as arguments" },
	{ 'H', MAILER_HONOURED, "HELO in front of a batch" },
	{ 'm', MAILER_HONOURED, "many recipients a run" },
	{ 'n', MAILER_HONOURED, "no From_ line" },
	{ 'O', MAILER_HONOURED, "X-Orcpt fields" },
	{ 'P', MAILER_HONOURED, "a Return-Path field" },
	{ 'R', MAILER_HONOURED, "lines end in CR LF" },
	{ 'S', MAILER_HONOURED, "runs as the agent's account" },
	{ 'U', MAILER_HONOURED, "\"remote from\" in the From_ line" },
	{ 'X', MAILER_HONOURED, "dots in front of lines are doubled" },
	{ 's', MAILER_IGNORED, "quotes in addresses stay" },
	{ 'D', MAILER_IGNORED, "the router has seen to Date" },
	{ 'F', MAILER_IGNORED, "the router has seen to From" },
	{ 'A', MAILER_IGNORED, "sendmail's" },
	{ 'C', MAILER_IGNORED, "sendmail's" },
	{ 'h', MAILER_IGNORED, "sendmail's" },
	{ 'I', MAILER_IGNORED, "sendmail's" },
	{ 'l', MAILER_IGNORED, "sendmail's" },
	{ 'L', MAILER_IGNORED, "sendmail's" },
	{ 'M', MAILER_IGNORED, "sendmail's" },
	{ 'p', MAILER_IGNORED, "sendmail's" },
	{ 'u', MAILER_IGNORED, "sendmail's" },
	{ 'x', MAILER_IGNORED, "sendmail's" },
	{ '-', MAILER_IGNORED, "stands for no flags" },
};
const size_t mailer_flag_count = sizeof(mailer_flags) /
    sizeof(mailer_flags[0]);

static const struct mailer_flag *
mailer_find_flag(char letter)
{
	for (size_t i = 0; i < mailer_flag_count; i++)
		if (mailer_flags[i].letter == letter)
			return &mailer_flags[i];
	return NULL;
}

bool
mailer_has(const struct mailer *mailer, char letter)
{
	const struct mailer_flag *flag = mailer_find_flag(letter);

	return flag != NULL &&
	    (mailer->flags >> (flag - mailer_flags) & 1) != 0;
}

static int
mailer_parse_flags(struct slice text, struct mailer *out, struct err *err)
{
	for (size_t i = 0; i < text.n; i++) {
		const struct mailer_flag *flag = mailer_find_flag(text.p[i]);

		if (flag == NULL)
			return err_set(err, "mailer " SLICE_FMT ": there is "
			    "no flag %c", SLICE_ARG(slice_first(out->name,
			    40)), text.p[i] > ' ' && text.p[i] < 127 ?
			    text.p[i] : '?');
		if (flag->care == MAILER_REFUSED)
			return err_set(err, "mailer " SLICE_FMT ": flag %c is "
			    "refused: %s", SLICE_ARG(slice_first(out->name,
			    40)), flag->letter, flag->text);
		if (flag->letter == 'B' && mailer_has(out, 'B'))
			out->is_bb = true;
		out->flags |= (uint64_t)1 << (flag - mailer_flags);
	}
	return 0;
}

/* A line that begins with the name. */
static int
mailer_parse_line(struct slice line, struct mailer *out, struct err *err)
{
	struct slice flags, word;

	if (!slice_word(&line, &flags) || !slice_word(&line, &out->program))
		return err_set(err, "mailer " SLICE_FMT ": write NAME FLAGS "
		    "PROGRAM ARGUMENTS", SLICE_ARG(slice_first(out->name,
		    40)));
	if (mailer_parse_flags(flags, out, err) < 0)
		return -1;
	if (!slice_starts(out->program, "/"))
		return err_set(err, "mailer " SLICE_FMT ": the program needs "
		    "an absolute path", SLICE_ARG(slice_first(out->name,
		    40)));
	while (slice_word(&line, &word)) {
		if (out->word_count == MAILER_WORDS_MAX)
			return err_set(err, "mailer " SLICE_FMT ": more than "
			    "%d words", SLICE_ARG(slice_first(out->name, 40)),
			    MAILER_WORDS_MAX);
		out->words[out->word_count++] = word;
	}
	if (out->word_count == 0)
		out->words[out->word_count++] = out->program;
	return 0;
}

enum mailer_found
mailer_find(struct slice text, struct slice name, struct mailer *out,
    struct err *err)
{
	struct slice line, word;

	memset(out, 0, sizeof(*out));
	while (slice_cut(&text, '\n', &line)) {
		line = slice_trim(line);
		if (line.n == 0 || line.p[0] == '#' ||
		    !slice_word(&line, &word) || !slice_equal(word, name))
			continue;
		out->name = word;
		return mailer_parse_line(line, out, err) < 0 ? MAILER_WRONG :
		    MAILER_FOUND;
	}
	return MAILER_NONE;
}

/* ---- words ------------------------------------------------------------- */

bool
mailer_word_is_rcpt(struct slice word)
{
	return word.n >= 2 && (memmem(word.p, word.n, "$u", 2) != NULL ||
	    memmem(word.p, word.n, "$U", 2) != NULL);
}

/* Controls cannot stand in an argument: they become '_'. */
static void
mailer_add_value(struct str *out, struct slice value, bool is_lowered)
{
	for (size_t i = 0; i < value.n; i++) {
		char c = value.p[i];

		if (is_lowered && ascii_is_upper(c))
			c = (char)(c + 32);
		str_addc(out, (unsigned char)c < ' ' || c == 127 ? '_' : c);
	}
}

int
mailer_word(struct slice word, struct slice sender, struct slice host,
    struct slice user, struct str *out, struct err *err)
{
	bool is_literal = !slice_starts(word, "$");
	size_t begin = out->len;

	for (size_t i = 0; i < word.n; i++) {
		char next = i + 1 < word.n ? word.p[i + 1] : '\0';

		if (word.p[i] != '$') {
			str_addc(out, word.p[i]);
			continue;
		}
		i++;
		if (next == 'g')
			mailer_add_value(out, sender, false);
		else if (next == 'h')
			mailer_add_value(out, host, false);
		else if (next == 'u' || next == 'U')
			mailer_add_value(out, user, next == 'U');
		else if (next == '$')
			str_addc(out, '$');
		else
			return err_set(err, "sm.conf: $%c is not known; there "
			    "are $g $h $u $U and $$", next > ' ' &&
			    next < 127 ? next : '?');
	}
	if (!is_literal && out->len > begin && out->buf[begin] == '-')
		return err_set(err, "an address that begins with - would be "
		    "taken for an option");
	return 0;
}

/* header_date.c - the date-time of Date and Resent-Date
 *
 * In     the value of the field
 * Out    whether it is one, and what is wrong with it
 * Holds  nothing
 * Trusts nothing; each byte is passed once, nothing recurses
 * Spec   RFC 5322 section 3.3 and 4.3
 *
 *   date-time   = [ day-name "," ] date time
 *   date        = 1*2DIGIT month 2*DIGIT
 *   time        = 2DIGIT ":" 2DIGIT [ ":" 2DIGIT ] zone
 *   zone        = ( "+" / "-" ) 4DIGIT / 1*ALPHA        ; UT, EST, Z ...
 *
 * with comments and folds between any two tokens.
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/message/header.h"

#include "base/banned.h"

struct token {
	struct slice	text;		/* empty: the end */
	bool		is_digits, is_letters;
};

/* After blanks, folds and comments; a comment without an end takes all. */
static void
date_skip_blanks(struct slice *rest)
{
	unsigned depth = 0;
	size_t i = 0;

	for (; i < rest->n; i++) {
		char c = rest->p[i];

		if (depth > 0 && c == '\\' && i + 1 < rest->n)
			i++;
		else if (c == '(')
			depth++;
		else if (c == ')' && depth > 0)
			depth--;
		else if (depth == 0 && c != ' ' && c != '\t' && c != '\r' &&
		    c != '\n')
			break;
	}
	*rest = slice_from(*rest, i);
}

static struct token
date_take(struct slice *rest)
{
	struct token token = { .text = { NULL, 0 } };
	size_t n = 0;

	date_skip_blanks(rest);
	if (rest->n == 0)
		return token;
	token.is_digits = ascii_is_digit(rest->p[0]);
	token.is_letters = ascii_is_alpha(rest->p[0]);
	while (n < rest->n && (token.is_digits ? ascii_is_digit(rest->p[n]) :
	    token.is_letters && ascii_is_alpha(rest->p[n])))
		n++;
	token.text = slice_first(*rest, n > 0 ? n : 1);
	*rest = slice_from(*rest, token.text.n);
	return token;
}

static bool
date_is_among(struct slice word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (slice_is_nocase(word, names[i]))
			return true;
	return false;
}

static bool
is_number(const struct token *token, size_t digits, uint64_t min,
    uint64_t max)
{
	uint64_t value;

	return token->is_digits && token->text.n <= digits &&
	    slice_number(token->text, min, max, &value);
}

/* [ day-name "," ], then the day is in *token. */
static int
walk_day_name(struct slice *rest, struct token *token, struct err *err)
{
	static const char *const days[] = { "Mon", "Tue", "Wed", "Thu",
		"Fri", "Sat", "Sun" };

	*token = date_take(rest);
	if (!token->is_letters)
		return 1;
	if (!date_is_among(token->text, days, 7))
		return err_set(err, "no day of the week is called so");
	*token = date_take(rest);
	if (!slice_is(token->text, ","))
		return err_set(err, "no comma after the day of the week");
	*token = date_take(rest);
	return 1;
}

static int
walk_date(struct slice *rest, struct err *err)
{
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr",
		"May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	struct token token;

	if (walk_day_name(rest, &token, err) != 1)
		return -1;
	if (!is_number(&token, 2, 1, 31))
		return err_set(err, "no day of the month");
	token = date_take(rest);
	if (!date_is_among(token.text, months, 12))
		return err_set(err, "no month");
	token = date_take(rest);
	if (!token.is_digits || token.text.n < 2 || token.text.n > 5)
		return err_set(err, "no year");
	return 1;
}

static int
walk_time(struct slice *rest, struct token *token, struct err *err)
{
	static const uint64_t most[] = { 23, 59, 60 };
	size_t i = 0;

	for (; i < 3; i++) {
		*token = date_take(rest);
		if (!is_number(token, 2, 0, most[i]))
			return err_set(err, "no time of the day");
		*token = date_take(rest);
		if (!slice_is(token->text, ":"))
			break;
	}
	return i == 1 || i == 2 ? 1 : err_set(err, "no time of the day");
}

static int
walk_zone(struct slice *rest, struct token *token, struct err *err)
{
	if (slice_is(token->text, "+") || slice_is(token->text, "-")) {
		*token = date_take(rest);
		return token->is_digits && token->text.n == 4 ? 1 :
		    err_set(err, "a time zone has four digits");
	}
	return token->is_letters && token->text.n <= 5 ? 1 :
	    err_set(err, "no time zone");
}

int
header_date(struct slice value, struct err *err)
{
	struct token token;

	if (walk_date(&value, err) != 1 ||
	    walk_time(&value, &token, err) != 1 ||
	    walk_zone(&value, &token, err) != 1)
		return -1;
	token = date_take(&value);
	return token.text.n == 0 ? 0 :
	    err_set(err, "something stands after the time zone");
}

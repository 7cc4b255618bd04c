/* abnf.c - sentences of a grammar, at random
 *
 * In     rules as text
 * Out    a sentence
 * Holds  the state of its own random numbers: a seed gives one sentence on
 *        every machine
 * Spec   RFC 5234 section 3, of it what abnf.h says
 *
 * The text is walked each time, once to pass over and once to speak: out is
 * NULL while it is passed over.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "abnf.h"

unsigned
abnf_random(struct abnf *abnf, unsigned n)
{
	abnf->seed ^= abnf->seed << 13;	/* xorshift64, Marsaglia 2003 */
	abnf->seed ^= abnf->seed >> 7;
	abnf->seed ^= abnf->seed << 17;
	return (unsigned)(abnf->seed >> 33) % n;
}

static void alternation(struct abnf *, const char **, struct str *);

static bool
is_name_byte(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
	    c == '-';
}

static const char *
skip_blanks(const char *at)
{
	return at + strspn(at, " \t\n");
}

/* "text": its letters in any case. */
static void
speak_string(struct abnf *abnf, const char **at, struct str *out)
{
	for ((*at)++; **at != '"'; (*at)++) {
		char c = **at;

		cr_assert(c != '\0', "a string of the grammar has no end");
		if (out == NULL)
			continue;
		if ((c | 32) >= 'a' && (c | 32) <= 'z' &&
		    abnf_random(abnf, 4) == 0)
			c ^= 32;
		str_addc(out, c);
	}
	(*at)++;
}

/* %d65 or %x41-5A. */
static void
speak_byte(struct abnf *abnf, const char **at, struct str *out)
{
	int base = (*at)[1] == 'x' ? 16 : 10;
	char *end;
	unsigned long first = strtoul(*at + 2, &end, base), last = first;

	if (*end == '-')
		last = strtoul(end + 1, &end, base);
	cr_assert(first <= last && last <= 255, "bytes of a grammar: %s", *at);
	if (out != NULL)
		str_addc(out, (char)(first + abnf_random(abnf,
		    (unsigned)(last - first) + 1)));
	*at = end;
}

static void
speak_rule(struct abnf *abnf, const char **at, struct str *out)
{
	char name[64];
	size_t n = 0;

	while (is_name_byte((*at)[n]))
		n++;
	cr_assert(n > 0 && n < sizeof(name), "a grammar at: %.40s", *at);
	memcpy(name, *at, n);
	name[n] = '\0';
	*at += n;
	if (out != NULL)
		abnf_make(abnf, name, out);
}

static void
element(struct abnf *abnf, const char **at, struct str *out)
{
	char open = **at;

	if (open == '[' && out != NULL && (abnf->depth > ABNF_DEEP ||
	    abnf_random(abnf, 2) == 0))
		out = NULL;
	if (open == '"') {
		speak_string(abnf, at, out);
	} else if (open == '%') {
		speak_byte(abnf, at, out);
	} else if (open == '(' || open == '[') {
		(*at)++;
		alternation(abnf, at, out);
		*at = skip_blanks(*at);
		cr_assert(**at == (open == '(' ? ')' : ']'),
		    "brackets of a grammar at: %.40s", *at);
		(*at)++;
	} else {
		speak_rule(abnf, at, out);
	}
}

static void
repetition(struct abnf *abnf, const char **at, struct str *out)
{
	unsigned least = 1, most = 1, count;
	const char *start;
	char *end;

	if (**at == '*' || (**at >= '0' && **at <= '9')) {
		least = most = (unsigned)strtoul(*at, &end, 10);
		if (*end == '*') {
			*at = end + 1;
			most = (unsigned)strtoul(*at, &end, 10);
			if (end == *at)
				most = least + ABNF_REPEATS;
		}
		*at = end;
	}
	count = abnf->depth > ABNF_DEEP || out == NULL ? least :
	    least + abnf_random(abnf, most - least + 1);
	start = *at;
	element(abnf, at, NULL);
	for (; out != NULL && count > 0; count--) {
		const char *again = start;

		element(abnf, &again, out);
	}
}

static void
concatenation(struct abnf *abnf, const char **at, struct str *out)
{
	for (;;) {
		*at = skip_blanks(*at);
		if (**at == '\0' || strchr("/)]", **at) != NULL)
			return;
		repetition(abnf, at, out);
	}
}

static void
alternation(struct abnf *abnf, const char **at, struct str *out)
{
	const char *start = *at;
	unsigned count = 1, choice;

	for (concatenation(abnf, at, NULL); **at == '/'; count++) {
		(*at)++;
		concatenation(abnf, at, NULL);
	}
	if (out == NULL)
		return;
	choice = abnf->depth > ABNF_DEEP ? 0 : abnf_random(abnf, count);
	for (; choice > 0; choice--) {
		concatenation(abnf, &start, NULL);
		start++;
	}
	concatenation(abnf, &start, out);
}

void
abnf_make(struct abnf *abnf, const char *name, struct str *out)
{
	const struct abnf_rule *rule = abnf->rules;
	const char *at;

	while (rule->name != NULL && strcmp(rule->name, name) != 0)
		rule++;
	cr_assert_not_null(rule->name, "no rule is called %s", name);
	abnf->depth++;
	at = rule->body;
	alternation(abnf, &at, out);
	cr_assert(*at == '\0', "%s goes on at: %.40s", name, at);
	abnf->depth--;
}

/* arguments.c - the command line of a verb, read by its usage
 *
 * In     argv, a usage
 * Out    form, words and values; or what is wrong, and what was meant
 * Trusts nothing
 * Spec   verb.h, usage.h; zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/err.h"
#include "base/guess.h"
#include "grammar/units.h"
#include "tools/verb/verb.h"

#include "base/banned.h"

/* ---- choices ----------------------------------------------------------- */

/* "a|b|c" as "a, b or c". */
static void
add_choices(struct str *out, struct slice choices)
{
	struct slice one;
	bool is_first = true;

	while (slice_cut(&choices, '|', &one)) {
		str_addf(out, "%s" SLICE_FMT, is_first ? "" :
		    choices.p == NULL ? " or " : ", ", SLICE_ARG(one));
		is_first = false;
	}
}

/* Is it one of those that may stand here? */
static int
word_choice_check(struct slice choices, const char *word, struct err *err)
{
	struct str words = STR_INIT;

	if (usage_is_one_of(choices, word))
		return 0;
	add_choices(&words, choices);
	err_set(err, "'%s': %s is wanted", word, words.buf);
	str_release(&words);
	return -1;
}

/* ---- options ------------------------------------------------------------ */

static int
option_unknown_say(const char *usage, struct slice name, struct err *err)
{
	struct guess guess = { .word = name };
	struct usage_form form;
	struct usage_word word;

	while (usage_form_next(&usage, &form))
		while (usage_word_next(&form, &word))
			if (word.option != NULL)
				guess_offer(&guess, word.option->name);
	return err_set(err, "there is no option " SLICE_FMT "%s%s%s",
	    SLICE_ARG(name), guess.best != NULL ? ", did you mean '" :
	    "; a word that begins with '-' stands after ",
	    guess.best != NULL ? guess.best : "--",
	    guess.best != NULL ? "'?" : "");
}

static int
option_number_take(const struct option_row *option, struct argument *out,
    struct err *err)
{
	uint64_t number;

	if (!slice_number(slice_of(out->text), option->low, option->high,
	    &number))
		return err_set(err, "%s %s: a number from %llu to %llu is "
		    "wanted", option->name, out->text,
		    (unsigned long long)option->low,
		    (unsigned long long)option->high);
	out->number = (int64_t)number;
	return 0;
}

static int
option_span_take(const struct option_row *option, struct argument *out,
    struct err *err)
{
	struct err why = { "" };

	if (units_span_ms(slice_of(out->text), &out->number, &why) != 0 ||
	    out->number <= 0 || (uint64_t)out->number < option->low)
		return err_set(err, "%s %s: a span is wanted, like 90s 2h "
		    "3d%s%s", option->name, out->text,
		    why.text[0] != '\0' ? ": " : "", why.text);
	return 0;
}

static int
option_take(struct arguments *arguments, const struct option_row *option,
    const char *text, struct err *err)
{
	struct argument *out = &arguments->options[option - option_rows];
	struct err why;

	out->text = text;
	if (option->kind == OPTION_NUMBER)
		return option_number_take(option, out, err);
	if (option->kind == OPTION_SPAN)
		return option_span_take(option, out, err);
	if (option->kind == OPTION_CHOICE &&
	    word_choice_check(slice_of(option->value), text, &why) != 0)
		return err_set(err, "%s %s", option->name, why.text);
	return 0;
}

/* An option of which the name is known: its value stands after "=" (or
 * after a letter), else it is the next word. */
static int
option_value_take(struct arguments *arguments, const struct option_row *option,
    const char *attached, char **next, int *out_used, struct err *err)
{
	*out_used = 0;
	if (option->value == NULL)
		return attached == NULL ?
		    option_take(arguments, option, option->name, err) :
		    err_set(err, "%s takes no value", option->name);
	if (attached == NULL && *next == NULL)
		return err_set(err, "%s wants a value: %s %s", option->name,
		    option->name, option->value);
	if (attached == NULL)
		*out_used = 1;
	if (attached == NULL && strchr(option->value, ' ') != NULL) {
		if (next[1] == NULL)
			return err_set(err, "%s wants two values: %s %s",
			    option->name, option->name, option->value);
		arguments->options[option - option_rows].second = next[1];
		*out_used = 2;
	}
	return option_take(arguments, option,
	    attached != NULL ? attached : *next, err);
}

/* "-f", "-n5", "-fn 5". */
static int
letters_take(struct arguments *arguments, char **at, int *out_used,
    struct err *err)
{
	for (const char *letter = *at + 1; *letter != '\0'; letter++) {
		char name[] = { '-', *letter, '\0' };
		const struct option_row *option = usage_option(arguments->usage,
		    slice_of(name));
		const char *rest = letter[1] != '\0' ? letter + 1 : NULL;

		if (option == NULL)
			return option_unknown_say(arguments->usage,
			    slice_of(letter == *at + 1 ? *at : name), err);
		if (option->value != NULL)
			return option_value_take(arguments, option, rest,
			    at + 1, out_used, err);
		if (option_take(arguments, option, option->name, err) != 0)
			return -1;
	}
	return 0;
}

static int
word_take(struct arguments *arguments, char **at, int *out_used,
    struct err *err)
{
	struct slice name = slice_of(*at);
	size_t equals = slice_find(name, '=');
	const char *attached = equals < name.n ? *at + equals + 1 : NULL;
	const struct option_row *option;

	*out_used = 0;
	if (name.p[1] != '-')
		return letters_take(arguments, at, out_used, err);
	name = slice_first(name, equals);
	option = usage_option(arguments->usage, name);
	if (option == NULL)
		return option_unknown_say(arguments->usage, name, err);
	return option_value_take(arguments, option, attached, at + 1,
	    out_used, err);
}

/* ---- forms ------------------------------------------------------------- */

/* The word that chooses a form: the first that is no option. */
static bool
form_literal(struct usage_form form, struct slice *out)
{
	struct usage_word word;

	while (usage_word_next(&form, &word))
		if (word.option == NULL) {
			*out = word.text;
			return word.is_literal && !form.is_common;
		}
	return false;
}

/* The words that choose a form, with bars between them. */
static void
form_names(const char *usage, struct str *out)
{
	struct usage_form form;
	struct slice name;

	while (usage_form_next(&usage, &form))
		if (!form.is_common && form_literal(form, &name))
			str_addf(out, "%s" SLICE_FMT, out->len > 0 ? "|" : "",
			    SLICE_ARG(name));
}

/* No form fits: say which words choose one. */
static int
form_none_say(const struct arguments *arguments, struct err *err)
{
	struct str names = STR_INIT, words = STR_INIT;

	form_names(arguments->usage, &names);
	add_choices(&words, str_slice(&names));
	if (arguments->count == 0)
		err_set(err, "say %s", words.buf);
	else
		err_set(err, "there is no '%s', say %s",
		    arguments->words[0], words.buf);
	str_release(&names);
	str_release(&words);
	return -1;
}

/* Choose the form; its word is taken from the words.  A form without one is
 * for all that no other is for. */
static int
form_choose(struct arguments *arguments, struct usage_form *out,
    struct err *err)
{
	const char *usage = arguments->usage;
	struct usage_form form;
	struct slice name;
	bool is_found = usage[0] == '\0';

	*out = (struct usage_form){ .depth = 0 };
	while (usage_form_next(&usage, &form) && !form.is_common) {
		if (!form_literal(form, &name)) {
			*out = form;
			is_found = true;
		} else if (arguments->count > 0 &&
		    usage_is_one_of(name, arguments->words[0])) {
			*out = form;
			arguments->form = arguments->words[0];
			arguments->words++;
			arguments->count--;
			return 0;
		}
	}
	return is_found ? 0 : form_none_say(arguments, err);
}

/* A word of the form is not there. */
static int
word_missing_say(const struct arguments *arguments, struct slice word,
    struct err *err)
{
	struct str names = STR_INIT, words = STR_INIT;

	if (arguments->form[0] == '\0')
		form_names(arguments->usage, &names);
	add_choices(&words, str_slice(&names));
	if (slice_is(word, "SELECTOR") && strstr(arguments->usage,
	    option_rows[OPT_DRY_RUN].name) == NULL)
		err_set(err, "which messages? A selector is missing; 'all' "
		    "means every one");
	else if (slice_is(word, "SELECTOR"))
		err_set(err, "which messages? 'all' means every one; nothing "
		    "was done, and --dry-run all shows what would be");
	else if (slice_starts(word, "ID|"))
		err_set(err, "which message? `zmailer list` shows ids");
	else if (words.len > 0)
		err_set(err, "say %s, or " SLICE_FMT, words.buf,
		    SLICE_ARG(word));
	else
		err_set(err, SLICE_FMT " is missing", SLICE_ARG(word));
	str_release(&names);
	str_release(&words);
	return -1;
}

/* Are there as many words as the form has? */
static int
words_check(const struct arguments *arguments, struct usage_form form,
    struct err *err)
{
	bool is_first = arguments->form[0] != '\0';
	struct usage_word word;
	int at = 0;

	while (usage_word_next(&form, &word)) {
		const char *given = at == INT_MAX ? NULL :
		    arguments_word(arguments, at);

		if (word.option != NULL)
			continue;
		if (is_first) {		/* it chose the form */
			is_first = false;
			continue;
		}
		if (!word.is_optional && (given == NULL || *given == '\0'))
			return word_missing_say(arguments, word.text, err);
		if (given != NULL && word.is_literal &&
		    word_choice_check(word.text, given, err) != 0)
			return -1;
		/* what comes after all the others is the verb's to find */
		at = word.is_repeated || at == INT_MAX ? INT_MAX : at + 1;
	}
	if (arguments->count > at)
		return err_set(err, "'%s' is too much", arguments->words[at]);
	return 0;
}

/* Note the options of a form; one that it cannot be without must be there. */
static int
options_note(const struct arguments *arguments, struct usage_form form,
    bool known[OPTIONS], struct err *err)
{
	struct usage_word word;

	while (usage_word_next(&form, &word)) {
		size_t i = 0;

		if (word.option == NULL || word.option->name[0] == '\0')
			continue;
		i = (size_t)(word.option - option_rows);
		known[i] = true;
		if (!word.is_optional && !arguments_has(arguments, i))
			return err_set(err, "%s%s%s is missing",
			    word.option->name,
			    word.option->value != NULL ? " " : "",
			    word.option->value != NULL ?
			    word.option->value : "");
	}
	return 0;
}

/* Does each option that was given belong to the form, or to all? */
static int
options_check(const struct arguments *arguments, struct usage_form chosen,
    struct err *err)
{
	const char *usage = arguments->usage;
	bool is_known[OPTIONS] = { false };
	struct usage_form form;

	if (options_note(arguments, chosen, is_known, err) != 0)
		return -1;
	while (usage_form_next(&usage, &form))
		if (form.is_common &&
		    options_note(arguments, form, is_known, err) != 0)
			return -1;
	for (size_t i = 0; i < OPTIONS; i++)
		if (arguments_has(arguments, i) && !is_known[i])
			return err_set(err, "%s does not go with %s",
			    option_rows[i].name, arguments->form[0] != '\0' ?
			    arguments->form : "this");
	return 0;
}

/* A verb may repeat what it was given, and a terminal would obey it. */
int
argument_check(const char *text, struct err *err)
{
	struct slice rest = slice_of(text);
	struct str shown = STR_INIT;
	size_t n;

	for (; rest.n > 0; rest = slice_from(rest, n)) {
		n = slice_utf8(rest);
		n = n == 0 ? 1 : n;
		if (slice_is_obeyed(slice_first(rest, n)) &&
		    *rest.p != '\n' && *rest.p != '\t')
			break;
	}
	if (rest.n == 0)
		return 0;
	str_add_escaped(&shown, slice_of(text));
	err_set(err, "'%s' has a character that a terminal obeys instead of "
	    "showing it: leave it out", shown.buf);
	str_release(&shown);
	return -1;
}

int
arguments_parse(struct arguments *out, const struct verb_row *row, int argc,
    char **argv, struct err *err)
{
	struct usage_form form;
	bool is_over = false;

	*out = (struct arguments){ .verb = row->name, .usage = row->usage,
	    .form = "", .words = argv + 1 };
	for (int i = 1; i < argc; i++)
		if (argument_check(argv[i], err) != 0)
			return -1;
	for (int i = 1; i < argc; i++) {
		int used = 0;

		if (is_over || argv[i][0] != '-' || argv[i][1] == '\0')
			out->words[out->count++] = argv[i];
		else if (strcmp(argv[i], "--") == 0)
			is_over = true;
		else if (word_take(out, &argv[i], &used, err) != 0)
			return -1;
		i += used;
	}
	if (out->count + 1 < argc)
		out->words[out->count] = NULL;
	if (form_choose(out, &form, err) != 0 ||
	    options_check(out, form, err) != 0)
		return -1;
	return words_check(out, form, err);
}

int
arguments_read(struct arguments *out, const struct verb_row *row, int argc,
    char **argv, const char *conf_path)
{
	struct err err = { "" };

	if (arguments_parse(out, row, argc, argv, &err) != 0)
		return arguments_refuse(out, "%s", err.text);
	out->conf_path = conf_path;
	return 0;
}

/* ---- what was read ------------------------------------------------------ */

bool
arguments_has(const struct arguments *arguments, enum option_id id)
{
	return arguments->options[id].text != NULL;
}

const char *
arguments_text(const struct arguments *arguments, enum option_id id)
{
	return arguments->options[id].text;
}

int64_t
arguments_number(const struct arguments *arguments, enum option_id id,
    int64_t preset)
{
	const struct argument *argument = &arguments->options[id];

	return argument->text != NULL ? argument->number : preset;
}

bool
arguments_is(const struct arguments *arguments, const char *form)
{
	return strcmp(arguments->form, form) == 0;
}

const char *
arguments_word(const struct arguments *arguments, int at)
{
	return at < arguments->count ? arguments->words[at] : NULL;
}

void
arguments_join(const struct arguments *arguments, struct str *out)
{
	for (int i = 0; i < arguments->count; i++)
		str_addf(out, "%s%s", i > 0 ? " " : "", arguments->words[i]);
}

int
arguments_refuse(const struct arguments *arguments, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "zmailer: %s: ", arguments->verb);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\nzmailer help %s tells more\n", arguments->verb);
	return EX_USAGE;
}

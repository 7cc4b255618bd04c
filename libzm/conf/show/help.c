/* help.c - what the rows say, for people at a terminal
 *
 * In     the rows of statements.h
 * Out    `zmailer help STATEMENT`
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/guess.h"
#include "conf/statements/rows.h"
#include "conf/show/show.h"

#include "base/banned.h"

enum { COLUMNS = 76, INDENT = 4 };

/* Words of text from column INDENT on, broken before COLUMNS. */
static void
add_wrapped(struct str *out, const char *text)
{
	struct slice rest = slice_of(text), word;
	size_t column = COLUMNS;

	while (slice_word(&rest, &word)) {
		if (column + 1 + word.n > COLUMNS) {
			str_adds(out, column == COLUMNS && out->len > 0 &&
			    out->buf[out->len - 1] == '\n' ? "    " :
			    "\n    ");
			column = INDENT;
		} else {
			str_addc(out, ' ');
			column++;
		}
		str_add_slice(out, word);
		column += word.n;
	}
	str_addc(out, '\n');
}

static void
help_add_settings(struct str *out, const char *statement)
{
	for (size_t i = 0; i < conf_setting_count; i++) {
		const struct conf_setting *setting = &conf_settings[i];

		if (strcmp(setting->statement, statement) != 0)
			continue;
		if (setting->key[0] == '\0')
			str_addf(out, "    unless said: %s\n",
			    setting->preset[0] ? setting->preset :
			    setting->text);
		else
			str_addf(out, "      %-20s %-9s %s\n", setting->key,
			    setting->preset, setting->text);
	}
}

static void
help_add_example(struct str *out, const char *example)
{
	struct slice rest = slice_of(example), line;

	str_adds(out, "    for example\n");
	while (slice_cut(&rest, '\n', &line))
		str_addf(out, "        " SLICE_FMT "\n", SLICE_ARG(line));
}

static void
help_add_row(struct str *out, const struct conf_row *row)
{
	str_addf(out, "%s\n", row->usage);
	add_wrapped(out, row->text);
	if (row->preset[0] != '\0')
		str_addf(out, "    unless said: %s\n", row->preset);
	help_add_settings(out, row->name);
	help_add_example(out, row->example);
	if (row->block < GROUP_NONE)
		str_adds(out, "    in the block\n");
	for (size_t i = 0; row->block < GROUP_NONE && i < conf_row_count; i++)
		if (conf_rows[i].group == row->block)
			str_addf(out, "      %-36s unless said: %s\n",
			    conf_rows[i].usage, conf_rows[i].preset);
}

void
conf_help(struct str *out, const char *statement)
{
	for (size_t i = 0; i < conf_row_count; i++) {
		const struct conf_row *row = &conf_rows[i];

		if (statement == NULL && row->group == GROUP_TOP)
			str_addf(out, "  %s\n", row->usage);
		else if (statement != NULL &&
		    strcmp(statement, row->name) == 0)
			help_add_row(out, row);
	}
}

void
conf_help_in(struct str *out, const char *block, const char *statement,
    struct guess *guess)
{
	for (size_t i = 0; i < conf_row_count; i++) {
		const struct conf_row *outer = &conf_rows[i];

		if (strcmp(block, outer->name) != 0 ||
		    outer->block >= GROUP_NONE)
			continue;
		for (size_t k = 0; k < conf_row_count; k++) {
			if (conf_rows[k].group != outer->block)
				continue;
			guess_offer(guess, conf_rows[k].name);
			if (strcmp(statement, conf_rows[k].name) == 0)
				help_add_row(out, &conf_rows[k]);
		}
	}
}

void
conf_help_offer(struct guess *guess)
{
	for (size_t i = 0; i < conf_row_count; i++)
		guess_offer(guess, conf_rows[i].name);
}

/* rows.c - the rows of statements.h as arrays, and who is meant
 *
 * In     names that people wrote
 * Out    rows; the row that a misspelled name was most likely meant to be
 * Holds  constants only
 *
 * SPDX-License-Identifier: ISC
 */
#include <stddef.h>
#include <string.h>

#include "conf/statements/rows.h"
#include "conf/settings/agents.h"
#include "grammar/smtp/ehlo.h"

#include "base/banned.h"

const char *const conf_role_names[ROLE_COUNT] = {
	"smtpserver", "router", "scheduler", "agent", "tables", "sts",
	"share", "resolver", "web", "notify", "nodes"
};

const struct conf_row conf_rows[] = {
#define STATEMENT(group, name, block, apply, args, keywords, usage, preset, \
    text, example) \
	{ GROUP_##group, name, GROUP_##block, conf_apply_##apply, args, \
	  keywords, usage, preset, text, example, 0, 0, "" },
#define STRUCT_SCHEDULE struct conf_schedule
#define STRUCT_ZONE struct conf_zone
#define STRUCT_CLUSTER struct conf_cluster
#define STRUCT_RESOLVER struct conf_resolver
#define END_OF(type, field) \
	(offsetof(type, field) + sizeof(((type *)NULL)->field))
#define ITEM(group, name, apply, first, last, args, usage, preset, note, text, \
    example) \
	{ GROUP_##group, name, GROUP_NONE, conf_apply_##apply, args, "", \
		usage, preset note, text, example, \
		offsetof(STRUCT_##group, first), \
		END_OF(STRUCT_##group, last) - \
		    offsetof(STRUCT_##group, first), \
		preset },
#include "conf/statements/statements.h"
};
const size_t conf_row_count = sizeof(conf_rows) / sizeof(conf_rows[0]);

const struct conf_setting conf_settings[] = {
#define SETTING(statement, key, field, type, preset, text) \
	{ statement, key, offsetof(struct conf, field), \
		sizeof(((struct conf *)NULL)->field), type, preset, text },
#include "conf/statements/statements.h"
};
const size_t conf_setting_count =
    sizeof(conf_settings) / sizeof(conf_settings[0]);

const struct conf_row *
conf_row_find(enum conf_group group, struct slice name)
{
	for (size_t i = 0; i < conf_row_count; i++)
		if (conf_rows[i].group == group &&
		    slice_is(name, conf_rows[i].name))
			return &conf_rows[i];
	return NULL;
}

const struct conf_setting *
conf_setting_find(const char *statement, struct slice key)
{
	for (size_t i = 0; i < conf_setting_count; i++)
		if (strcmp(conf_settings[i].statement, statement) == 0 &&
		    slice_is(key, conf_settings[i].key))
			return &conf_settings[i];
	return NULL;
}

bool
conf_spec_next(struct slice *rest, struct slice *out_name,
    struct slice *out_type, bool *out_is_needed)
{
	struct slice word, type;

	if (!slice_word(rest, &word))
		return false;
	type = word;
	slice_cut(&type, '=', out_name);
	*out_type = type;
	*out_is_needed = slice_ends(*out_name, "!");
	if (*out_is_needed)
		out_name->n--;
	return true;
}

int
conf_keyword_find(const struct conf_row *row, struct slice word)
{
	struct slice rest = slice_of(row->keywords), name, type;
	bool is_needed;

	for (int i = 0; conf_spec_next(&rest, &name, &type, &is_needed); i++)
		if (slice_equal(word, name))
			return i;
	return -1;
}

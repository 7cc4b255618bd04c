/* rows.h - the rows of statements.h as arrays, and how to find one
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_STATEMENTS_ROWS_H
#define ZM_CONF_STATEMENTS_ROWS_H

#include "base/str.h"
#include "conf/settings/conf.h"

enum conf_group { GROUP_TOP, GROUP_DOMAIN, GROUP_SCHEDULE, GROUP_ZONE,
	GROUP_CLUSTER, GROUP_RESOLVER, GROUP_NONE, GROUP_LINES };

struct conf_loader;
struct conf_statement;
typedef void conf_apply_fn(struct conf_loader *loader,
    const struct conf_statement *statement, void *target);

struct conf_row {
	enum conf_group	 group;
	const char	*name;
	enum conf_group	 block;
	conf_apply_fn	*apply;
	const char	*args, *keywords;
	const char	*usage, *preset, *text, *example;
	size_t		 offset, width;	/* ITEM: its fields; else 0 */
	const char	*value;		/* ITEM: in the last clause; or "" */
};
struct conf_setting {
	const char	*statement, *key;
	size_t		 offset, width;	/* of the field in struct conf */
	const char	*type, *preset, *text;
};

extern const struct conf_row conf_rows[];
extern const size_t conf_row_count;
extern const struct conf_setting conf_settings[];
extern const size_t conf_setting_count;

/* The row of a statement in its group; NULL when there is none. */
const struct conf_row *conf_row_find(enum conf_group group,
    struct slice name);
/* The setting of a statement with this key; NULL when there is none. */
const struct conf_setting *conf_setting_find(const char *statement,
    struct slice key);
/* The index of word among the row's keywords; -1: it is not one. */
int conf_keyword_find(const struct conf_row *row, struct slice word);
/* Walk "a=b c! d": false at the end. */
bool conf_spec_next(struct slice *rest, struct slice *out_name,
    struct slice *out_type, bool *out_is_needed);

/* Appliers, by the names of the rows; part/ and legacy/ have them. */
#define STATEMENT(group, name, block, apply, args, keywords, usage, preset, \
    text, example) conf_apply_fn conf_apply_##apply;
#include "conf/statements/statements.h"

#endif

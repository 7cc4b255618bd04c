/* types.c - the back ends that tables have
 *
 * In     a spec, "TYPE:ARGUMENT"
 * Out    the type, or what is wrong with the spec
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "mail/table/type.h"

#include "base/banned.h"

static const struct table_type *const types[] = {
	&table_type_file, &table_type_inline, &table_type_pcre,
	&table_type_cidr, &table_type_cdb, &table_type_lmdb,
	&table_type_passwd, &table_type_pgsql, &table_type_mysql,
	&table_type_sqlite, &table_type_ldap, &table_type_redis,
	&table_type_socketmap, &table_type_tcp,
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

const struct table_type *
table_type_of(const char *spec, const char **out_argument)
{
	const char *colon;

	spec += spec[0] == '?';
	colon = strchr(spec, ':');
	if (colon == NULL)
		return NULL;
	*out_argument = colon + 1;
	for (size_t i = 0; i < TYPES; i++)
		if (slice_is((struct slice){ spec, (size_t)(colon - spec) },
		    types[i]->name))
			return types[i];
	return NULL;
}

const char *
table_definition_path(const char *spec, const char **out_type)
{
	const char *argument;
	const struct table_type *type = table_type_of(spec, &argument);

	if (type == NULL || !(type->traits & TABLE_IS_ASKED))
		return NULL;
	*out_type = type->name;
	return argument;
}

bool
table_spec_is_asked(const char *spec)
{
	const char *type;

	return table_definition_path(spec, &type) != NULL;
}

int
table_err_at(struct err *err, const char *file)
{
	struct err what = *err;
	const char *p = what.text;

	while (ascii_is_digit(*p))
		p++;
	return err_set(err, p > what.text && *p == ':' ? "%s:%s" : "%s: %s",
	    file, what.text);
}

/* Types of Postfix: plain files, patterns, and what is not there.  0: none of
 * them; else -1. */
static int
foreign_mend(const char *spec, struct err *err)
{
	static const struct {
		const char	*name, *type;
	} rows[] = {
		{ "hash:", "file" }, { "btree:", "file" }, { "dbm:", "file" },
		{ "texthash:", "file" }, { "db:", "file" },
		{ "lsearch:", "file" }, { "regexp:", "pcre" },
		{ "proxy:", NULL }, { "static:", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_starts(slice_of(spec), rows[i].name))
			return rows[i].type == NULL ? err_set(err, "write its "
			    "rows into a file, KEY VALUE on each line: "
			    "file:/PATH") : err_set(err, "write %s:%s",
			    rows[i].type, spec + strlen(rows[i].name));
	return 0;
}

int
table_spec_check(const char *spec, struct err *err)
{
	const char *argument;
	const struct table_type *type = table_type_of(spec, &argument);

	if (spec[0] == '/')
		return err_set(err, "write file:%s", spec);
	if (spec[0] == '?')
		type = NULL;
	if (type == NULL && foreign_mend(spec, err) < 0)
		return -1;
	if (type == NULL || type == &table_type_inline)
		return err_set(err, "write file:/PATH, or pcre:, cidr:, cdb:, "
		    "lmdb:, pgsql:, mysql:, sqlite:, ldap:, redis:, "
		    "socketmap:, tcp: with a path, or passwd:");
	if (type->package != NULL)
		return err_set(err, "this zmailer was built without %s: "
		    "install %s and build it again", type->name,
		    type->package);
	if ((type->traits & (TABLE_HAS_PATH | TABLE_IS_ASKED)) &&
	    argument[0] != '/')
		return err_set(err, "the path in '%s:' must begin with /: "
		    "write %s:/DIRECTORY/%s", type->name, type->name,
		    argument);
	if (!(type->traits & (TABLE_HAS_PATH | TABLE_IS_ASKED)) &&
	    argument[0] != '\0')
		return err_set(err, "nothing may follow '%s:'", type->name);
	return 0;
}

const char *
table_types_text(bool built)
{
	static struct str text;

	str_init(&text);
	for (size_t i = 0; i < TYPES; i++)
		if ((types[i]->package == NULL) == built)
			str_addf(&text, "%s%s", text.len > 0 ? " " : "",
			    types[i]->name);
	return text.buf;
}

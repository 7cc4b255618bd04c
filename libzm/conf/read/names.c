/* names.c - names of domains that stand in tables (domain <table>)
 *
 * In     the names of domain statements, the tables among them
 * Out    all names, an index of them; the same anew when a file changed
 * Holds  what the files looked like, in the book of the conf
 * Trusts no file: a bad one is refused whole, the names of before stay
 * Spec   zmailer.conf(5), domain
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "conf/read/read.h"
#include "grammar/smtp/path.h"
#include "mail/table/table.h"
#include "mail/table/type.h"

#include "base/banned.h"

enum { YOUNG_S = 2 };		/* may change again unseen */

struct names {
	const struct conf	*conf;
	struct arena		*arena;
	struct conf_loader	*loader;	/* complaints; or NULL: */
	struct err		*err;		/* the first of them */
	bool			 is_bad;
	const struct conf_name	*from;		/* "<table>" */
	const struct table	*table;
	const char		*path;		/* of it, in the arena */
	struct conf_name	*list;
	size_t			 count;
};

static void
names_add(struct names *names, const struct conf_name *name)
{
	names->list = arena_grow(names->arena, names->list, names->count,
	    sizeof(*names->list));
	names->list[names->count++] = *name;
}

/* A table can be edited at any time: with a snapshot, which was good once, a
 * bad line of it stops nobody, nor who can be lenient a missing table.
 * line: of the table's file, with the key; 0: the table itself. */
static void
names_complain(struct names *names, unsigned line, struct slice key,
    const char *text)
{
	struct conf_loader *loader = names->loader;
	struct conf_at at = { names->path, line, 1 };
	bool is_small = loader != NULL && (loader->is_lenient ||
	    (line > 0 && loader->is_sealed));
	enum conf_kind kind = is_small ? CONF_WARNING : CONF_ERROR;

	if (loader != NULL && line > 0)
		conf_complain_line(loader->report, loader->report_arena,
		    kind, at, (unsigned)key.n,
		    slice_dup(loader->report_arena, key),
		    conf_mend_domain(loader->conf->arena, key), text);
	else if (loader != NULL)
		conf_complain(loader, kind, names->from->token,
		    "make the file, even an empty one, or name another",
		    "%s", text);
	else if (!names->is_bad)
		err_set(names->err, "%s", text);
	names->is_bad = true;
}

static bool
names_take(void *context, struct slice key, struct slice value, unsigned line)
{
	struct names *names = context;
	struct conf_name name = { .domain = names->from->domain,
	    .table_path = names->path, .line = line };
	struct err why;

	if (domain_parse(slice_from(key, slice_starts(key, ".")),
	    &why) != 0) {
		key = slice_first(key, 64);
		if (names->loader != NULL)
			err_set(&why, "'" SLICE_FMT "' is not a domain",
			    SLICE_ARG(key));
		else
			err_set(&why, "%s:%u: " SLICE_FMT " is not a domain",
			    table_path(names->table), line, SLICE_ARG(key));
		names_complain(names, line, key, why.text);
		return true;
	}
	name.name = slice_dup(names->arena, key);
	names_add(names, &name);
	return true;
}

static const struct conf_table *
table_of(const struct names *names, const struct conf_name *from)
{
	return conf_table_find(names->conf, arena_dup(names->arena,
	    from->name + 1, strlen(from->name) - 2));
}

static void
names_of_table(struct names *names, const struct conf_name *from)
{
	const struct conf_table *row = table_of(names, from);
	struct table *table;
	struct err err;

	/* conf_check_references complained; of a database: ours.c */
	if (row == NULL || table_spec_is_asked(row->spec))
		return;
	table = table_new(row->name, row->spec);
	names->from = from;
	names->table = table;
	names->path = arena_printf(names->arena, "%s", table_path(table)[0] ?
	    table_path(table) : row->name);
	if (table_each(table, names_take, names, &err) == TABLE_TROUBLE)
		names_complain(names, 0, SLICE(""), err.text);
	table_free(&table);
}

/* Where a table stands its keys come, so that the first of two still
 * counts. */
static void
names_expand(struct names *names)
{
	const struct conf_book *book = names->conf->book;

	for (size_t i = 0; i < book->said_count; i++)
		if (book->said[i].name[0] == '<')
			names_of_table(names, &book->said[i]);
		else
			names_add(names, &book->said[i]);
}

/* ---- watching --------------------------------------------------------- */

/* Note how a file looks; returns whether it is another, or may be. */
static bool
name_file_look(struct conf_name_file *file)
{
	struct stat st;
	bool is_other;

	memset(&st, 0, sizeof(st));
	(void)stat(file->path, &st);
	is_other = file->is_young || !table_looks_the_same(&st, &file->seen);
	file->seen = st;
	file->is_young = llabs(clock_wall_s() - st.st_mtim.tv_sec) <=
	    YOUNG_S;
	return is_other;
}

static void
watch_files(struct conf *conf, const struct names *names)
{
	struct conf_book *book = conf->book;

	for (size_t i = 0; i < book->said_count; i++) {
		struct conf_name_file file = { .is_young = false };
		const struct conf_table *row = book->said[i].name[0] == '<' ?
		    table_of(names, &book->said[i]) : NULL;
		struct table *table;

		if (row == NULL)
			continue;
		table = table_new(row->name, row->spec);
		file.path = arena_printf(conf->arena, "%s",
		    table_path(table));
		table_free(&table);
		if (file.path[0] == '\0')
			continue;
		(void)name_file_look(&file);
		book->name_files = arena_grow(conf->arena, book->name_files,
		    book->name_file_count, sizeof(*book->name_files));
		book->name_files[book->name_file_count++] = file;
	}
}

static void
note_databases(struct conf *conf, const struct names *names)
{
	const struct conf_book *book = conf->book;

	for (size_t i = 0; i < book->said_count; i++) {
		const struct conf_table *row = book->said[i].name[0] == '<' ?
		    table_of(names, &book->said[i]) : NULL;

		if (row != NULL && table_spec_is_asked(row->spec))
			conf_ours_add(conf, row, book->said[i].domain);
	}
}

void
conf_index_domains(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;
	struct conf_book *book = loader->book;
	struct names names = { .conf = conf, .arena = conf->arena,
	    .loader = loader };
	bool has_table = false;

	book->said = book->names;
	book->said_count = book->name_count;
	for (size_t i = 0; i < book->said_count && !has_table; i++)
		has_table = book->said[i].name[0] == '<';
	if (has_table) {
		conf->book = book;
		note_databases(conf, &names);
		watch_files(conf, &names);	/* before they are read */
		names_expand(&names);
		book->names = names.list;
		book->name_count = names.count;
	}
	conf_index_names(conf->arena, book,
	    loader->is_sealed ? NULL : loader);
}

static bool
is_same(const struct conf_book *book, const struct names *names)
{
	if (book->name_count != names->count)
		return false;
	for (size_t i = 0; i < names->count; i++)
		if (book->names[i].domain != names->list[i].domain ||
		    strcmp(book->names[i].name, names->list[i].name) != 0)
			return false;
	return true;
}

int
conf_domains_refresh(struct conf *conf, bool *out_is_changed,
    struct err *err)
{
	struct conf_book *book = conf->book;
	struct names names = { .conf = conf, .err = err };
	bool is_other = false;

	*out_is_changed = false;
	for (size_t i = 0; i < book->name_file_count; i++)
		is_other |= name_file_look(&book->name_files[i]);
	if (!is_other)
		return 0;
	names.arena = arena_new();
	names_expand(&names);
	if (names.is_bad || is_same(book, &names)) {
		arena_free(&names.arena);
		return names.is_bad ? -1 : 0;
	}
	book->names = names.list;
	book->name_count = names.count;
	conf_index_names(names.arena, book, NULL);
	arena_free(&book->names_arena);
	book->names_arena = names.arena;
	book->names_generation++;
	*out_is_changed = true;
	return 0;
}

/* redirect.c - addresses that become others
 *
 * In     routers with driver = redirect
 * Out    tables of aliases, words of a domain's block; forward
 * Holds  nothing
 * Spec   the Exim specification, chapter 22; zmailer.conf(5), domain, forward
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

/* A file for each name: each is a list.  returns false: it is not such a
 * router */
static bool
redirect_lists(struct exim4 *exim, struct exim4_driver *router,
    const char *domain)
{
	static const char name[] = "/$local_part";
	struct slice path = exim4_plain(exim->import->arena, exim4_value(exim,
	    router, "file")), place = path;
	const struct exim4_set *set;

	if (!slice_ends(path, name) || domain[0] == '<' || domain[0] == '.')
		return false;
	path = slice_first(path, path.n - (sizeof(name) - 1));
	if (slice_find(path, '$') < path.n)
		return false;
	set = exim4_set_of(exim, "localpartlist", slice_of(arena_printf(
	    exim->import->arena, "dsearch;" SLICE_FMT, SLICE_ARG(path))));
	for (size_t i = 0; i < set->count; i++)
		exim4_driver_say(exim, router, IMPORT_ADDRESSES,
		    "list %s@%s members %s/%s owner postmaster@%s",
		    set->words[i].text, domain, import_file_here(exim->import,
		    path), set->words[i].text, exim->host);
	(void)exim4_option(exim, router, "errors_to");
	(void)exim4_option(exim, router, "local_parts");
	if (set->count == 0)
		router->why = arena_printf(exim->import->arena, "file: no "
		    "list is in " SLICE_FMT ": write `list ADDRESS members "
		    "FILE owner ADDRESS`", SLICE_ARG(place));
	else
		router->differs = "a list is sent from owner-NAME; that, "
		    "NAME-owner and NAME-request go to its owner, whatever "
		    "aliases say: name a person (owner ADDRESS)";
	return true;
}

static void
redirect_forward(struct exim4 *exim, struct exim4_driver *router,
    const char *domain)
{
	const char *place = exim4_place(exim, exim4_value(exim, router,
	    "file"));

	(void)exim4_flag(exim, router, "check_local_user");
	if (redirect_lists(exim, router, domain))
		return;
	if (place == NULL || place[0] != '{') {
		router->why = "file: write `forward PATH` with the file of "
		    "each user, in braces of zmailer help forward";
		return;
	}
	exim4_driver_say(exim, router, IMPORT_DELIVERY, "forward %s", place);
	if (exim4_flag(exim, router, "allow_filter"))
		router->differs = "filters of Exim and Sieve in .forward are "
		    "not run: let Dovecot do Sieve (deliver lmtp "
		    "unix:/PATH)";
}

/* + or - before what does not count in a name. */
static bool
redirect_suffix(struct exim4 *exim, struct exim4_driver *router)
{
	struct exim4_row *row = exim4_option(exim, router,
	    "local_part_suffix");
	struct exim4_list list;
	struct str bytes = STR_INIT;
	struct slice item;
	bool is_good;

	(void)exim4_option(exim, router, "local_part_suffix_optional");
	if (row == NULL)
		return true;
	exim4_list_begin(row->value, &list);
	while (exim4_list_next(exim->import->arena, &list, &item))
		if (item.n == 2 && item.p[1] == '*' && strchr("+-_=",
		    item.p[0]) != NULL)
			str_addc(&bytes, item.p[0]);
	is_good = bytes.len > 0;
	if (is_good)
		exim4_say(exim, row, IMPORT_SITE, "recipient-delimiter %s",
		    bytes.buf);
	else
		exim4_note(exim, row, IMPORT_MISSING, "write such addresses "
		    "into the aliases");
	str_release(&bytes);
	return is_good;
}

/* ---- names in the file itself ------------------------------------------- */

/* What data is, as a value of aliases; NULL: it is made of the address. */
static const char *
redirect_constant(struct exim4 *exim, struct slice data)
{
	struct import *import = exim->import;
	struct slice plain = exim4_filled(exim, data);

	if (slice_starts(plain, ":blackhole:"))
		return "/dev/null";
	if (slice_starts(plain, "$local_part@")) {
		const char *domain = import_domain(import, slice_from(plain,
		    strlen("$local_part@")));

		return domain == NULL ? NULL : arena_printf(import->arena,
		    "@%s", domain);
	}
	if (plain.n == 0 || slice_find(plain, '$') < plain.n ||
	    slice_starts(plain, ":") || slice_find(plain, '\n') < plain.n)
		return NULL;
	return slice_dup(import->arena, plain);
}

/* NAME: VALUE for each of local_parts, or for all. */
static const char *
constant_table(struct exim4 *exim, struct slice parts, const char *value,
    const char *domain)
{
	struct slice key = slice_of(arena_printf(exim->import->arena, "%s "
	    SLICE_FMT " %s", value, SLICE_ARG(parts), parts.n > 0 &&
	    value[0] != '@' ? "" : domain));
	const char *ours = exim4_made(exim, "aliases", key), *word;
	struct str rows = STR_INIT;
	struct exim4_list list;
	struct slice item;

	if (ours != NULL)
		return ours;
	exim4_list_begin(parts, &list);
	while (parts.n > 0 && exim4_list_next(exim->import->arena, &list,
	    &item)) {
		word = import_word(exim->import, item);
		if (word == NULL || strchr("!+^*", word[0]) != NULL)
			break;
		str_addf(&rows, value[0] == '@' ? "%s: %s%s\n" : "%s: %s\n",
		    word, value[0] == '@' ? word : value, value);
	}
	if (parts.n == 0)
		str_addf(&rows, "@%s: %s\n", domain, value);
	if (rows.len > 0) {
		ours = arena_printf(exim->import->arena, "<%s>",
		    import_table_add(exim->import, "", "file", "aliases",
		    &rows, IMPORT_EVERYBODY));
		exim4_made_put(exim, "aliases", key, ours);
	}
	str_release(&rows);
	return ours;
}

/* ---- all of it ---------------------------------------------------------- */

static void
redirect_data(struct exim4 *exim, struct exim4_driver *router,
    const char *domain, struct str *aliases)
{
	struct slice data = exim4_value(exim, router, "data");
	struct slice parts = exim4_value(exim, router, "local_parts");
	const char *value = redirect_constant(exim, data), *ours = NULL;
	const char *why = "local_parts: write these names into the aliases "
	    "of the domain";
	struct exim4_lookup lookup;

	if (exim4_lookup_item(parts, &lookup)) {
		router->why = why;
		return;
	}
	if (value != NULL && domain[0] != '<' && domain[0] != '.')
		ours = constant_table(exim, parts, value, domain);
	else if (value == NULL)
		ours = exim4_aliases(exim, data, domain, &why);
	else
		why = "write `@DOMAIN: VALUE` for each of these domains into "
		    "a table, and `virtual <TABLE>`";
	if (ours == NULL)
		router->why = why;
	else if (strstr(aliases->buf, ours) == NULL)
		str_addf(aliases, " %s", ours);
	if (ours != NULL && exim4_lookup_cut(exim->import->arena, data,
	    &lookup) && lookup.is_star)
		router->differs = "*: a name that has a mailbox is not one of "
		    "all other names here";
	if (ours != NULL && exim4_flag(exim, router, "unseen"))
		router->differs = "unseen: mail goes on as well: write "
		    "`copy ADDRESS to RECIPIENT` instead of the alias";
	if (ours != NULL && exim4_option(exim, router, "user") != NULL &&
	    value != NULL)
		router->differs = "user: files and programs of aliases are "
		    "served by the owner of their table, or nobody";
}

bool
exim4_redirect(struct exim4 *exim, struct exim4_driver *router,
    const char *domain, struct str *aliases)
{
	struct slice data = exim4_value(exim, router, "data");

	if (exim4_option(exim, router, "condition") != NULL &&
	    exim4_value(exim, router, "condition").n > 0) {
		router->why = "condition: only some of the mail becomes "
		    "another's: write the addresses into a table, and "
		    "`virtual <TABLE>`";
		return true;
	}
	if (exim4_option(exim, router, "file") != NULL) {
		redirect_forward(exim, router, domain);
		return true;
	}
	if (!redirect_suffix(exim, router)) {
		router->is_odd = true;
		router->differs = "local_part_suffix: write such addresses "
		    "into the aliases";
		return true;
	}
	if (slice_starts(data, ":fail:") && exim4_option(exim, router,
	    "local_parts") == NULL && exim4_option(exim, router,
	    "check_local_user") == NULL) {
		router->needless = "names that nothing has are refused "
		    "anyway";
		return false;
	}
	if (slice_starts(data, ":fail:") || slice_starts(data, ":defer:")) {
		router->why = "write `reject to ADDRESS text \"WORDS\"`";
		return true;
	}
	redirect_data(exim, router, domain, aliases);
	return true;
}

/* rewrite.c - addresses that Exim rewrites
 *
 * In     rules after `begin rewrite`; headers_rewrite of a transport
 * Out    canonical, generic
 * Holds  nothing
 * Spec   the Exim specification, chapter 31; zmailer.conf(5), canonical
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

/* Flags as words of canonical; NULL: they have others. */
static const char *
rewrite_words(struct exim4 *exim, struct slice flags)
{
	static const char senders[] = "Ffsr", recipients[] = "TtcbQ",
	    both[] = "hE";
	bool is_sender = false, is_recipient = false, is_head = false,
	    is_envelope = false;

	for (size_t i = 0; i < flags.n; i++) {
		char c = flags.p[i];

		if (c == 'q' || c == 'R' || c == 'w')
			continue;
		if (c == '\0' || (strchr(senders, c) == NULL &&
		    strchr(recipients, c) == NULL && strchr(both, c) == NULL))
			return NULL;
		is_sender |= strchr(recipients, c) == NULL;
		is_recipient |= strchr(senders, c) == NULL;
		is_envelope |= strchr("FTE", c) != NULL;
		is_head |= strchr("FTE", c) == NULL;
	}
	return arena_printf(exim->import->arena, "%s%s", is_recipient ==
	    is_sender ? "" : is_sender ? " senders" : " recipients",
	    is_head == is_envelope ? "" : is_head ? " headers" :
	    " envelope");
}

/* Rows of a file (NAME: ADDRESS) for each domain that the pattern has. */
static bool
rewrite_file(struct exim4 *exim, const struct exim4_set *domains,
    const struct exim4_lookup *lookup, struct str *rows,
    const char **out_why)
{
	struct import_entries entries;

	if (!slice_ends(lookup->type, "lsearch") ||
	    !slice_is(lookup->key, "$local_part") ||
	    !slice_is(lookup->found, "$value") ||
	    !exim4_entries(exim, lookup->place, &entries, out_why))
		return false;
	for (size_t i = 0; i < entries.count; i++)
		for (size_t k = 0; k < domains->count; k++)
			if (domains->words[k].text[0] != '.' &&
			    domains->words[k].text[0] != '*' &&
			    domains->words[k].text[0] != '<')
				str_addf(rows, SLICE_FMT "@%s " SLICE_FMT
				    "\n", SLICE_ARG(entries.rows[i].key),
				    domains->words[k].text, SLICE_ARG(
				    entries.rows[i].value));
	return true;
}

/* One rule as rows of a table.  returns false: it has no place, which is
 * why */
static bool
rewrite_rows(struct exim4 *exim, struct slice pattern, struct slice to,
    struct str *rows, const char **out_why)
{
	struct slice domain = slice_from(pattern, slice_find(pattern, '@') +
	    1);
	const struct exim4_set *set = exim4_set_of(exim, "domainlist",
	    domain);
	struct exim4_lookup lookup;
	const char *name;

	*out_why = "write its rows into a table, and `canonical <TABLE>`";
	to = exim4_filled(exim, to);
	if (!slice_starts(pattern, "*@")) {
		if (slice_find(to, '$') < to.n || import_word(exim->import,
		    pattern) == NULL || import_word(exim->import, to) == NULL)
			return false;
		str_addf(rows, SLICE_FMT " " SLICE_FMT "\n",
		    SLICE_ARG(pattern), SLICE_ARG(to));
		return true;
	}
	if (set->odd != NULL)
		return false;
	if (exim4_lookup_cut(exim->import->arena, to, &lookup))
		return rewrite_file(exim, set, &lookup, rows, out_why);
	if (!slice_starts(to, "$1@") && !slice_starts(to, "$local_part@"))
		return false;
	name = import_domain(exim->import, slice_from(to, slice_find(to,
	    '@') + 1));
	for (size_t k = 0; name != NULL && k < set->count; k++)
		if (set->words[k].text[0] != '*' &&
		    set->words[k].text[0] != '.')
			str_addf(rows, "@%s @%s\n", set->words[k].text,
			    name);
	return name != NULL && rows->len > 0;
}

/* The replacement, in quotes or not, and the flags after it. */
static void
rewrite_cut(struct exim4 *exim, struct slice value, struct slice *out_to,
    struct slice *out_flags)
{
	struct slice rest = value, word = SLICE("");
	size_t n = 1;

	if (slice_starts(value, "\"")) {
		while (n < value.n && value.p[n] != '"')
			n += 1 + (size_t)(value.p[n] == '\\');
		word = slice_first(value, n + 1);
		rest = slice_from(value, n + 1);
	} else
		(void)slice_word(&rest, &word);
	*out_to = exim4_unquote(exim->import->arena, word);
	*out_flags = slice_trim(rest);
}

static void
rewrite_visit(struct exim4 *exim, struct exim4_row *row)
{
	struct slice to, flags;
	struct str rows = STR_INIT;
	const char *words, *why = NULL;

	rewrite_cut(exim, row->said.value, &to, &flags);
	words = rewrite_words(exim, flags);
	if (words == NULL)
		exim4_note(exim, row, IMPORT_MISSING, "flags " SLICE_FMT
		    ": write its rows into a table, and `canonical <TABLE>`",
		    SLICE_ARG(flags));
	else if (!rewrite_rows(exim, exim4_filled(exim, row->said.name), to,
	    &rows, &why))
		exim4_note(exim, row, IMPORT_MISSING, "%s", why);
	else if (rows.len == 0)
		exim4_note(exim, row, IMPORT_NOT_NEEDED, "its file names "
		    "nobody");
	else
		exim4_say(exim, row, IMPORT_ADDRESSES, "canonical <%s>%s",
		    import_table_add(exim->import, "", "file", "canonical",
		    &rows, IMPORT_EVERYBODY), words);
	str_release(&rows);
}

void
exim4_rewrites(struct exim4 *exim)
{
	for (size_t i = 0; i < exim->count; i++)
		if (exim->rows[i].said.section == EXIM4_REWRITE &&
		    exim->rows[i].said.kind == EXIM4_RULE &&
		    !exim->rows[i].item.is_told)
			rewrite_visit(exim, &exim->rows[i]);
}

/* ---- on the way out ----------------------------------------------------- */

void
exim4_generic(struct exim4 *exim, struct exim4_driver *transport)
{
	struct exim4_row *row = exim4_option(exim, transport,
	    "headers_rewrite");
	struct exim4_row *path = exim4_option(exim, transport,
	    "return_path");
	struct slice rule, pattern, to;
	struct str rows = STR_INIT;
	struct exim4_list list;
	const char *why = NULL, *ours;
	bool is_good = true;

	if (row == NULL || row->item.is_told) {
		if (path != NULL && !path->item.is_told && row == NULL)
			exim4_note(exim, path, IMPORT_MISSING, "write "
			    "`generic <TABLE>` for what senders become");
		return;
	}
	exim4_list_begin(row->value, &list);
	while (is_good && exim4_list_next(exim->import->arena, &list, &rule))
		is_good = slice_word(&rule, &pattern) && slice_word(&rule,
		    &to) && rewrite_rows(exim, exim4_filled(exim, pattern),
		    to, &rows, &why);
	if (!is_good || rows.len == 0)
		exim4_note(exim, row, IMPORT_MISSING, "write `generic "
		    "<TABLE>` for what addresses become");
	else {
		ours = exim4_made(exim, "generic", row->value);
		if (ours == NULL) {
			ours = import_table_add(exim->import, "", "file",
			    "generic", &rows, IMPORT_EVERYBODY);
			exim4_made_put(exim, "generic", row->value, ours);
		}
		exim4_say(exim, row, IMPORT_ADDRESSES, "generic <%s>", ours);
		if (path != NULL)
			exim4_say(exim, path, IMPORT_ADDRESSES,
			    "generic <%s>", ours);
	}
	str_release(&rows);
}

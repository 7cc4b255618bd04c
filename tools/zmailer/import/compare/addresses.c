/* addresses.c - which addresses both mailers are asked about
 *
 * In     a file, or the tables that the importer made
 * Out    addresses, each once
 * Holds  nothing
 * Trusts no line: it becomes a word of another program's command
 * Spec   compare.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/compare/compare.h"

#include "base/banned.h"

enum { ADDRESS_BYTES_MAX = 320 };

static bool
address_may_be_asked(struct slice address)
{
	if (address.n == 0 || address.n > ADDRESS_BYTES_MAX ||
	    address.p[0] == '-')
		return false;
	for (size_t i = 0; i < address.n; i++)
		if ((unsigned char)address.p[i] <= ' ' || address.p[i] == 127)
			return false;
	return true;
}

/* One address more, unless it is there; refused are those that begin with -,
 * have a blank or a control, or are too long.
 * returns whether it may be asked about */
static bool
compare_address_add(struct compare *compare, struct slice address)
{
	if (!address_may_be_asked(address))
		return false;
	if (compare->addresses == NULL)
		compare->addresses = arena_alloc(compare->import->arena,
		    COMPARE_ADDRESSES_MAX * sizeof(*compare->addresses));
	for (size_t i = 0; i < compare->count; i++)
		if (slice_is(address, compare->addresses[i]))
			return true;
	if (compare->count < COMPARE_ADDRESSES_MAX)
		compare->addresses[compare->count++] = slice_dup(
		    compare->import->arena, address);
	return true;
}

int
compare_addresses_read(struct compare *compare, const char *path,
    struct err *err)
{
	struct slice text, line;

	if (import_file_take(compare->import->arena, path, &text, err) != 0)
		return err_prefix(err, "%s", path);
	for (unsigned number = 1; slice_cut(&text, '\n', &line); number++) {
		line = slice_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (!compare_address_add(compare, line))
			return err_set(err, "%s:%u: no address that could be "
			    "asked about: it begins with -, or has a blank or "
			    "a control", path, number);
		if (compare->count == COMPARE_ADDRESSES_MAX)
			return err_set(err, "%s:%u: more than %d addresses",
			    path, number, COMPARE_ADDRESSES_MAX);
	}
	return 0;
}

/* ---- of the configuration ----------------------------------------------- */

/* A user that no table has. */
static void
address_unknown(struct compare *compare, struct slice domain)
{
	if (slice_find(domain, '.') < domain.n || slice_is(domain,
	    "localhost"))
		(void)compare_address_add(compare, slice_of(arena_printf(
		    compare->import->arena, "zm-nobody@%s" SLICE_FMT,
		    slice_starts(domain, ".") ? "below" : "",
		    SLICE_ARG(domain))));
}

static const char *
address_own_host(const struct import *import)
{
	for (size_t i = 0; i < import->statement_count; i++)
		if (strncmp(import->statements[i].text, "host ", 5) == 0)
			return import->statements[i].text + 5;
	return "localhost";
}

/* user@domain, @domain, a name of aliases, a domain of routes. */
static void
address_of_key(struct compare *compare, const struct import_file *file,
    struct slice key)
{
	size_t at = slice_find(key, '@');

	if (at < key.n) {
		if (at > 0)
			(void)compare_address_add(compare, key);
		address_unknown(compare, slice_from(key, at + 1));
	} else if (strncmp(file->name, "aliases", 7) == 0)
		(void)compare_address_add(compare, slice_of(arena_printf(
		    compare->import->arena, SLICE_FMT "@%s", SLICE_ARG(key),
		    address_own_host(compare->import))));
	else if (key.n > 1)
		address_unknown(compare, key);
}

/* Words of "domain a b { ... }". */
static void
address_of_statement(struct compare *compare, const char *text)
{
	struct slice rest = slice_of(text), word;

	(void)slice_word(&rest, &word);
	while (slice_word(&rest, &word) && !slice_is(word, "{"))
		address_unknown(compare, word);
}

void
compare_addresses_find(struct compare *compare)
{
	struct import *import = compare->import;
	struct import_entries entries;

	for (size_t i = 0; i < import->file_count; i++) {
		/* rules are no part of where mail goes */
		if (import->files[i].reader != IMPORT_EVERYBODY ||
		    strncmp(import->files[i].name, "let-in", 6) == 0 ||
		    strncmp(import->files[i].name, "kept-out", 8) == 0)
			continue;
		import_read_table(import->arena, str_slice(
		    &import->files[i].text), &entries);
		for (size_t k = 0; k < entries.count; k++)
			address_of_key(compare, &import->files[i],
			    entries.rows[k].key);
	}
	for (size_t i = 0; i < import->statement_count; i++)
		if (strncmp(import->statements[i].text, "domain ", 7) == 0)
			address_of_statement(compare,
			    import->statements[i].text);
	(void)compare_address_add(compare, SLICE("zm-nobody@zm.example"));
}

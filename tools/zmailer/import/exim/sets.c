/* sets.c - lists of domains, hosts and addresses of exim4.conf
 *
 * In     values of `domains`, `hosts` and so on, named lists
 * Out    words for a statement
 * Holds  sets by their text, in the arena
 * Spec   the Exim specification, chapter 10 ("Domain, host, address, and
 *        local part lists")
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/net.h"
#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

enum { SETS_MAX = 500, SETS_DEPTH_MAX = 10 };

struct exim4_reading {		/* a list that is being read */
	struct exim4		*exim;
	const char		*type;	/* domainlist, hostlist, ... */
	struct exim4_set	*set;
	int			 depth;
};

static void set_add_list(struct exim4_reading *reading, struct slice value,
    bool is_not);

static void
set_odd(struct exim4_reading *reading, struct slice item)
{
	if (reading->set->odd == NULL)
		reading->set->odd = slice_dup(reading->exim->import->arena,
		    slice_first(item, 400));
}

static void
set_add_word(struct exim4_reading *reading, const char *text, bool is_not)
{
	struct exim4_set *set = reading->set;

	if (set->count == EXIM4_WORDS_MAX)
		set_odd(reading, SLICE("more than 5000 names"));
	else
		set->words[set->count++] = (struct exim4_word){ text, is_not };
}

/* "*.x" and what is a name, an address or a network. */
static const char *
set_word(struct exim4_reading *reading, struct slice item)
{
	struct import *import = reading->exim->import;
	struct net net;

	if (slice_is(item, "*"))
		return "*";
	if (strcmp(reading->type, "hostlist") == 0 &&
	    net_parse(item, &net, NULL) == 0)
		return slice_dup(import->arena, item);
	if (strcmp(reading->type, "addresslist") == 0 &&
	    slice_find(item, '@') < item.n) {
		item = slice_from(item, slice_starts(item, "*@"));
		return import_word(import, item);
	}
	if (strcmp(reading->type, "localpartlist") == 0)
		return import_word(import, item);
	return import_domain(import, slice_from(item, slice_starts(item,
	    "*.")));
}

static void
set_add_file(struct exim4_reading *reading, struct slice item,
    struct slice path, bool is_partial, bool is_not)
{
	struct exim4 *exim = reading->exim;
	struct import_entries entries;
	const char *why, *word;

	if (!exim4_entries(exim, path, &entries, &why)) {
		set_odd(reading, slice_of(arena_printf(exim->import->arena,
		    SLICE_FMT " (%s)", SLICE_ARG(item), why)));
		return;
	}
	for (size_t i = 0; i < entries.count; i++) {
		struct slice key = entries.rows[i].key;

		word = set_word(reading, key);
		if (word == NULL)
			set_odd(reading, key);
		else
			set_add_word(reading, word, is_not);
		/* *.x of a partial look-up is x, too */
		if (word != NULL && is_partial && slice_starts(key, "*."))
			set_add_word(reading, word + 1, is_not);
	}
}

static int
name_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of files in a directory, in their order. */
static void
set_add_directory(struct exim4_reading *reading, struct slice item,
    struct slice path, bool is_not)
{
	struct import *import = reading->exim->import;
	DIR *dir = opendir(import_file_here(import, path));
	const char **names = arena_alloc(import->arena, EXIM4_WORDS_MAX *
	    sizeof(*names));
	struct dirent *entry;
	size_t count = 0;

	if (dir == NULL) {
		set_odd(reading, item);
		return;
	}
	while (count < EXIM4_WORDS_MAX && (entry = readdir(dir)) != NULL) {
		const char *word = entry->d_name[0] == '.' ? NULL :
		    set_word(reading, slice_of(entry->d_name));

		if (word != NULL)
			names[count++] = word;
	}
	(void)closedir(dir);
	if (count > 0)
		qsort(names, count, sizeof(*names), name_order);
	for (size_t i = 0; i < count; i++)
		set_add_word(reading, names[i], is_not);
}

/* TYPE;FILE, TYPE;QUERY, ${lookup ...}; returns false: it is none of these */
static bool
set_add_lookup(struct exim4_reading *reading, struct slice item, bool is_not)
{
	struct exim4 *exim = reading->exim;
	struct exim4_lookup lookup;
	const char *why, *ours;
	bool is_item = exim4_lookup_item(item, &lookup);

	if (!is_item && !exim4_lookup_cut(exim->import->arena, item, &lookup))
		return false;
	if (lookup.is_query) {
		ours = exim4_question(exim, lookup.type, lookup.place,
		    strcmp(reading->type, "hostlist") == 0 ? "networks" :
		    strcmp(reading->type, "addresslist") == 0 ? "addresses" :
		    "domains", &why);
		if (ours != NULL)
			set_add_word(reading, ours, is_not);
		else
			set_odd(reading, item);
	} else if (slice_is(lookup.type, "dsearch"))
		set_add_directory(reading, item, lookup.place, is_not);
	else if (slice_ends(lookup.type, "lsearch") && (is_item ||
	    slice_is(lookup.key, "$domain")))
		set_add_file(reading, item, lookup.place, lookup.is_partial,
		    is_not);
	else
		set_odd(reading, item);
	return true;
}

static bool
set_add_named(struct exim4_reading *reading, struct slice name, bool is_not)
{
	struct exim4 *exim = reading->exim;
	const char *type = reading->type;

	for (size_t i = 0; i < exim->count; i++) {
		struct exim4_row *row = &exim->rows[i];

		if (row->said.kind != EXIM4_LIST ||
		    !slice_is(row->said.verb, type) ||
		    !slice_equal(row->said.name, name))
			continue;
		row->is_used = true;
		reading->depth++;
		if (reading->depth > SETS_DEPTH_MAX)
			set_odd(reading, name);
		else
			set_add_list(reading, row->value, is_not);
		reading->depth--;
		return true;
	}
	return false;
}

static void
set_add_item(struct exim4_reading *reading, struct slice item, bool is_not)
{
	struct exim4 *exim = reading->exim;
	const char *word;

	while (slice_starts(item, "!")) {
		is_not = !is_not;
		item = slice_trim(slice_from(item, 1));
	}
	if (slice_starts(item, "+")) {
		if (!set_add_named(reading, slice_from(item, 1), is_not))
			set_odd(reading, item);
		return;
	}
	item = exim4_filled(exim, item);
	if (slice_is(item, "@"))
		set_add_word(reading, exim->host, is_not);
	else if (slice_is(item, "@[]") && strcmp(reading->type,
	    "domainlist") == 0)
		return;		/* literals of addresses are ours anyway */
	else if (item.n == 0)
		set_add_word(reading, "", is_not);
	else if (set_add_lookup(reading, item, is_not))
		return;
	else if (slice_starts(item, "/"))
		set_add_file(reading, item, item, false, is_not);
	else if ((word = set_word(reading, item)) != NULL)
		set_add_word(reading, word, is_not);
	else
		set_odd(reading, item);
}

static void
set_add_list(struct exim4_reading *reading, struct slice value, bool is_not)
{
	struct arena *arena = reading->exim->import->arena;
	struct exim4_list list;
	struct slice item;

	exim4_list_begin(value, &list);
	while (exim4_list_next(arena, &list, &item))
		set_add_item(reading, item, is_not);
}

const struct exim4_set *
exim4_set_of(struct exim4 *exim, const char *type, struct slice value)
{
	struct arena *arena = exim->import->arena;
	struct slice key = slice_of(arena_printf(arena, "%s " SLICE_FMT, type,
	    SLICE_ARG(value)));
	uint32_t number = import_name_number(&exim->sets, key);
	struct exim4_set *set;
	struct exim4_reading reading = { .exim = exim, .type = type };

	if (exim->kept == NULL)
		exim->kept = arena_alloc(arena, SETS_MAX *
		    sizeof(*exim->kept));
	if (number > 0)
		return &exim->kept[number - 1];
	set = &exim->kept[exim->kept_count < SETS_MAX ? exim->kept_count++ :
	    SETS_MAX - 1];
	/* one list is read at a time, and what it has is copied */
	if (exim->words == NULL)
		exim->words = arena_alloc(arena, EXIM4_WORDS_MAX *
		    sizeof(*exim->words));
	*set = (struct exim4_set){ .words = exim->words, .is_given = true };
	reading.set = set;
	set_add_list(&reading, value, false);
	set->words = arena_alloc(arena, (set->count + 1) *
	    sizeof(*set->words));
	memcpy(set->words, exim->words, set->count * sizeof(*set->words));
	if (exim->kept_count < SETS_MAX)
		import_name_put(arena, &exim->sets, key,
		    (uint32_t)exim->kept_count);
	return set;
}

/* Is that word one of these?  .x has all that ends so. */
static bool
word_has(const char *word, const char *wanted)
{
	size_t n = strlen(word), m = strlen(wanted);

	if (strcmp(word, "*") == 0 || strcmp(word, wanted) == 0)
		return true;
	return word[0] == '.' && m > n && strcmp(wanted + m - n, word) == 0;
}

bool
exim4_set_has(const struct exim4_set *set, const char *word)
{
	for (size_t i = 0; i < set->count; i++)
		if (word_has(set->words[i].text, word))
			return !set->words[i].is_not;
	return set->count > 0 && set->words[set->count - 1].is_not;
}

bool
exim4_set_is_positive(const struct exim4_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (!set->words[i].is_not)
			return true;
	return false;
}

/* domains.c - our domains, and addresses that become others
 *
 * In     mydestination, virtual and relay domains, maps of addresses
 * Out    domain with its users, aliases and way of delivery; virtual,
 *        canonical, generic, masquerade, copy
 * Holds  nothing
 * Spec   ADDRESS_CLASS_README of Postfix; zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

/* The keys of a table, or the words of a file. */
static void
domains_of_table(struct import *import, const char *name, struct slice spec,
    import_domain_fn *fn, void *context)
{
	struct import_map map;

	while (import_map_next(import, name, &spec, &map)) {
		if (import_map_is_question(&map)) {
			const char *table = import_question_add(import, name,
			    "domains", &map);

			if (table != NULL)
				fn(import, context, slice_of(arena_printf(
				    import->arena, "<%s>", table)));
			continue;
		}
		if (!map.is_lines)
			import_note(import, name, map.spec, IMPORT_MISSING,
			    "patterns name no domains: write them out");
		for (size_t i = 0; map.is_lines && i < map.entries.count; i++)
			if (slice_find(map.entries.rows[i].key, '@') ==
			    map.entries.rows[i].key.n)
				fn(import, context, map.entries.rows[i].key);
	}
}

static void
domains_of_file(struct import *import, const char *name, struct slice path,
    import_domain_fn *fn, void *context)
{
	struct import_lines lines = { .number = 0 };
	struct slice line, word;
	struct err err;
	unsigned number;

	if (import_file_take(import->arena, import_path(import, path),
	    &lines.rest, &err) != 0) {
		import_note(import, name, path, IMPORT_MISSING,
		    "it cannot be read: %s", err.text);
		return;
	}
	while (import_line_next(import->arena, &lines, &line, &number))
		while (import_list_next(&line, &word))
			fn(import, context, word);
}

void
import_domains_each(struct import *import, const char *name,
    import_domain_fn *fn, void *context)
{
	struct slice rest = import_value(import, name), one;

	while (import_list_next(&rest, &one)) {
		if (slice_starts(one, "/") || slice_starts(one, "<"))
			domains_of_file(import, name, slice_from(one,
			    one.p[0] == '<'), fn, context);
		else if (slice_find(one, ':') < one.n &&
		    !slice_starts(one, "["))
			domains_of_table(import, name, one, fn, context);
		else if (import_word(import, one) == NULL ||
		    one.p[0] == '!' || one.p[0] == '[')
			import_note(import, name, one, IMPORT_MISSING,
			    "it is no name of a domain");
		else
			fn(import, context, one);
	}
}

enum { DOMAIN_WORDS_BYTES = 1000 };
struct domain_list {
	struct str	words;
	const char	*name;		/* of the setting */
	const char	*tables;	/* " <t> <t>" in databases, or NULL */
};

/* Each is ours once; the first setting that has it counts. */
static void
domain_collect(struct import *import, void *context, struct slice domain)
{
	struct domain_list *list = context;
	const char *word, *key;

	if (slice_starts(domain, "<")) {
		list->tables = arena_printf(import->arena, "%s " SLICE_FMT,
		    list->tables ? list->tables : "", SLICE_ARG(domain));
		return;
	}
	word = import_domain(import, domain);
	if (word == NULL) {
		import_note(import, list->name, domain, IMPORT_MISSING,
		    "it is no name of a domain");
		return;
	}
	key = arena_printf(import->arena, " %s ", word);
	if (strstr(import->domains.buf, key) != NULL)
		return;
	str_addf(&import->domains, " %s ", word);
	str_addf(&list->words, " %s", word);
}

/* Of a table of addresses only what looks like a domain. */
static void
domain_dotted(struct import *import, void *context, struct slice domain)
{
	if (slice_find(domain, '.') < domain.n || slice_starts(domain, "<"))
		domain_collect(import, context, domain);
}

/* What follows `domain`: the names, or a table if there are many. */
static const char *
domain_words(struct import *import, struct domain_list *list)
{
	struct slice rest = str_slice(&list->words), word;
	const char *tables = list->tables ? list->tables : "";
	struct str text = STR_INIT;

	if (list->words.len <= DOMAIN_WORDS_BYTES)
		return arena_printf(import->arena, "%s%s", list->words.buf,
		    tables);
	while (slice_word(&rest, &word))
		str_addf(&text, SLICE_FMT " -\n", SLICE_ARG(word));
	return arena_printf(import->arena, " <%s>%s", import_table_add(import,
	    list->name, "file", "domains", &text, IMPORT_EVERYBODY), tables);
}

static bool
domain_has_any(const struct domain_list *list)
{
	return list->words.len > 0 || list->tables != NULL;
}

/* `deliver ...` of TRANSPORT:HOP, NULL: noted for name. */
static const char *
deliver_of(struct import *import, const char *name)
{
	struct slice value = import_value(import, name);
	const char *why = "", *target;

	if (value.n == 0)
		return "";
	target = import_transport(import, value, &why);
	if (target != NULL && (strncmp(target, "lmtp ", 5) == 0 ||
	    strncmp(target, "hold", 4) == 0))
		return arena_printf(import->arena, "deliver %s", target);
	if (target != NULL && target[0] == '[')
		return arena_printf(import->arena, "deliver smtp %s", target);
	import_note(import, name, SLICE(""), IMPORT_MISSING, "%s",
	    why[0] != '\0' ? why : "write `deliver` into the block of these "
	    "domains (zmailer help deliver)");
	return NULL;
}

void
import_aliases(struct import *import, const char *name)
{
	/* the preset's file may not be there, and need not be */
	if (import_setting(import, name) != NULL)
		import->aliases = import_maps_add(import, name, "aliases",
		    NULL);
}

/* passwd, or a table of the users. */
static const char *
local_users(struct import *import)
{
	static const char name[] = "local_recipient_maps";
	struct slice value = import_value(import, name), rest = value, one;
	struct str maps = STR_INIT;
	const char *users = NULL;

	if (import_setting(import, name) == NULL)
		return NULL;
	while (import_list_next(&rest, &one))
		if (!slice_ends(one, "unix:passwd.byname") && strstr(
		    slice_dup(import->arena, import_value(import,
		    "alias_maps")), slice_dup(import->arena, one)) == NULL)
			str_addf(&maps, SLICE_FMT " ", SLICE_ARG(one));
	if (value.n == 0 || slice_starts(str_slice(&maps), "static:"))
		users = "any";
	else if (maps.len > 0)
		users = import_users_add(import, name, slice_copy(
		    import->arena, str_slice(&maps)));
	str_release(&maps);
	return users;
}

void
import_destination(struct import *import, const char *name)
{
	struct domain_list list = { STR_INIT, name, NULL };
	const char *deliver = deliver_of(import, "mailbox_transport");
	const char *users = local_users(import);
	struct str block = STR_INIT;

	import_domains_each(import, name, domain_collect, &list);
	if (users != NULL)
		str_addf(&block, "users %s; ", users);
	if (import->aliases != NULL && import->aliases[0] != '\0')
		str_addf(&block, "aliases %s; ", import->aliases);
	if (deliver != NULL && deliver[0] != '\0')
		str_addf(&block, "%s; ", deliver);
	if (block.len > 0)
		str_truncate(&block, block.len - 2);
	if (domain_has_any(&list))
		import_say(import, IMPORT_DOMAINS, "mydestination alias_maps "
		    "local_recipient_maps mailbox_transport", block.len > 0 ?
		    "domain%s { %s }" : "domain%s",
		    domain_words(import, &list), block.buf);
	else
		/* else the host's own name would be ours by itself */
		import_note(import, name, SLICE(""), IMPORT_DIFFERS,
		    "it names nobody: the presets here make host and "
		    "localhost ours where no domain or route stands");
	str_release(&list.words);
	str_release(&block);
}

void
import_mailbox_domains(struct import *import, const char *name)
{
	static const char from[] = "virtual_mailbox_domains "
	    "virtual_mailbox_maps virtual_transport virtual_mailbox_base "
	    "virtual_uid_maps virtual_gid_maps";
	struct domain_list list = { STR_INIT, name, NULL };
	const char *users, *deliver = "";

	if (!import_is_set(import, name))
		return;
	import_domains_each(import, name, domain_collect, &list);
	users = import_users_add(import, "virtual_mailbox_maps",
	    import_value(import, "virtual_mailbox_maps"));
	if (!slice_is(import_value(import, "virtual_transport"), "virtual"))
		deliver = deliver_of(import, "virtual_transport");
	else
		import_virtual_mailboxes(import);
	if (users[0] == '\0' && (deliver == NULL || deliver[0] == '\0')) {
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "no table says who has mail there: write `domain NAME... "
		    "{ users <TABLE>; deliver ... }`; until then mail for "
		    "them is refused");
		str_truncate(&list.words, 0);
		list.tables = NULL;
	}
	if (domain_has_any(&list) && users[0] == '\0')
		import_note(import, name, SLICE(""), IMPORT_DIFFERS,
		    "no table says who has mail there: every address is "
		    "taken, and virtual_transport decides");
	if (domain_has_any(&list))
		import_say(import, IMPORT_DOMAINS, from,
		    "domain%s { users %s; aliases %s%s%s }",
		    domain_words(import, &list),
		    users[0] == '\0' ? "any" : users,
		    import_no_aliases_say(import), deliver != NULL &&
		    deliver[0] != '\0' ? "; " : "", deliver == NULL ? "" :
		    deliver);
	str_release(&list.words);
}

/* ---- addresses that become others --------------------------------------- */

/* Domains among the keys are virtual alias domains; user@ is not one. */
static const char *
virtual_entry(struct import *import, const char *name,
    const struct import_map *map, struct import_entry *entry)
{
	struct slice value = entry->value, one;
	struct str out = STR_INIT;
	const char *text;
	size_t at = slice_find(entry->key, '@');

	(void)name;
	if (at == entry->key.n && slice_find(entry->key, '.') < at) {
		import_entry_note(import, map, entry, IMPORT_NOT_NEEDED,
		    "a domain's name: domain says whose mail ends here");
		return NULL;
	}
	if (at == entry->key.n) {
		entry->key = slice_of(arena_printf(import->arena, SLICE_FMT
		    "@" SLICE_FMT, SLICE_ARG(entry->key), SLICE_ARG(
		    import_value(import, "myhostname"))));
		import_entry_note(import, map, entry, IMPORT_DIFFERS,
		    "a name alone is looked up here at the name of host only; "
		    "write it for your other domains, too");
	}
	while (import_list_next(&value, &one))
		str_addf(&out, "%s" SLICE_FMT, out.len > 0 ? ", " : "",
		    SLICE_ARG(one));
	text = slice_dup(import->arena, str_slice(&out));
	str_release(&out);
	return text;
}

/* Of the maps that can be read. */
static void
virtual_domains_of_lines(struct import *import, struct domain_list *list)
{
	struct slice rest = import_value(import, list->name);
	struct import_map map;

	while (import_map_next(import, list->name, &rest, &map))
		for (size_t i = 0; map.is_lines && i < map.entries.count; i++)
			if (slice_find(map.entries.rows[i].key, '@') ==
			    map.entries.rows[i].key.n)
				domain_dotted(import, list,
				    map.entries.rows[i].key);
}

void
import_virtual_aliases(struct import *import, const char *name)
{
	const char *domains = "virtual_alias_domains", *tables;
	struct domain_list list = { STR_INIT, domains, NULL };

	if (!import_is_set(import, name) && !import_is_set(import,
	    "virtual_maps"))
		return;
	if (!import_is_set(import, name))
		name = "virtual_maps";
	tables = import_maps_add(import, name, "virtual", virtual_entry);
	if (tables[0] != '\0')
		import_say(import, IMPORT_ADDRESSES, name, "virtual %s",
		    tables);
	if (import_setting(import, domains) == NULL)
		list.name = name;
	/* who has mailboxes in a database has addresses in it, no domains */
	if (import_setting(import, domains) != NULL ||
	    !import_is_set(import, "virtual_mailbox_domains"))
		import_domains_each(import, list.name, domain_dotted, &list);
	else
		virtual_domains_of_lines(import, &list);
	if (domain_has_any(&list))
		import_say(import, IMPORT_DOMAINS, "virtual_alias_domains "
		    "virtual_alias_maps virtual_maps",
		    "domain%s { users none; aliases %s }",
		    domain_words(import, &list), import_no_aliases_say(import));
	str_release(&list.words);
}

static void
canonical_say(struct import *import, const char *name, const char *words)
{
	const char *tables = import_maps_add(import, name, "canonical", NULL);

	if (tables[0] != '\0')
		import_say(import, IMPORT_ADDRESSES, name, "canonical %s%s",
		    tables, words);
}

void
import_canonical(struct import *import, const char *name)
{
	canonical_say(import, name, "");
}

void
import_sender_canonical(struct import *import, const char *name)
{
	canonical_say(import, name, " senders");
}

void
import_recipient_canonical(struct import *import, const char *name)
{
	canonical_say(import, name, " recipients");
}

void
import_generic(struct import *import, const char *name)
{
	const char *tables = import_maps_add(import, name, "generic", NULL);

	if (tables[0] != '\0')
		import_say(import, IMPORT_ADDRESSES, name, "generic %s",
		    tables);
}

static void
masquerade_collect(struct import *import, void *context, struct slice domain)
{
	struct str *words = context;
	const char *word = import_domain(import, domain);

	if (word != NULL)
		str_addf(words, " %s", word);
}

void
import_masquerade(struct import *import, const char *name)
{
	struct slice rest = import_value(import, "masquerade_exceptions");
	struct str words = STR_INIT, except = STR_INIT;
	struct slice one;

	import_domains_each(import, name, masquerade_collect, &words);
	while (import_list_next(&rest, &one))
		if (import_word(import, one) != NULL)
			str_addf(&except, "%s" SLICE_FMT, except.len > 0 ?
			    "," : " except ", SLICE_ARG(one));
	if (words.len > 0)
		import_say(import, IMPORT_ADDRESSES, "masquerade_domains "
		    "masquerade_exceptions", "masquerade%s%s", words.buf,
		    except.buf);
	str_release(&words);
	str_release(&except);
}

/* A line for each entry. */
static void
bcc_say(struct import *import, const char *name, const char *who)
{
	struct slice rest = import_value(import, name);
	struct import_map map;

	while (import_map_next(import, name, &rest, &map))
		for (size_t i = 0; i < map.entries.count; i++) {
			struct import_entry *entry = &map.entries.rows[i];
			const char *key = import_word(import, entry->key);
			const char *copy = import_word(import, entry->value);

			if (map.is_lines && key != NULL && copy != NULL &&
			    strchr(key, '@') != NULL)
				import_say(import, IMPORT_ADDRESSES, name,
				    "copy %s %s %s", copy, who, key);
			else
				import_entry_note(import, &map, entry,
				    IMPORT_MISSING, "write `copy ADDRESS "
				    "from|to user@domain|@domain` for it");
		}
}

void
import_sender_bcc(struct import *import, const char *name)
{
	bcc_say(import, name, "from");
}

void
import_recipient_bcc(struct import *import, const char *name)
{
	bcc_say(import, name, "to");
}

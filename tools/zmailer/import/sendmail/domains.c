/* domains.c - the host, our domains, and domains that we relay for
 *
 * In     confDOMAIN_NAME, local-host-names, Cw, VIRTUSER_DOMAIN, aliases,
 *        relay-domains, RELAY_DOMAIN
 * Out    host, domain; accept
 * Holds  nothing
 * Spec   cf/README of sendmail; zmailer.conf(5), domain
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

enum { DOMAIN_WORDS_BYTES = 1000 };

void
sendmail_host(struct sendmail *mail)
{
	struct sendmail_row *row = sendmail_row_of(mail, "define",
	    "confDOMAIN_NAME");
	struct slice name = row == NULL ? SLICE("") : sendmail_argument(row,
	    1);

	if (slice_starts(name, "$w."))
		name = SLICE("");
	mail->host = row == NULL ? NULL : import_domain(mail->import, name);
	if (mail->host != NULL)
		sendmail_say(mail, row, IMPORT_SITE, "host %s", mail->host);
	else if (row != NULL)
		sendmail_note(mail, row, IMPORT_MISSING, "write `host NAME` "
		    "with what it comes to");
	if (mail->host == NULL)
		mail->host = import_host_say(mail->import);
}

/* ---- names -------------------------------------------------------------- */

static void
site_add(struct sendmail *mail, struct sendmail_row *row,
    struct slice name, struct str *out)
{
	const char *domain = import_domain(mail->import, name);

	/* literals of addresses are ours anyway */
	if (slice_starts(name, "[") || sendmail_net(mail, name) != NULL)
		return;
	if (domain == NULL) {
		sendmail_note(mail, row, IMPORT_MISSING, "\"" SLICE_FMT
		    "\" is no name of a domain", SLICE_ARG(name));
		return;
	}
	if (strstr(mail->domains.buf, arena_printf(mail->import->arena,
	    " %s ", domain)) != NULL)
		return;
	str_addf(&mail->domains, " %s ", domain);
	str_addf(out, " %s", domain);
}

static void
site_add_file(struct sendmail *mail, struct sendmail_row *row,
    struct slice definition, const char *preset, struct str *out)
{
	const char *path = sendmail_path(mail, row, definition, preset);
	struct import_entries entries;

	if (path != NULL && sendmail_names(mail, row, path, &entries))
		for (size_t i = 0; i < entries.count; i++)
			site_add(mail, row, entries.rows[i].key, out);
}

/* Which names a row has, if it is about ours.  returns whether it is */
static bool
site_row(struct sendmail *mail, struct sendmail_row *row, struct str *out)
{
	struct slice first = sendmail_argument(row, 0), rest = first, word;

	if (strcmp(row->item.name, "FEATURE") == 0 &&
	    slice_is(first, "use_cw_file"))
		site_add_file(mail, row, sendmail_define(mail,
		    "confCW_FILE"), "/etc/mail/local-host-names", out);
	else if (strcmp(row->item.name, "LOCAL_DOMAIN") == 0)
		while (slice_word(&rest, &word))
			site_add(mail, row, word, out);
	else if (row->is_text && slice_starts(first, "Cw")) {
		rest = slice_from(first, 2);
		while (slice_word(&rest, &word))
			site_add(mail, row, word, out);
	} else if (row->is_text && slice_starts(first, "Fw"))
		site_add_file(mail, row, slice_from(first, 2), "", out);
	else
		return row->is_text == false && slice_is(first, "local") &&
		    strcmp(row->item.name, "MAILER") == 0;
	return true;
}

/* The names, or a table of them when they are many. */
static const char *
site_words(struct sendmail *mail, const struct str *words)
{
	struct slice rest = str_slice(words), word;
	struct str text = STR_INIT;
	const char *name;

	if (words->len <= DOMAIN_WORDS_BYTES)
		return slice_dup(mail->import->arena, str_slice(words));
	while (slice_word(&rest, &word))
		str_addf(&text, SLICE_FMT " -\n", SLICE_ARG(word));
	name = import_table_add(mail->import, "", "file", "domains", &text,
	    IMPORT_EVERYBODY);
	str_release(&text);
	return arena_printf(mail->import->arena, " <%s>", name);
}

/* ---- aliases ------------------------------------------------------------ */

/* "NAME:VALUE" and "NAME : VALUE" are "NAME: VALUE". */
static struct import_entry
alias_cut(struct arena *arena, const struct import_entry *entry)
{
	struct import_entry cut = *entry;
	size_t colon = slice_find(entry->key, ':');

	if (colon < entry->key.n && entry->key.p[0] != '"') {
		cut.key = slice_first(entry->key, colon);
		cut.value = slice_trim(slice_of(arena_printf(arena, SLICE_FMT
		    " " SLICE_FMT, SLICE_ARG(slice_from(entry->key,
		    colon + 1)), SLICE_ARG(entry->value))));
	} else if (slice_starts(entry->value, ": ")) {
		cut.value = slice_trim(slice_from(entry->value, 2));
	}
	return cut;
}

/* |prog and :include: as they are; a program with blanks gets quotes. */
static void
aliases_entry_add(struct sendmail *mail, const char *path,
    const struct import_entry *raw, struct str *out)
{
	const struct import_entry cut = alias_cut(mail->import->arena, raw);
	const struct import_entry *entry = &cut;
	struct slice rest = entry->value, value = entry->value;
	bool is_open = false;

	if (slice_starts(slice_from(value, slice_starts(value, "\"")),
	    "error:")) {
		sendmail_entry_note(mail, path, entry, IMPORT_MISSING,
		    "write `reject to ADDRESS text \"WORDS\"`");
		return;
	}
	str_addf(out, SLICE_FMT ": ", SLICE_ARG(entry->key));
	if (slice_starts(rest, "|") && slice_starts(slice_from(rest, 1),
	    "\"")) {
		str_adds(out, "\"|");
		rest = slice_from(rest, 2);
	} else if (slice_starts(rest, "|") && slice_find(rest, ',') ==
	    rest.n) {
		str_adds(out, "\"");
		is_open = true;
	}
	str_addf(out, SLICE_FMT "%s\n", SLICE_ARG(rest), is_open ? "\"" :
	    "");
	rest = slice_from(value, slice_find(value, '|') + 1);
	rest = slice_from(rest, slice_starts(rest, "\""));
	if (slice_find(value, '|') < value.n && !slice_starts(rest, "/"))
		sendmail_entry_note(mail, path, entry, IMPORT_MISSING,
		    "write the whole path of the program into the table");
}

/* "<aliases>" of ALIAS_FILE, or where there is none. */
static const char *
aliases_of(struct sendmail *mail, struct sendmail_row *user)
{
	struct sendmail_row *row = sendmail_row_of(mail, "define",
	    "ALIAS_FILE");
	struct slice rest = sendmail_define(mail, "ALIAS_FILE"), one;
	const char *path, *preset = sendmail_preset_is_there(mail,
	    "/etc/mail/aliases") ? "/etc/mail/aliases" : "/etc/aliases";
	struct str rows = STR_INIT;
	struct import_entries entries;
	const char *out = NULL;

	/* the preset's file may not be there, and need not be */
	if (row == NULL && !sendmail_preset_is_there(mail, preset))
		return import_no_aliases_say(mail->import);
	if (row == NULL)
		rest = slice_of(preset);
	while (slice_cut(&rest, ',', &one)) {
		path = sendmail_path(mail, row == NULL ? user : row,
		    slice_trim(one), "");
		if (path != NULL && sendmail_entries(mail, row == NULL ?
		    user : row, path, &entries))
			for (size_t i = 0; i < entries.count; i++)
				aliases_entry_add(mail, path, &entries.rows[i],
				    &rows);
	}
	out = arena_printf(mail->import->arena, "<%s>", import_table_add(
	    mail->import, "", "file", "aliases", &rows, IMPORT_EVERYBODY));
	if (row != NULL && !row->item.is_told)
		import_item_taken(mail->import, &row->item,
		    (int)mail->import->statement_count - 1);
	str_release(&rows);
	return out;
}

/* ---- domain ------------------------------------------------------------- */

/* MAIL_HUB has the mailboxes of all. */
static const char *
domain_hub(struct sendmail *mail)
{
	struct sendmail_row *row = sendmail_row_of(mail, "define",
	    "MAIL_HUB");
	const char *why = NULL, *hop;

	if (row == NULL || sendmail_argument(row, 1).n == 0)
		return "";
	hop = sendmail_hop(mail, sendmail_argument(row, 1), &why);
	if (hop == NULL || (hop[0] != '[' && strncmp(hop, "smtp!", 5) != 0) ||
	    strchr(hop, ' ') != NULL) {
		sendmail_note(mail, row, IMPORT_MISSING, "write `users any; "
		    "deliver smtp HOST:25` into the block of the domain");
		return "";
	}
	sendmail_note(mail, row, IMPORT_DIFFERS, "the host itself is met, "
	    "not its MX hosts, and every user is taken: it decides");
	return hop[0] == '[' ? arena_printf(mail->import->arena,
	    "users any; deliver smtp %s; ", hop) :
	    arena_printf(mail->import->arena, "users any; deliver smtp "
	    "%s:25; ", hop + 5);
}

/* All rows that name our domains led to that statement. */
static void
domain_rows_told(struct sendmail *mail, int statement)
{
	struct str none = STR_INIT;

	for (size_t i = 0; i < mail->count; i++)
		if (!mail->rows[i].item.is_told && site_row(mail,
		    &mail->rows[i], &none))
			import_item_taken(mail->import, &mail->rows[i].item,
			    statement);
	str_release(&none);
}

/* Domains that have only addresses of virtusertable. */
static void
domain_virtual(struct sendmail *mail)
{
	for (size_t i = 0; i < mail->count; i++) {
		struct sendmail_row *row = &mail->rows[i];
		struct slice rest = sendmail_argument(row, 0), word;
		struct str words = STR_INIT;
		bool is_file = strcmp(row->item.name,
		    "VIRTUSER_DOMAIN_FILE") == 0;

		if (!is_file && strcmp(row->item.name, "VIRTUSER_DOMAIN") !=
		    0)
			continue;
		if (is_file)
			site_add_file(mail, row, rest, "", &words);
		while (!is_file && slice_word(&rest, &word))
			site_add(mail, row, word, &words);
		if (words.len > 0)
			sendmail_say(mail, row, IMPORT_DOMAINS, "domain%s { "
			    "users none; aliases %s }", site_words(mail,
			    &words), import_no_aliases_say(mail->import));
		else if (!row->item.is_told)
			sendmail_note(mail, row, IMPORT_NOT_NEEDED,
			    "its domains are ours already");
		str_release(&words);
	}
}

void
sendmail_domains(struct sendmail *mail)
{
	struct sendmail_row *user = sendmail_row_of(mail, "MAILER", "local");
	struct sendmail_row none = { .item = { .file =
		mail->import->order[0], .name = "MAILER", .value = "local" } };
	struct str words = STR_INIT;
	const char *hub, *aliases;

	if (sendmail_has(mail, "nullclient"))
		return;
	site_add(mail, &none, slice_of(mail->host), &words);
	site_add(mail, &none, SLICE("localhost"), &words);
	for (size_t i = 0; i < mail->count; i++)
		(void)site_row(mail, &mail->rows[i], &words);
	hub = domain_hub(mail);
	aliases = aliases_of(mail, user == NULL ? &none : user);
	domain_rows_told(mail, import_say(mail->import, IMPORT_DOMAINS, "",
	    "domain%s { %saliases %s }", site_words(mail, &words), hub,
	    aliases));
	domain_virtual(mail);
	str_release(&words);
}

/* ---- relaying ----------------------------------------------------------- */

/* A domain covers what is below it, as a client and as a recipient. */
static void
relaying_add(struct sendmail *mail, struct sendmail_row *row,
    struct slice name, struct sendmail_groups *groups)
{
	struct sendmail_group like = { .part = IMPORT_RELAYING,
		.verb = "accept", .text = " for any", .condition = "from" };
	const char *net = sendmail_net(mail, name);
	const char *domain = import_domain(mail->import, name);
	const char *below;

	if (net != NULL) {
		(void)sendmail_group_add(groups, &like, net);
		return;
	}
	if (domain == NULL) {
		sendmail_note(mail, row, IMPORT_MISSING, "\"" SLICE_FMT
		    "\" is no domain or network: write `accept to @DOMAIN "
		    "for any` or `accept from NET for any`", SLICE_ARG(name));
		return;
	}
	below = sendmail_has(mail, "relay_hosts_only") || domain[0] == '.' ?
	    NULL : arena_printf(mail->import->arena, ".%s", domain);
	for (int turn = 0; turn < 2; turn++) {
		like.condition = turn == 0 ? "name" : "to";
		(void)sendmail_group_add(groups, &like, domain);
		if (below != NULL)
			(void)sendmail_group_add(groups, &like, below);
	}
}

void
sendmail_relay_domain(struct sendmail *mail, struct sendmail_row *row)
{
	struct slice rest = sendmail_argument(row, 0), word;
	struct sendmail_groups *groups = arena_alloc(mail->import->arena,
	    sizeof(*groups));

	groups->count = 0;
	while (slice_word(&rest, &word))
		relaying_add(mail, row, word, groups);
	sendmail_groups_say(mail, row, groups);
}

void
sendmail_relay_file(struct sendmail *mail, struct sendmail_row *row)
{
	static const char preset[] = "/etc/mail/relay-domains";
	bool is_row = row != NULL;
	struct sendmail_row none = { .item = { .file = "relay-domains",
		.name = "relay-domains", .value = "" } };
	struct sendmail_groups *groups = arena_alloc(mail->import->arena,
	    sizeof(*groups));
	struct import_entries entries;
	const char *path;

	groups->count = 0;
	if (!is_row && !sendmail_preset_is_there(mail, preset))
		return;
	row = is_row ? row : &none;
	path = sendmail_path(mail, row, !is_row ? SLICE("") :
	    sendmail_argument(row, row->count > 1 ? 1 : 0), preset);
	if (path == NULL || !sendmail_names(mail, row, path, &entries))
		return;
	for (size_t i = 0; i < entries.count; i++)
		relaying_add(mail, row, entries.rows[i].key, groups);
	sendmail_groups_say(mail, row, groups);
	if (!row->item.is_told)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "no domain is in it");
}

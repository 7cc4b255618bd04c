/* local.c - actions that deliver, as the block of a domain
 *
 * In     action NAME maildir|mbox|mda|lmtp|expand-only|forward-only
 * Out    users, aliases, deliver; mailbox
 * Holds  nothing
 * Spec   smtpd.conf(5), "action"; zmailer.conf(5), domain, mailbox
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <string.h>

#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

struct opensmtpd_local {		/* what the words of an action say */
	const char		*deliver;	/* "deliver ...", or NULL */
	const char		*path;		/* of mailboxes, or NULL */
	struct slice		 user, alias, virtual, userbase, command;
	bool			 is_maildir, is_store, is_none, is_bad;
};

/* Places of theirs as ours: %{user.username}, %{dest.domain}, ~. */
static const struct { const char *theirs, *ours; } places[] = {
	{ "user.username", "{user}" }, { "user.directory", "{home}" },
	{ "dest.user", "{user}" }, { "dest.domain", "{domain}" },
	{ "rcpt.user", "{user}" }, { "rcpt.domain", "{domain}" },
	{ "dest", "{user}@{domain}" }, { "rcpt", "{user}@{domain}" },
};

/* %{NAME:MODIFIERS}; returns false: none of these */
static bool
local_place(struct slice name, struct str *out)
{
	struct slice plain = slice_first(name, slice_find(name, ':'));
	struct slice rest = slice_from(name, plain.n + 1), word;

	while (rest.n > 0 && slice_cut(&rest, '|', &word))
		if (!slice_is(word, "lowercase") && !slice_is(word, "strip"))
			return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (slice_is(plain, places[i].theirs)) {
			str_adds(out, places[i].ours);
			return true;
		}
	return false;
}

/* NULL: there is no such place here. */
static const char *
local_path(struct opensmtpd *smtpd, struct slice path)
{
	struct str text = STR_INIT;
	const char *out = NULL;
	bool is_good = path.n > 0;

	if (slice_starts(path, "~/")) {
		str_adds(&text, "{home}");
		path = slice_from(path, 1);
	}
	while (path.n > 0 && is_good) {
		size_t at = slice_find(path, '}');

		if (slice_starts(path, "%{") && at < path.n) {
			is_good = local_place((struct slice){ path.p + 2,
			    at - 2 }, &text);
			path = slice_from(path, at + 1);
			continue;
		}
		is_good = import_word(smtpd->import, slice_first(path, 1)) !=
		    NULL && path.p[0] != '%';
		str_addc(&text, path.p[0]);
		path = slice_from(path, 1);
	}
	while (text.len > 1 && text.buf[text.len - 1] == '/')
		str_truncate(&text, text.len - 1);
	if (is_good)
		out = slice_dup(smtpd->import->arena, str_slice(&text));
	str_release(&text);
	return out;
}

static void
local_lmtp(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_local *local)
{
	const char *to = import_word(smtpd->import, opensmtpd_text(row));

	local->is_store = opensmtpd_is(row, "rcpt-to");
	if (to == NULL) {
		local->is_bad = true;
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "write `deliver lmtp unix:/PATH` into the domain's block");
		return;
	}
	local->deliver = arena_printf(smtpd->import->arena,
	    "deliver lmtp %s%s", to[0] == '/' ? "unix:" : "", to);
}

static void
local_maildir(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_local *local)
{
	struct slice path = SLICE("~/Maildir");

	if (row->at < row->count && strchr("/~%", row->words[row->at].text.n >
	    0 ? row->words[row->at].text.p[0] : '/') != NULL)
		path = opensmtpd_text(row);
	local->path = local_path(smtpd, path);
	local->is_maildir = true;
	if (local->path == NULL) {
		local->is_bad = true;
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "no place here is written like that: write `mailbox "
		    "maildir PATH` (zmailer help mailbox)");
	}
	if (opensmtpd_is(row, "junk"))
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "spam is not sorted into a folder: let sieve do it "
		    "(deliver lmtp unix:/PATH of Dovecot)");
}

static void
local_method(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_local *local)
{
	if (opensmtpd_is(row, "maildir"))
		local_maildir(smtpd, row, local);
	else if (opensmtpd_is(row, "mbox"))
		local->path = "/var/mail/{user}";
	else if (opensmtpd_is(row, "lmtp"))
		local_lmtp(smtpd, row, local);
	else if (opensmtpd_is(row, "mda"))
		local->command = opensmtpd_text(row);
	else if (opensmtpd_is(row, "expand-only"))
		local->is_none = true;
	else if (opensmtpd_is(row, "forward-only")) {
		local->is_none = true;
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "an alias that leads to a user of this host is not "
		    "refused");
	} else {
		local->is_bad = true;
		opensmtpd_unknown(smtpd, row);
	}
}

static void
local_options(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_local *local)
{
	while (row->at < row->count) {
		if (opensmtpd_is(row, "alias"))
			local->alias = opensmtpd_text(row);
		else if (opensmtpd_is(row, "virtual"))
			local->virtual = opensmtpd_text(row);
		else if (opensmtpd_is(row, "userbase"))
			local->userbase = opensmtpd_text(row);
		else if (opensmtpd_is(row, "user"))
			local->user = opensmtpd_text(row);
		else if (opensmtpd_is(row, "ttl")) {
			(void)opensmtpd_text(row);
			import_item_note(smtpd->import, &row->item,
			    IMPORT_DIFFERS, "ttl: write `schedule local/* { "
			    "expire SPAN }`");
		} else if (opensmtpd_is(row, "wrapper")) {
			(void)opensmtpd_text(row);
			import_item_note(smtpd->import, &row->item,
			    IMPORT_MISSING, "wrapper: write its command into "
			    "`deliver pipe \"COMMAND\"` of the domain");
		} else
			opensmtpd_unknown(smtpd, row);
	}
}

/* mda COMMAND user ACCOUNT. */
static void
local_command(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_local *local)
{
	const char *account = import_word(smtpd->import, local->user);

	if (account == NULL || slice_find(local->command, '%') <
	    local->command.n || slice_find(local->command, '"') <
	    local->command.n) {
		local->is_bad = true;
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "write `deliver pipe \"COMMAND\" as ACCOUNT` into the "
		    "domain's block; the address is in RECIPIENT. As each "
		    "user: a .forward with \"|COMMAND\"");
		return;
	}
	local->is_store = true;
	local->deliver = arena_printf(smtpd->import->arena,
	    "deliver pipe \"%s\" as %s", import_quote(smtpd->import,
	    local->command), account);
}

/* ---- mailbox: one statement for all ------------------------------------- */

static void
local_mailbox(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_local *local)
{
	const char *account = import_word(smtpd->import, local->user);
	const char *text;

	if (local->path == NULL)
		return;
	text = arena_printf(smtpd->import->arena, "mailbox %s %s%s%s",
	    local->is_maildir ? "maildir" : "mbox", local->path,
	    account == NULL ? "" : " as ", account == NULL ? "" : account);
	local->is_store = account != NULL;
	if (smtpd->mailbox == NULL) {
		smtpd->mailbox = text;
		opensmtpd_say(smtpd, row, IMPORT_DELIVERY, "%s", text);
		smtpd->mailbox_at = (int)smtpd->import->statement_count - 1;
	} else if (strcmp(smtpd->mailbox, text) == 0)
		import_item_taken(smtpd->import, &row->item,
		    smtpd->mailbox_at);
	else
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "mailbox is one statement, and another action has it: "
		    "give the domain of this one `deliver lmtp unix:/PATH`; "
		    "it was `%s`", text);
}

/* ---- who exists --------------------------------------------------------- */

/* Only a system account, not an address, file or program. */
static bool
local_is_account(struct slice value)
{
	return value.n > 0 && slice_find(value, '@') == value.n &&
	    slice_find(value, ',') == value.n && slice_find(value, ' ') ==
	    value.n && strchr("|/:\"", value.p[0]) == NULL;
}

static void
local_virtual_row(struct opensmtpd *smtpd, const struct opensmtpd_local *local,
    struct import_entry *entry, struct str *users, struct str *aliases)
{
	bool is_user = local->is_store && local_is_account(entry->value);
	const char *file = opensmtpd_table_path(smtpd, opensmtpd_row_of(smtpd,
	    "table", local->virtual));

	if (slice_is(entry->key, "@"))
		import_row_note(smtpd->import, file, entry, IMPORT_MISSING,
		    "write `@DOMAIN VALUE` for each domain into the table");
	else if (entry->value.n == 0)
		import_row_note(smtpd->import, file, entry, IMPORT_MISSING,
		    "no KEY VALUE; it was left out");
	else if (slice_starts(entry->value, "error:"))
		import_row_note(smtpd->import, file, entry, IMPORT_MISSING,
		    "write `reject to ADDRESS text \"WORDS\"`");
	else if (is_user && slice_starts(entry->key, "@"))
		import_row_note(smtpd->import, file, entry, IMPORT_MISSING,
		    "all names of a domain: write `users any` into its "
		    "block");
	else if (is_user)
		str_addf(users, SLICE_FMT " -\n", SLICE_ARG(entry->key));
	else
		str_addf(aliases, SLICE_FMT ": " SLICE_FMT "\n",
		    SLICE_ARG(entry->key), SLICE_ARG(entry->value));
}

static const char *
local_virtual_lines(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_local *local)
{
	struct opensmtpd_word word = { local->virtual, OPENSMTPD_TABLE };
	struct opensmtpd_row *table = opensmtpd_row_of(smtpd, "table",
	    local->virtual);
	struct str users = STR_INIT, aliases = STR_INIT;
	const char *who = "none", *others = "<none-here>";
	struct import *import = smtpd->import;
	struct import_entries entries;

	if (!opensmtpd_entries(smtpd, row, &word, &entries))
		return NULL;
	for (size_t i = 0; i < entries.count; i++)
		local_virtual_row(smtpd, local, &entries.rows[i], &users,
		    &aliases);
	if (users.len > 0) {
		who = arena_printf(import->arena, "<%s>", import_table_add(
		    import, "", "file", "users", &users, IMPORT_EVERYBODY));
		import_item_taken(import, &table->item,
		    (int)import->statement_count - 1);
	}
	if (aliases.len > 0) {
		others = arena_printf(import->arena, "<%s>",
		    import_table_add(import, "", "file", "virtual", &aliases,
		    IMPORT_EVERYBODY));
		import_item_taken(import, &table->item,
		    (int)import->statement_count - 1);
	} else
		import_no_aliases_say(import);
	str_release(&users);
	str_release(&aliases);
	return arena_printf(import->arena, "users %s; aliases %s", who,
	    others);
}

/* A table of addresses says which users exist. */
static const char *
local_virtual(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_local *local)
{
	struct opensmtpd_row *table = opensmtpd_row_of(smtpd, "table",
	    local->virtual);
	struct slice spec = table == NULL || table->count < 3 ? SLICE("") :
	    table->words[2].text;
	const char *name;

	if (!slice_starts(spec, "sqlite:") && !slice_starts(spec, "mysql:") &&
	    !slice_starts(spec, "postgres:"))
		return local_virtual_lines(smtpd, row, local);
	name = opensmtpd_table(smtpd, row, local->virtual,
	    local->is_store ? OPENSMTPD_USERS : OPENSMTPD_ALIASES);
	if (name == NULL)
		return NULL;
	if (!local->is_store)
		return arena_printf(smtpd->import->arena,
		    "users none; aliases %s", name);
	import_no_aliases_say(smtpd->import);
	import_item_note(smtpd->import, &table->item, IMPORT_DIFFERS,
	    "every address that the query knows has a mailbox: addresses "
	    "that lead elsewhere need a table of their own (aliases)");
	return arena_printf(smtpd->import->arena,
	    "users %s; aliases <none-here>", name);
}

/* users, aliases. */
static const char *
local_who(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_local *local)
{
	struct arena *arena = smtpd->import->arena;
	const char *users = local->is_none ? "users none" : "";
	const char *aliases = NULL, *table;

	if (local->virtual.n > 0)
		return local_virtual(smtpd, row, local);
	if (local->userbase.n > 0) {
		table = opensmtpd_table(smtpd, row, local->userbase,
		    OPENSMTPD_USERS);
		if (table == NULL)
			return NULL;
		users = arena_printf(arena, "users %s", table);
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "userbase: its keys are the users; their directories "
		    "must be those of `mailbox maildir PATH as ACCOUNT`");
	}
	if (local->alias.n > 0) {
		aliases = opensmtpd_table(smtpd, row, local->alias,
		    OPENSMTPD_ALIASES);
		if (aliases == NULL)
			return NULL;
	}
	if (aliases == NULL)
		aliases = import_no_aliases_say(smtpd->import);
	return arena_printf(arena, "%s%saliases %s", users, users[0] != '\0' ?
	    "; " : "", aliases);
}

bool
opensmtpd_is_relay(const struct opensmtpd_row *action)
{
	return action->count > 2 && slice_is(action->words[2].text, "relay");
}

const char *
opensmtpd_block(struct opensmtpd *smtpd, struct opensmtpd_row *action)
{
	struct opensmtpd_local local = { .deliver = NULL };
	const char *who;

	if (action->is_made)
		return action->made;
	action->is_made = true;
	action->at = 2;
	local_method(smtpd, action, &local);
	if (!local.is_bad)
		local_options(smtpd, action, &local);
	if (local.command.n > 0)
		local_command(smtpd, action, &local);
	if (local.is_bad)
		return NULL;
	local_mailbox(smtpd, action, &local);
	who = local_who(smtpd, action, &local);
	if (who == NULL)
		return NULL;
	action->made = arena_printf(smtpd->import->arena, "%s%s%s", who,
	    who[0] != '\0' && local.deliver != NULL ? "; " : "",
	    local.deliver == NULL ? "" : local.deliver);
	return action->made;
}

/* maps.c - addresses that become others
 *
 * In     virtusertable, genericstable, domaintable
 * Out    virtual, canonical; refusals as rules
 * Holds  nothing
 * Trusts no entry: each is read as text, and written as one line
 * Spec   cf/README of sendmail, "FEATURES"; zmailer.conf(5), virtual
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/smtp/path.h"
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

struct maps_part {			/* of one table */
	struct sendmail		*mail;
	const char		*path;
	struct str		 rows;
	struct sendmail_groups	 groups;
};

/* Is it user@domain or @domain, with a valid domain? */
static bool
address_is_key(struct slice key)
{
	size_t at = slice_find(key, '@');

	return at < key.n && domain_parse(slice_from(key, at + 1), NULL) ==
	    0 && slice_find(key, ' ') == key.n && slice_find(key, '"') ==
	    key.n;
}

/* An address of a value, with the host's name where it has none. */
static const char *
address_whole(struct sendmail *mail, struct slice value)
{
	if (import_word(mail->import, value) == NULL ||
	    slice_find(value, ',') < value.n || value.p[0] == '@')
		return NULL;
	return slice_find(value, '@') < value.n ? slice_dup(
	    mail->import->arena, value) : arena_printf(mail->import->arena,
	    SLICE_FMT "@%s", SLICE_ARG(value), mail->host);
}

/* ---- virtusertable ------------------------------------------------------ */

static void
virtuser_refused(struct maps_part *part, struct import_entry *entry)
{
	struct sendmail_group like = { .part = IMPORT_RULES,
		.condition = "to", .verb = "reject" };
	const char *code, *words;

	sendmail_error(part->mail, slice_from(entry->value, 6), &code,
	    &words);
	if (code[0] == '4')
		like.verb = "defer";
	like.text = arena_printf(part->mail->import->arena, " text \"%s\"",
	    words);
	if (!sendmail_group_add(&part->groups, &like, slice_dup(
	    part->mail->import->arena, entry->key)))
		sendmail_entry_note(part->mail, part->path, entry,
		    IMPORT_MISSING, "too many different words: write `reject "
		    "to ADDRESS text \"WORDS\"`");
}

/* "%1@other" of "@domain" is all its users there. */
static const char *
virtuser_value(struct sendmail *mail, const struct import_entry *entry)
{
	if (slice_starts(entry->value, "%1@") && entry->key.p[0] == '@' &&
	    import_domain(mail->import, slice_from(entry->value, 3)) != NULL)
		return slice_dup(mail->import->arena, slice_from(
		    entry->value, 2));
	if (slice_is(entry->value, "%1") && entry->key.p[0] == '@')
		return arena_printf(mail->import->arena, "@%s", mail->host);
	if (slice_find(entry->value, '%') < entry->value.n)
		return NULL;
	return address_whole(mail, entry->value);
}

static void
virtuser_entry(struct maps_part *part, struct import_entry *entry)
{
	const char *value;

	if (!address_is_key(entry->key) || entry->value.n == 0)
		sendmail_entry_note(part->mail, part->path, entry,
		    IMPORT_MISSING, "no USER@DOMAIN VALUE; it was left out");
	else if (slice_starts(entry->value, "error:"))
		virtuser_refused(part, entry);
	else if ((value = virtuser_value(part->mail, entry)) != NULL)
		str_addf(&part->rows, SLICE_FMT " %s\n",
		    SLICE_ARG(entry->key), value);
	else
		sendmail_entry_note(part->mail, part->path, entry,
		    IMPORT_MISSING, "no address is made from parts here: "
		    "write `USER@DOMAIN ADDRESS` for each into the table of "
		    "virtual");
}

void
sendmail_virtusertable(struct sendmail *mail, struct sendmail_row *row)
{
	struct maps_part *part = arena_alloc(mail->import->arena,
	    sizeof(*part));
	struct import_entries entries;

	*part = (struct maps_part){ .mail = mail, .rows = STR_INIT };
	part->path = sendmail_path(mail, row, sendmail_argument(row, 1),
	    "/etc/mail/virtusertable");
	if (part->path != NULL && sendmail_entries(mail, row, part->path,
	    &entries)) {
		for (size_t i = 0; i < entries.count; i++)
			virtuser_entry(part, &entries.rows[i]);
		if (part->rows.len > 0)
			sendmail_say(mail, row, IMPORT_ADDRESSES,
			    "virtual <%s>", import_table_add(mail->import, "",
			    "file", "virtual", &part->rows,
			    IMPORT_EVERYBODY));
		sendmail_groups_say(mail, row, &part->groups);
		if (!row->item.is_told)
			sendmail_note(mail, row, IMPORT_NOT_NEEDED,
			    "no entry of it is left");
	}
	str_release(&part->rows);
}

/* ---- genericstable ------------------------------------------------------ */

/* A name without a domain counts in each of these domains. */
static void
generics_domain_add(struct sendmail *mail, struct slice name,
    struct sendmail_row *row, struct str *out)
{
	const char *domain = import_domain(mail->import, name);

	if (domain != NULL)
		str_addf(out, " %s", domain);
	else
		sendmail_note(mail, row, IMPORT_MISSING, "\"" SLICE_FMT
		    "\" is no name of a domain", SLICE_ARG(name));
}

static void
generics_domains(struct sendmail *mail, struct str *out)
{
	for (size_t i = 0; i < mail->count; i++) {
		struct sendmail_row *row = &mail->rows[i];
		struct slice rest = sendmail_argument(row, 0), word;
		struct import_entries entries;
		const char *path;

		if (strcmp(row->item.name, "GENERICS_DOMAIN") == 0)
			while (slice_word(&rest, &word))
				generics_domain_add(mail, word, row, out);
		else if (strcmp(row->item.name, "GENERICS_DOMAIN_FILE") != 0)
			continue;
		else if ((path = sendmail_path(mail, row, rest, "")) !=
		    NULL && sendmail_entries(mail, row, path, &entries))
			for (size_t k = 0; k < entries.count; k++)
				generics_domain_add(mail,
				    entries.rows[k].key, row, out);
		if (!row->item.is_told)
			sendmail_note(mail, row, IMPORT_NOT_NEEDED,
			    "names of genericstable are written with each "
			    "of these domains");
	}
	if (out->len == 0)
		str_addf(out, " %s", mail->host);
}

static void
generics_entry(struct sendmail *mail, const char *path,
    const char *domains, struct import_entry *entry, struct str *out)
{
	struct slice rest = slice_of(domains), domain;
	const char *value = entry->value.n == 0 ? NULL : address_whole(mail,
	    entry->value);

	if (value == NULL || import_word(mail->import, entry->key) == NULL) {
		sendmail_entry_note(mail, path, entry, IMPORT_MISSING,
		    "no USER ADDRESS; it was left out");
		return;
	}
	if (slice_find(entry->key, '@') < entry->key.n)
		str_addf(out, SLICE_FMT " %s\n", SLICE_ARG(entry->key),
		    value);
	else
		while (slice_word(&rest, &domain))
			str_addf(out, SLICE_FMT "@" SLICE_FMT " %s\n",
			    SLICE_ARG(entry->key), SLICE_ARG(domain), value);
}

void
sendmail_genericstable(struct sendmail *mail, struct sendmail_row *row)
{
	const char *path = sendmail_path(mail, row, sendmail_argument(row, 1),
	    "/etc/mail/genericstable");
	struct str rows = STR_INIT, domains = STR_INIT;
	struct import_entries entries;

	generics_domains(mail, &domains);
	if (path != NULL && sendmail_entries(mail, row, path, &entries)) {
		for (size_t i = 0; i < entries.count; i++)
			generics_entry(mail, path, domains.buf,
			    &entries.rows[i], &rows);
		if (rows.len > 0)
			sendmail_say(mail, row, IMPORT_ADDRESSES,
			    "canonical <%s> senders", import_table_add(
			    mail->import, "", "file", "generics", &rows,
			    IMPORT_EVERYBODY));
		else
			sendmail_note(mail, row, IMPORT_NOT_NEEDED,
			    "no entry of it is left");
	}
	str_release(&rows);
	str_release(&domains);
}

/* ---- domaintable -------------------------------------------------------- */

void
sendmail_domaintable(struct sendmail *mail, struct sendmail_row *row)
{
	const char *path = sendmail_path(mail, row, sendmail_argument(row, 1),
	    "/etc/mail/domaintable");
	struct str rows = STR_INIT;
	struct import_entries entries = { NULL, 0 };
	const char *from, *to;

	if (path == NULL || !sendmail_entries(mail, row, path, &entries))
		return;
	for (size_t i = 0; i < entries.count; i++) {
		from = import_domain(mail->import, entries.rows[i].key);
		to = import_domain(mail->import, entries.rows[i].value);
		if (from == NULL || to == NULL)
			sendmail_entry_note(mail, path, &entries.rows[i],
			    IMPORT_MISSING, "no OLD-DOMAIN NEW-DOMAIN; it "
			    "was left out");
		else
			str_addf(&rows, "@%s @%s\n", from, to);
	}
	if (rows.len > 0)
		sendmail_say(mail, row, IMPORT_ADDRESSES, "canonical <%s>",
		    import_table_add(mail->import, "", "file", "domaintable",
		    &rows, IMPORT_EVERYBODY));
	else
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "no entry of it is left");
	str_release(&rows);
}

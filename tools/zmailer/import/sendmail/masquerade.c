/* masquerade.c - one name for all senders of a site
 *
 * In     MASQUERADE_AS, MASQUERADE_DOMAIN, EXPOSED_USER and their features
 * Out    canonical, masquerade
 * Holds  nothing
 * Spec   cf/README of sendmail, "MASQUERADING AND RELAYING"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

struct masquerade {
	struct sendmail	*mail;
	const char	*name;		/* what it becomes */
	struct str	 from, users, kept;	/* " a b" */
};

static void
masquerade_add(struct sendmail *mail, struct sendmail_row *row, bool is_domain,
    struct slice word, struct str *out)
{
	const char *text = is_domain ? import_domain(mail->import, word) :
	    import_word(mail->import, word);

	if (text != NULL)
		str_addf(out, " %s", text);
	else
		sendmail_note(mail, row, IMPORT_MISSING, "\"" SLICE_FMT
		    "\" is no name: write it into the table of canonical",
		    SLICE_ARG(word));
}

/* Words of a call, or names of a file. */
static void
words_add(struct sendmail *mail, struct sendmail_row *row, bool is_file,
    bool is_domain, struct str *out)
{
	struct slice rest = sendmail_argument(row, 0), word;
	struct import_entries entries = { NULL, 0 };
	const char *path;

	if (!is_file) {
		while (slice_word(&rest, &word))
			masquerade_add(mail, row, is_domain, word, out);
		return;
	}
	path = sendmail_path(mail, row, rest, "");
	if (path == NULL || !sendmail_names(mail, row, path, &entries))
		return;
	for (size_t i = 0; i < entries.count; i++)
		masquerade_add(mail, row, is_domain, entries.rows[i].key, out);
}

static const struct {
	const char	*name;
	size_t		 at;		/* of struct masquerade */
	bool		 is_file, is_domain;
} rows[] = {
	{ "MASQUERADE_DOMAIN", offsetof(struct masquerade, from), false,
	    true },
	{ "MASQUERADE_DOMAIN_FILE", offsetof(struct masquerade, from), true,
	    true },
	{ "EXPOSED_USER", offsetof(struct masquerade, users), false, false },
	{ "EXPOSED_USER_FILE", offsetof(struct masquerade, users), true,
	    false },
	{ "MASQUERADE_EXCEPTION", offsetof(struct masquerade, kept), false,
	    true },
	{ "MASQUERADE_EXCEPTION_FILE", offsetof(struct masquerade, kept),
	    true, true },
};

/* Reads all calls, or notes for those without a finding what they led to (-1:
 * to nothing). */
static void
masquerade_rows(struct masquerade *names, bool is_end, int statement)
{
	struct sendmail *mail = names->mail;

	for (size_t i = 0; i < mail->count; i++)
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			struct sendmail_row *row = &mail->rows[i];

			if (strcmp(row->item.name, rows[k].name) != 0)
				continue;
			if (!is_end)
				words_add(mail, row, rows[k].is_file,
				    rows[k].is_domain, (struct str *)(void *)
				    ((char *)names + rows[k].at));
			else if (row->item.is_told)
				continue;
			else if (statement >= 0)
				import_item_taken(mail->import, &row->item,
				    statement);
			else
				sendmail_note(mail, row, IMPORT_NOT_NEEDED,
				    "nothing is masqueraded");
		}
}

static bool
words_have(const struct str *words, struct slice name)
{
	struct slice rest = str_slice(words), word;

	while (slice_word(&rest, &word))
		if (slice_equal(word, name))
			return true;
	return false;
}

/* Rows: exposed users stay, all others become NAME. */
static void
masquerade_table(struct masquerade *names, const char *from, struct str *out)
{
	struct slice rest = slice_of(from), user;
	struct slice domain;

	while (slice_word(&rest, &domain)) {
		struct slice users = str_slice(&names->users);

		if (slice_is(domain, names->name) ||
		    words_have(&names->kept, domain))
			continue;
		while (slice_word(&users, &user))
			str_addf(out, SLICE_FMT "@" SLICE_FMT " " SLICE_FMT
			    "@" SLICE_FMT "\n", SLICE_ARG(user),
			    SLICE_ARG(domain), SLICE_ARG(user),
			    SLICE_ARG(domain));
		str_addf(out, "@" SLICE_FMT " @%s\n", SLICE_ARG(domain),
		    names->name);
	}
}

/* What is below these, too: a statement of its own. */
static void
masquerade_below(struct masquerade *names)
{
	struct sendmail *mail = names->mail;
	struct sendmail_row *row = sendmail_row_of(mail, "FEATURE",
	    "masquerade_entire_domain");
	struct str except = STR_INIT;
	struct slice rest = str_slice(&names->users), user;

	if (row == NULL)
		return;
	while (slice_word(&rest, &user))
		str_addf(&except, "%s" SLICE_FMT, except.len > 0 ? "," :
		    " except ", SLICE_ARG(user));
	if (words_have(&names->from, slice_of(names->name)) ||
	    names->from.len == 0)
		sendmail_say(mail, row, IMPORT_ADDRESSES, "masquerade %s%s",
		    names->name, except.buf);
	else
		sendmail_note(mail, row, IMPORT_MISSING, "names below one "
		    "domain become another: write `@HOST.DOMAIN @%s` for "
		    "each into the table of canonical", names->name);
	str_release(&except);
}

static void
masquerade_say(struct masquerade *names, struct sendmail_row *row)
{
	struct sendmail *mail = names->mail;
	const char *from = names->from.buf;
	struct str table = STR_INIT;
	int statement = -1;

	/* class w and what is named; limited: what is named alone */
	if (!sendmail_has(mail, "limited_masquerade"))
		from = arena_printf(mail->import->arena, "%s%s",
		    mail->domains.buf, from);
	masquerade_table(names, from, &table);
	if (table.len > 0) {
		sendmail_say(mail, row, IMPORT_ADDRESSES,
		    "canonical <%s>%s%s", import_table_add(mail->import, "",
		    "file", "masquerade", &table, IMPORT_EVERYBODY),
		    sendmail_has(mail, "allmasquerade") ? "" : " senders",
		    sendmail_has(mail, "masquerade_envelope") ? "" :
		    " headers");
		statement = (int)mail->import->statement_count - 1;
	} else
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "it is the name that senders have");
	masquerade_below(names);
	masquerade_rows(names, true, statement);
	str_release(&table);
}

void
sendmail_masquerade(struct sendmail *mail)
{
	struct masquerade names = { .mail = mail, .from = STR_INIT,
		.users = STR_INIT, .kept = STR_INIT };
	struct sendmail_row *row = NULL;
	struct slice name = SLICE("");

	for (size_t i = 0; i < mail->count; i++)
		if (strcmp(mail->rows[i].item.name, "MASQUERADE_AS") == 0)
			row = &mail->rows[i];
	if (row != NULL)
		name = sendmail_argument(row, 0);
	names.name = import_domain(mail->import, name);
	masquerade_rows(&names, false, -1);
	if (names.name != NULL)
		masquerade_say(&names, row);
	else if (name.n > 0)
		sendmail_note(mail, row, IMPORT_MISSING, "it is no name of a "
		    "domain: write `canonical <table> senders`");
	else if (row != NULL)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED, "it is empty");
	masquerade_rows(&names, true, -1);
	str_release(&names.from);
	str_release(&names.users);
	str_release(&names.kept);
}

/* passwords.c - how sendmail logs in at next hops
 *
 * In     FEATURE(`authinfo'), AuthInfo: of the access map
 * Out    auth-to, in a file that only agents can read
 * Holds  nothing
 * Trusts no entry; a password is never printed
 * Spec   cf/README of sendmail, "Providing SMTP AUTH Data"
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/base64.h"
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

struct password_words {
	struct slice	user, id, password, mechanisms;
};

/* "P:secret", P:secret, "P=c2VjcmV0": the letter, and its value. */
static bool
password_word(struct arena *arena, struct slice word, char *out_letter,
    struct slice *out)
{
	struct str text = STR_INIT;
	bool is_good = true;

	if (word.n > 1 && word.p[0] == '"' && word.p[word.n - 1] == '"')
		word = (struct slice){ word.p + 1, word.n - 2 };
	if (word.n < 2 || (word.p[1] != ':' && word.p[1] != '='))
		return false;
	*out_letter = ascii_upper(word.p[0]);
	*out = slice_from(word, 2);
	if (word.p[1] == '=') {
		is_good = base64_decode(*out, &text, NULL) == 0;
		*out = slice_copy(arena, str_slice(&text));
	}
	str_release(&text);
	return is_good;
}

/* Words with quotes around those that have blanks. */
static bool
password_next(struct slice *rest, struct slice *out)
{
	size_t n = 0;
	bool is_quoted = false;

	*rest = slice_trim(*rest);
	while (n < rest->n && (is_quoted || !ascii_is_space(rest->p[n])))
		is_quoted ^= rest->p[n++] == '"';
	*out = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	return n > 0;
}

static bool
password_words(struct arena *arena, struct slice value,
    struct password_words *out)
{
	struct slice word, text;
	char letter;

	*out = (struct password_words){ .user = SLICE("") };
	while (password_next(&value, &word)) {
		if (!password_word(arena, word, &letter, &text))
			return false;
		if (letter == 'U')
			out->user = text;
		else if (letter == 'I')
			out->id = text;
		else if (letter == 'P')
			out->password = text;
		else if (letter == 'M')
			out->mechanisms = text;
		else if (letter != 'R')
			return false;
	}
	return true;
}

static bool
password_is_word(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 127)
			return false;
	return text.n > 0;
}

void
sendmail_password(struct sendmail *mail, const char *path,
    struct import_entry *entry)
{
	struct slice key = slice_from(entry->key, slice_find(entry->key,
	    ':') + 1);
	struct password_words words;
	bool is_good = password_words(mail->import->arena, entry->value,
	    &words);
	struct slice user = words.id.n > 0 ? words.id : words.user;
	const char *host;

	if (slice_starts(key, "[") && slice_ends(key, "]") && key.n > 1)
		key = (struct slice){ key.p + 1, key.n - 2 };
	host = import_word(mail->import, key);
	/* the words are said nowhere */
	entry->value = SLICE("");
	if (!is_good || host == NULL || !password_is_word(user) ||
	    !password_is_word(words.password))
		sendmail_entry_note(mail, path, entry, IMPORT_MISSING,
		    "no host with a user and a password without blanks: "
		    "write HOST USER PASSWORD into the table of auth-to");
	else
		str_addf(&mail->passwords, "%s " SLICE_FMT " " SLICE_FMT
		    "\n", host, SLICE_ARG(user), SLICE_ARG(words.password));
	if (is_good && words.mechanisms.n > 0)
		sendmail_entry_note(mail, path, entry, IMPORT_DIFFERS,
		    "M: the best mechanism that both know is taken; a third "
		    "word in the table of auth-to names another");
}

void
sendmail_authinfo(struct sendmail *mail, struct sendmail_row *row)
{
	const char *path = sendmail_path(mail, row, sendmail_argument(row, 1),
	    "/etc/mail/authinfo");
	struct import_entries entries;

	if (path == NULL || !sendmail_entries(mail, row, path, &entries))
		return;
	for (size_t i = 0; i < entries.count; i++)
		sendmail_password(mail, path, &entries.rows[i]);
	/* said at the end, with those of the access map */
}

void
sendmail_passwords_end(struct sendmail *mail)
{
	struct sendmail_row *row = sendmail_row_of(mail, "FEATURE",
	    "authinfo");

	if (row == NULL)
		row = sendmail_row_of(mail, "FEATURE", "access_db");
	if (mail->passwords.len > 0 && row != NULL)
		sendmail_say(mail, row, IMPORT_LAST_ROUTES, "auth-to <%s>",
		    import_table_add(mail->import, "", "file", "auth-to",
		    &mail->passwords, IMPORT_AGENTS));
	else if (row != NULL && !row->item.is_told)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "no entry of it is left");
}

/* zenv.c - NAME=value: the settings of the original ZMailer
 *
 * In     assignments in the manner of a shell, as its zmailer.conf has them
 * Out    those that we know set what a statement would; the statement wins.
 *        The others are kept for $NAME in later ones and otherwise ignored
 * Holds  the list of what was assigned (loader)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/read/read.h"

#include "base/banned.h"

enum { ZENV_VALUE_BYTES_MAX = 64 * 1024 };

static const char *
zenv_value(const struct conf_loader *loader, struct slice name)
{
	for (const struct conf_variable *v = loader->variables; v != NULL;
	    v = v->next)
		if (slice_is(name, v->name))
			return v->value;
	return "";
}

/* At "$": append the value; returns how many bytes of text were used. */
static size_t
zenv_expand(const struct conf_loader *loader, struct slice text,
    struct str *out)
{
	bool is_braced = text.n > 1 && text.p[1] == '{';
	size_t from = is_braced ? 2 : 1, n = from;

	while (n < text.n && (text.p[n] == '_' ||
	    ascii_is_alnum(text.p[n])))
		n++;
	if (n == from || (is_braced && (n == text.n || text.p[n] != '}'))) {
		str_addc(out, '$');
		return 1;
	}
	str_adds(out, zenv_value(loader, (struct slice){ text.p + from,
	    n - from }));
	return n + is_braced;
}

/* Without quotes, with $NAME and ${NAME} (not in single quotes). */
static void
zenv_unquote(const struct conf_loader *loader, struct slice raw,
    struct str *out)
{
	char quote = 0;

	while (raw.n > 0 && out->len < ZENV_VALUE_BYTES_MAX) {
		char c = raw.p[0];
		size_t used = 1;

		if (quote != 0 && c == quote)
			quote = 0;
		else if (quote == 0 && (c == '"' || c == '\''))
			quote = c;
		else if (c == '$' && quote != '\'')
			used = zenv_expand(loader, raw, out);
		else
			str_addc(out, c);
		raw = slice_from(raw, used);
	}
}

/* A directory that no statement has set. */
static void
set_directory(struct conf_loader *loader, const struct conf_token *token,
    const char *statement, const char *value)
{
	const struct conf_setting *setting = conf_setting_find(statement,
	    SLICE(""));

	if (value[0] != '/') {
		conf_complain(loader, CONF_ERROR, token,
		    "it begins with /", "'%.100s' is not an absolute path for "
		    SLICE_FMT, value, SLICE_ARG(token->name));
		return;
	}
	if (loader->book->setting_at[setting - conf_settings].file == NULL)
		memcpy((char *)loader->conf + setting->offset, &value,
		    sizeof(value));
}

static void
set_hash(struct conf_loader *loader, const struct conf_token *token,
    const char *value)
{
	const struct conf_setting *setting = conf_setting_find("hash",
	    SLICE(""));
	uint64_t levels;

	if (!slice_number(slice_of(value), 0, 2, &levels))
		conf_complain(loader, CONF_ERROR, token, "write 0, 1 or 2",
		    "'%.100s' is not a number for " SLICE_FMT, value,
		    SLICE_ARG(token->name));
	else if (loader->book->setting_at[setting - conf_settings].file ==
	    NULL)
		loader->conf->hash_levels = (unsigned)levels;
}

/* A directory of mailboxes; templates with % are not taken over. */
static void
set_mailbox(struct conf_loader *loader, const struct conf_token *token,
    const char *value)
{
	struct conf *conf = loader->conf;

	if (loader->book->mailbox_at.file != NULL)
		return;
	if (value[0] != '/' || strchr(value, '%') != NULL) {
		conf_complain(loader, CONF_WARNING, token,
		    "write: mailbox mbox /PATH/{user}",
		    "'%.100s' is not a directory for MAILBOX", value);
		return;
	}
	conf->mailbox_kind = MAILBOX_MBOX;
	conf->mailbox_path = arena_printf(conf->arena, "%s/{user}", value);
}

void
conf_zenv(struct conf_loader *loader, const struct conf_token *token)
{
	struct arena *arena = loader->conf->arena;
	struct conf_variable *variable = arena_alloc(arena,
	    sizeof(*variable));
	struct str value = STR_INIT;

	zenv_unquote(loader, token->text, &value);
	variable->name = slice_dup(arena, token->name);
	variable->value = slice_dup(arena, str_slice(&value));
	str_release(&value);
	variable->next = loader->variables;
	loader->variables = variable;
	if (strcmp(variable->name, "POSTOFFICE") == 0)
		set_directory(loader, token, "spool", variable->value);
	else if (strcmp(variable->name, "LOGDIR") == 0)
		set_directory(loader, token, "log", variable->value);
	else if (strcmp(variable->name, "SCHEDULERDIRHASH") == 0)
		set_hash(loader, token, variable->value);
	else if (strcmp(variable->name, "MAILBOX") == 0)
		set_mailbox(loader, token, variable->value);
}

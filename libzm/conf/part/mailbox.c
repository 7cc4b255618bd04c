/* mailbox.c - statements about mailboxes
 *
 * In     statements that agree with their rows
 * Out    conf->mailbox_*, forward_path, quota; complaints
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"
#include "grammar/units.h"

#include "base/banned.h"

static const char *const kind_names[] = { "maildir", "mbox", "mmdf" };

/* The first time this statement is met?  Notes where. */
static bool
mailbox_is_first(struct conf_loader *loader,
    const struct conf_statement *statement, struct conf_at *at)
{
	if (at->file != NULL) {
		conf_complain_twice(loader, statement->node->tokens, *at,
		    arena_printf(loader->conf->arena, "'%s' is said twice",
		    statement->row->name));
		return false;
	}
	*at = conf_at(statement->node->tokens);
	return true;
}

static bool
is_addressed(const char *path)
{
	return strstr(path, "{domain}") != NULL ||
	    strstr(path, "{detail}") != NULL;
}

/* One file, the same for whoever the mail is for. */
static bool
mailbox_is_shared(const char *path)
{
	return strstr(path, "{user}") == NULL &&
	    strstr(path, "{home}") == NULL;
}

void
conf_apply_mailbox(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;

	if (!mailbox_is_first(loader, statement, &loader->book->mailbox_at))
		return;
	conf->mailbox_kind =
	    (enum conf_mailbox_kind)statement->args[0].number;
	conf->mailbox_path = statement->args[1].text;
	conf->mailbox_account = statement->keywords[0].text;
	if (is_addressed(conf->mailbox_path))
		conf->mailbox_is_addressed = true;
	if (conf->mailbox_account != NULL &&
	    strstr(conf->mailbox_path, "{home}") != NULL)
		conf_complain(loader, CONF_ERROR,
		    statement->keywords[0].token, "write a path with {user}",
		    "with as, {home} is one and the same for all users");
	if (mailbox_is_shared(conf->mailbox_path))
		conf_complain(loader, CONF_WARNING, statement->args[1].token,
		    "write /var/mail/{user} or {home}/Maildir",
		    "all users have this one mailbox: its path has no {user} "
		    "and no {home}");
}

void
conf_apply_forward(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	const char *path = statement->args[0].text;

	if (!mailbox_is_first(loader, statement, &loader->book->forward_at))
		return;
	conf->forward_path = strcmp(path, "none") == 0 ? "" : path;
	if (is_addressed(path))
		conf->mailbox_is_addressed = true;
}

void
conf_apply_quota(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;

	if (!mailbox_is_first(loader, statement, &loader->book->quota_at))
		return;
	loader->conf->quota = (struct conf_quota){
		.bytes = statement->args[0].number,
		.messages = words[0].token != NULL ?
		    (unsigned)words[0].number : 0,
		.fails = words[1].token != NULL && words[1].number == 1,
	};
}

/* ---- shown ------------------------------------------------------------- */

void
conf_mailbox_add(struct str *out, const struct conf *conf)
{
	str_addf(out, "%s ", kind_names[conf->mailbox_kind]);
	conf_add_word(out, conf->mailbox_path);
	if (conf->mailbox_account != NULL)
		str_addf(out, " as %s", conf->mailbox_account);
}

void
conf_forward_add(struct str *out, const struct conf *conf)
{
	if (conf->forward_path[0] == '\0')
		str_adds(out, "none");
	else
		conf_add_word(out, conf->forward_path);
}

void
conf_quota_add(struct str *out, const struct conf *conf)
{
	units_add_bytes(out, conf->quota.bytes);
	if (conf->quota.messages > 0)
		str_addf(out, " messages %u", conf->quota.messages);
	if (conf->quota.fails)
		str_adds(out, " over fail");
}

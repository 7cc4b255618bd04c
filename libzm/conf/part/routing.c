/* routing.c - what statements about expansion do to the settings
 *
 * In     statements that agree with their rows
 * Out    aliases, users, lists, virtual addresses, srs in struct conf
 * Holds  nothing; arrays grow in the arena of the conf
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/part/part.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

void
conf_apply_users(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_domain *domain = target;

	domain->users = (enum conf_users)statement->args[0].number;
	domain->users_table = statement->args[0].table;
}

void
conf_apply_aliases(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_domain *domain = target;

	domain->aliases = conf_tables_of(loader, statement);
	domain->alias_count = statement->arg_count;
}

void
conf_apply_virtual(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;

	if (conf->virtual_count > 0) {
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    "one statement can name several tables",
		    "'virtual' is said twice");
		return;
	}
	conf->virtuals = conf_tables_of(loader, statement);
	conf->virtual_count = statement->arg_count;
	conf->virtual_at = conf_at(statement->node->tokens);
}

enum { LIST_MEMBERS, LIST_OWNER, LIST_ERRORS, LIST_VERP };  /* keywords */

void
conf_apply_list(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct arena *arena = loader->conf->arena;
	struct conf *conf = loader->conf;
	struct conf_list list = {
		.members = words[LIST_MEMBERS].text,
		.owner = words[LIST_OWNER].text,
		.errors_to = words[LIST_ERRORS].text,
		.is_verp = words[LIST_VERP].token != NULL,
		.at = conf_at(statement->node->tokens),
	};
	struct slice rest;
	struct path path;

	if (path_parse(slice_of(statement->args[0].text), PATH_BARE_OK |
	    PATH_LOCAL_OK | PATH_UTF8, &path, &rest, NULL) != 0 ||
	    path.domain.n == 0) {
		conf_complain(loader, CONF_ERROR, statement->args[0].token,
		    "write list NAME@DOMAIN", "a list needs its domain");
		return;
	}
	list.local = slice_lower(arena, path_local_plain(arena, &path)).p;
	list.domain = slice_lower(arena, path.domain).p;
	conf->lists = arena_grow(arena, conf->lists, conf->list_count,
	    sizeof(*conf->lists));
	conf->lists[conf->list_count++] = list;
}

enum { SRS_KEY, SRS_EXPIRE };			/* keywords */
enum { SRS_EXPIRE_S = 21 * 24 * 3600 };		/* when it is not said */

void
conf_apply_srs(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf *conf = loader->conf;

	if (conf->srs.domain != NULL) {
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    NULL, "'srs' is said twice");
		return;
	}
	conf->srs = (struct conf_srs){ statement->args[0].text,
	    words[SRS_KEY].text, SRS_EXPIRE_S,
	    conf_at(statement->node->tokens) };
	if (words[SRS_EXPIRE].token != NULL)
		conf->srs.expire_s =
		    (int64_t)words[SRS_EXPIRE].number / 1000;
}

static void
check_ours(struct conf_loader *loader, const char *what, const char *domain,
    struct conf_at at)
{
	struct arena *arena = loader->conf->arena;

	/* a database may have it: who loads asks nobody */
	if (conf_domain_find(loader->conf, slice_of(domain)) != NULL ||
	    conf_domain_table(loader->conf, 0, NULL) != NULL)
		return;
	conf_complain_at(loader->report, loader->report_arena, loader->book,
	    CONF_ERROR, at, 1, arena_printf(arena, "write: domain %s",
	    domain), arena_printf(arena, "the domain of this %s, %s, is not "
	    "one of ours", what, domain));
}

void
conf_check_expansion(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; i < conf->list_count; i++)
		check_ours(loader, "list", conf->lists[i].domain,
		    conf->lists[i].at);
	if (conf->srs.domain != NULL)
		check_ours(loader, "srs", conf->srs.domain, conf->srs.at);
}

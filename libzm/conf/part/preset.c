/* preset.c - what holds when the file is silent
 *
 * In     the presets of the SETTING rows; the statements below, which stand
 *        after those of the file
 * Out    a conf in which every field has a value
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "conf/part/part.h"
#include "conf/read/read.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

enum {
	SMART_HOST_PARALLEL = 100,
	ORDINARY_PARALLEL = 20		/* as in schedule smtp, below */
};

static const char system_mailname[] = "/etc/mailname";
static const char system_aliases[] = "/etc/aliases";

static const char statements_after[] =
    "accept from 127.0.0.0/8 for any\n"
    "accept from ::1 for any\n"
    "accept auth for any\n"
    "schedule local/* { parallel 4; agents 8; overfeed 50 }\n"
    "schedule lmtp/*  { parallel 4; agents 8; overfeed 50 }\n"
    "schedule pipe/*  { parallel 4; agents 8; overfeed 1 }\n"
    "schedule error/* { parallel 2; agents 2; overfeed 50 }\n"
    "schedule http/*  { parallel 4; agents 8; overfeed 10 }\n"
    "schedule hold/*  { parallel 1; agents 1; overfeed 50; retry 1h;"
    " warn 0; expire 52w }\n"
    "schedule smtp/*  { parallel 20; agents 50; overfeed 20 }\n";

/* Parse a preset as if somebody had written it. */
static void
preset_setting(struct conf_loader *loader, const struct conf_setting *setting,
    const char *text)
{
	static const struct conf_source source = { .name = NULL };
	static const struct conf_row row = { .keywords = "" };
	struct conf_token token = {
		.kind = TOKEN_WORD, .text = slice_of(text),
		.raw = slice_of(text), .source = &source,
	};
	struct conf_cursor cursor = {
		.loader = loader, .row = &row, .next = &token,
		.end = &token + 1,
	};
	struct conf_value value;

	if (!conf_value_take(&cursor, slice_of(setting->type), &value))
		panic("conf: preset of %s %s", setting->statement,
		    setting->key);
	conf_field_store((char *)loader->conf + setting->offset,
	    setting->width, setting->type, &value);
}

const char *
conf_mailname(struct arena *arena)
{
	struct str text = STR_INIT;
	struct err err = { "" };
	const char *name = NULL;
	struct slice line;

	if (conf_read_file(system_mailname, &text, &err) == 0) {
		line = slice_trim(slice_of(text.buf));
		if (memchr(line.p, '.', line.n) != NULL &&
		    line.p[0] != '[' && domain_parse(line, NULL) == 0)
			name = slice_lower(arena, line).p;
	}
	str_release(&text);
	return name;
}

const char *
conf_mailname_note(const struct conf *conf, const char *mailname,
    struct arena *arena)
{
	if (mailname == NULL || strcmp(mailname, conf->host) == 0)
		return NULL;
	return arena_printf(arena, "%s has %s, and host is %s: host counts, "
	    "mail of local programs is from user@%s%s", system_mailname,
	    mailname, conf->host, conf->host,
	    conf_domain_find(conf, slice_of(mailname)) != NULL ||
	    conf_domain_table(conf, 0, NULL) != NULL ? "" :
	    arena_printf(arena, "; %s is no domain of ours", mailname));
}

/* The system's name of this machine, if mail can use it.  Debian's installer
 * makes it a name without a domain, and writes the one that mail is to show
 * into /etc/mailname. */
static const char *
system_host(struct conf_loader *loader)
{
	const char *mailname;
	char name[256];

	if (gethostname(name, sizeof(name)) != 0)
		return "localhost";
	name[sizeof(name) - 1] = '\0';
	mailname = strchr(name, '.') == NULL ?
	    conf_mailname(loader->conf->arena) : NULL;
	if (mailname != NULL)
		return mailname;
	if (name[0] == '[' || domain_parse(slice_of(name), NULL) != 0)
		return "localhost";
	return slice_lower(loader->conf->arena, slice_of(name)).p;
}

void
conf_preset_before(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;

	for (size_t i = 0; i < conf_setting_count; i++)
		if (conf_settings[i].preset[0] != '\0')
			preset_setting(loader, &conf_settings[i],
			    conf_settings[i].preset);
	conf->host = system_host(loader);
	conf->mailbox_kind = MAILBOX_MBOX;
	conf->mailbox_path = "/var/mail/{user}";
	conf->forward_path = "{home}/.forward";
}

/* Is this name spoken for by a domain statement or a route of its own? */
static bool
is_spoken_for(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->domain_count; i++)
		for (size_t k = 0; k < conf->domains[i].name_count; k++)
			if (strcmp(conf->domains[i].names[k], name) == 0)
				return true;
	for (size_t i = 0; i < conf->route_count; i++)
		if (strcmp(conf->routes[i].pattern, name) == 0)
			return true;
	return false;
}

bool
conf_has_system_aliases(void)
{
	return access(system_aliases, F_OK) == 0;
}

/* The table called aliases, else the system's file: one that is made later
 * counts from then on, one that was there and is gone is missed. */
static const char *
preset_aliases(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;

	if (conf_table_find(conf, "aliases") != NULL)
		return "aliases";
	conf->tables = arena_grow(conf->arena, conf->tables, conf->table_count,
	    sizeof(*conf->tables));
	conf->tables[conf->table_count++] = (struct conf_table){
		.name = "aliases",
		.spec = arena_printf(conf->arena, "%sfile:%s",
		    conf->has_aliases ? "" : "?", system_aliases),
	};
	return "aliases";
}

static void
preset_domain(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;
	const char *candidates[] = { conf->host, "localhost" };
	struct conf_domain domain = {
		.deliver = { .channel = "local", .host = "-" } };

	domain.names = arena_alloc(conf->arena, sizeof(candidates));
	for (size_t i = 0; i < 2; i++) {
		if (is_spoken_for(conf, candidates[i]) ||
		    (i == 1 && domain.name_count == 1 &&
		    strcmp(conf->host, "localhost") == 0))
			continue;
		domain.names[domain.name_count++] = candidates[i];
	}
	if (domain.name_count > 0)
		conf_domain_add(loader, &domain, NULL);
}

static bool
route_has_smart_host(const struct conf_route *route)
{
	return strcmp(route->pattern, "*") == 0 && route->channel != NULL &&
	    strcmp(route->channel, "smtp") == 0 && route->host[0] != '\0';
}

static size_t
smart_hosts_count(const struct conf *conf)
{
	size_t count = 0;

	for (size_t i = 0; i < conf->route_count; i++)
		count += route_has_smart_host(&conf->routes[i]);
	return count;
}

/* All of them together have at most half of all agents: a host that answers
 * nobody keeps what it has for minutes, and others find a place. */
static unsigned
smart_host_share(const struct conf *conf)
{
	unsigned half = conf->limits.agents / 2;
	size_t count = smart_hosts_count(conf);

	if (count == 0 || half / count >= SMART_HOST_PARALLEL)
		return SMART_HOST_PARALLEL;
	if (half == 0)
		return 1;
	if (count > 1 && half / count < ORDINARY_PARALLEL)
		return 0;
	return half / (unsigned)count;
}

/* A host that all mail is to go through expects more of us than one that the
 * DNS names.  Where there are many, they are hosts like others. */
static void
preset_smart_hosts(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;
	unsigned share = smart_host_share(conf);

	for (size_t i = 0; share > 0 && i < conf->route_count; i++) {
		const struct conf_route *route = &conf->routes[i];
		struct conf_clause clause = { .schedule = {
			.channel = "smtp", .host = route->host,
			.parallel = share, .agents = share } };

		if (!route_has_smart_host(route))
			continue;
		conf_clause_note(&clause, "parallel");
		conf_clause_note(&clause, "agents");
		conf_clause_push(loader, &clause);
	}
}

/* The last clause is one for everything that says all. */
static void
preset_clause(struct conf_loader *loader)
{
	struct str text = STR_INIT;

	str_adds(&text, "schedule */* {");
	for (size_t i = 0; i < conf_row_count; i++)
		if (conf_rows[i].group == GROUP_SCHEDULE &&
		    conf_rows[i].value[0] != '\0')
			str_addf(&text, " %s %s;", conf_rows[i].name,
			    conf_rows[i].value);
	str_adds(&text, " }\n");
	conf_load_text(loader, NULL, str_slice(&text));
	str_release(&text);
}

void
conf_preset_after(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;
	const char *aliases = preset_aliases(loader);

	preset_domain(loader);
	for (size_t i = 0; i < conf->domain_count; i++)
		if (conf->domains[i].aliases == NULL) {
			conf->domains[i].aliases = arena_alloc(conf->arena,
			    sizeof(const char *));
			conf->domains[i].aliases[0] = aliases;
			conf->domains[i].alias_count = 1;
		}
	if (conf->listen_count == 0)
		conf_load_text(loader, NULL, SLICE("listen 127.0.0.1:25\n"));
	preset_smart_hosts(loader);
	conf_load_text(loader, NULL, SLICE(statements_after));
	preset_clause(loader);
	conf_schedule_resolve(loader);
}

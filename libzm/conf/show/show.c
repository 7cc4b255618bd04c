/* show.c - the settings in force, and where each was written
 *
 * In     a conf
 * Out    statements that would make it, with "# file:line" after them; or
 *        JSON
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "conf/part/part.h"
#include "conf/show/show.h"
#include "grammar/units.h"

#include "base/banned.h"

struct view {
	const struct conf	*conf;
	struct str		*out;
	struct str		 value;		/* being made */
	bool			 all, is_json;
};

enum { ORIGIN_COLUMN = 48 };

/* One statement is complete in view->value. */
static void
show_emit(struct view *view, const char *statement, struct conf_at at)
{
	size_t begin = view->out->len;

	if (at.file == NULL && !view->all) {
		str_reset(&view->value);
		return;
	}
	if (view->is_json) {
		json_open_answer(view->out);
		json_text(view->out, "statement", slice_of(statement));
		json_text(view->out, "value", str_slice(&view->value));
		json_bool(view->out, "preset", at.file == NULL);
		if (at.file != NULL) {
			json_text(view->out, "file", slice_of(at.file));
			json_number(view->out, "line", at.line);
		}
		json_close(view->out);
	} else {
		str_addf(view->out, "%s%s%s ", statement,
		    view->value.len > 0 ? " " : "", view->value.buf);
		while (view->out->len - begin < ORIGIN_COLUMN)
			str_addc(view->out, ' ');
		if (at.file != NULL)
			str_addf(view->out, "# %s:%u\n", at.file, at.line);
		else
			str_adds(view->out, "# preset\n");
	}
	str_reset(&view->value);
}

/* `size` and `limit size` are one field: the one that was said is shown,
 * else the last. */
static bool
is_shown_elsewhere(const struct conf *conf,
    const struct conf_setting *setting, bool is_said)
{
	for (size_t i = 0; i < conf_setting_count && !is_said; i++)
		if (&conf_settings[i] != setting &&
		    conf_settings[i].offset == setting->offset &&
		    (conf->book->setting_at[i].file != NULL ||
		    &conf_settings[i] > setting))
			return true;
	return false;
}

static void
show_settings(struct view *view)
{
	for (size_t i = 0; i < conf_setting_count; i++) {
		const struct conf_setting *setting = &conf_settings[i];
		struct conf_at at = view->conf->book->setting_at[i];
		size_t before;

		if (strcmp(setting->statement, "dns") == 0 &&
		    conf_has_resolver(view->conf))
			continue;	/* it is said by resolver */
		if (is_shown_elsewhere(view->conf, setting, at.file != NULL))
			continue;
		if (setting->key[0] != '\0')
			str_addf(&view->value, "%s ", setting->key);
		before = view->value.len;
		conf_show_field(&view->value, setting->type,
		    (const char *)view->conf + setting->offset,
		    setting->width);
		if (view->value.len == before)
			str_reset(&view->value);
		else
			show_emit(view, setting->statement, at);
	}
}

static void
show_listens(struct view *view)
{
	for (size_t i = 0; i < view->conf->listen_count; i++) {
		const struct conf_listen *listen_on = &view->conf->listens[i];

		str_addf(&view->value, "%s%s%s%s%s%s", listen_on->text,
		    listen_on->is_submission ? " submission" : "",
		    listen_on->is_tls ? " tls" : "",
		    listen_on->is_lmtp ? " lmtp" : "",
		    listen_on->no_verify ? " verify off" : "",
		    listen_on->decides_early ? " decide early" : "");
		show_emit(view, "listen", listen_on->at);
	}
}

static void
show_tables(struct view *view)
{
	for (size_t i = 0; i < view->conf->table_count; i++) {
		const struct conf_table *table = &view->conf->tables[i];
		const char *spec = table->spec + (table->spec[0] == '?');
		struct slice rest = slice_of(spec), line;

		str_addf(&view->value, "%s ", table->name);
		if (slice_starts(rest, "inline:")) {
			rest = slice_from(rest, 7);
			str_adds(&view->value, "{ ");
			while (slice_cut(&rest, '\n', &line))
				if (line.n > 0)
					str_addf(&view->value, SLICE_FMT "; ",
					    SLICE_ARG(line));
			str_addc(&view->value, '}');
		} else {
			conf_add_word(&view->value, spec);
		}
		show_emit(view, "table", table->at);
	}
}

static void
show_domains(struct view *view)
{
	static const char *const users[] = { "passwd", "any",
	    "none" };

	for (size_t i = 0; i < view->conf->domain_count; i++) {
		const struct conf_domain *domain = &view->conf->domains[i];
		struct str *value = &view->value;

		for (size_t k = 0; k < domain->name_count; k++)
			str_addf(value, "%s ", domain->names[k]);
		if (domain->users == USERS_TABLE)
			str_addf(value, "{ users <%s>", domain->users_table);
		else
			str_addf(value, "{ users %s", users[domain->users]);
		for (size_t k = 0; k < domain->alias_count; k++)
			str_addf(value, k == 0 ? "; aliases <%s>" : " <%s>",
			    domain->aliases[k]);
		str_addf(value, "; deliver %s", domain->deliver.channel);
		if (domain->deliver.command != NULL) {
			str_addc(value, ' ');
			conf_add_word(value, domain->deliver.command);
			if (domain->deliver.account != NULL)
				str_addf(value, " as %s",
				    domain->deliver.account);
		} else if (strcmp(domain->deliver.host, "-") != 0) {
			str_addc(value, ' ');
			conf_add_word(value, domain->deliver.host);
		}
		str_adds(value, " }");
		show_emit(view, "domain", domain->at);
	}
}

/* Lists, virtual addresses, srs. */
static void
show_expansion(struct view *view)
{
	const struct conf *conf = view->conf;
	struct str *value = &view->value;

	for (size_t i = 0; i < conf->virtual_count; i++)
		str_addf(value, i == 0 ? "<%s>" : " <%s>", conf->virtuals[i]);
	if (conf->virtual_count > 0)
		show_emit(view, "virtual", conf->virtual_at);
	for (size_t i = 0; i < conf->list_count; i++) {
		const struct conf_list *list = &conf->lists[i];

		str_addf(value, "%s@%s members %s owner %s", list->local,
		    list->domain, list->members, list->owner);
		if (list->errors_to != NULL)
			str_addf(value, " errors-to %s", list->errors_to);
		if (list->is_verp)
			str_adds(value, " verp");
		show_emit(view, "list", list->at);
	}
	if (conf->srs.domain != NULL) {
		str_addf(value, "%s key %s expire %jds", conf->srs.domain,
		    conf->srs.key, (intmax_t)conf->srs.expire_s);
		show_emit(view, "srs", conf->srs.at);
	}
	if (conf->hooks.script != NULL) {
		conf_show_hooks(&conf->hooks, value);
		show_emit(view, "hooks", conf->hooks.at);
	}
	for (int i = 0; i < LEARN_COUNT; i++) {
		if (conf->learns[i].program == NULL)
			continue;
		str_adds(value, i == LEARN_SPAM ? "spam " : "ham ");
		conf_show_learn(&conf->learns[i], value);
		show_emit(view, "learn", conf->learns[i].at);
	}
}

static void
show_rewriting(struct view *view)
{
	const struct conf *conf = view->conf;

	for (size_t i = 0; i < conf->sign_count; i++) {
		conf_sign_add(&view->value, &conf->signs[i]);
		show_emit(view, "sign", conf->signs[i].at);
	}
	for (size_t i = 0; i < conf->sign_table_count; i++) {
		conf_sign_table_add(&view->value, &conf->sign_tables[i]);
		show_emit(view, "sign", conf->sign_tables[i].at);
	}
	for (size_t i = 0; i < conf->canonical_count; i++) {
		conf_canonical_add(&view->value, &conf->canonicals[i]);
		show_emit(view, "canonical", conf->canonicals[i].at);
	}
	for (size_t i = 0; i < conf->masquerade_count; i++) {
		conf_masquerade_add(&view->value, &conf->masquerades[i]);
		show_emit(view, "masquerade", conf->masquerades[i].at);
	}
	for (size_t i = 0; i < conf->generic_count; i++) {
		conf_generic_add(&view->value, &conf->generics[i]);
		show_emit(view, "generic", conf->generics[i].at);
	}
	for (size_t i = 0; i < conf->copy_count; i++) {
		conf_copy_add(&view->value, &conf->copies[i]);
		show_emit(view, conf->copies[i].account ? "archive" : "copy",
		    conf->copies[i].at);
	}
}

static void
show_routes(struct view *view)
{
	for (size_t i = 0; i < view->conf->route_count; i++) {
		const struct conf_route *route = &view->conf->routes[i];

		conf_route_add(&view->value, route);
		show_emit(view, route->table ? "routes" : "route", route->at);
	}
}

static void
add_condition(struct str *out, const char *word, const char *value)
{
	if (value == NULL)
		return;
	str_addf(out, "%s%s ", out->len > 0 ? " " : "", word);
	conf_add_word(out, value);
}

static void
show_auth(struct view *view)
{
	static const char *const names[] = { "", "users ", "dovecot ",
	    "pam", "saslauthd " };
	const struct conf_auth *auth = &view->conf->auth;
	struct str *value = &view->value;

	if (auth->kind == AUTH_NONE)
		return;
	str_adds(value, names[auth->kind]);
	if (auth->kind == AUTH_USERS)
		str_addf(value, "<%s>%s", auth->table,
		    slice_starts(slice_of(auth->mechanisms), "SCRAM") ?
		    " scram" : "");
	else if (auth->socket != NULL)
		conf_add_word(value, auth->socket);
	if (auth->kind == AUTH_DOVECOT)
		str_addf(value, " mechanisms \"%s\"", auth->mechanisms);
	else if (auth->kind != AUTH_USERS)
		str_addf(value, " service %s", auth->service);
	if (auth->clear_loopback)
		str_adds(value, " clear loopback");
	if (auth->senders != NULL)
		str_addf(value, " senders %s", auth->senders);
	show_emit(view, "auth", auth->at);
}

static void
show_tls(struct view *view)
{
	static const char *const asks[] = { "ignore", "ask", "require" };
	const struct conf *conf = view->conf;

	for (size_t i = 0; i < conf->certificate_count; i++) {
		const struct conf_certificate *one = &conf->certificates[i];

		str_adds(&view->value, "certificate ");
		conf_add_word(&view->value, one->file);
		str_adds(&view->value, " key ");
		conf_add_word(&view->value, one->key);
		if (one->name != NULL)
			str_addf(&view->value, " for %s", one->name);
		show_emit(view, "tls", one->at);
	}
	if (conf->certificate_table != NULL) {
		str_addf(&view->value, "certificates <%s>",
		    conf->certificate_table);
		show_emit(view, "tls", conf->certificate_table_at);
	}
	str_addf(&view->value, "min %s", conf->needs_tls13 ? "1.3" : "1.2");
	show_emit(view, "tls", conf->book->tls_min_at);
	str_addf(&view->value, "client-certificates %s",
	    asks[conf->client_certificates]);
	if (conf->client_ca != NULL) {
		str_adds(&view->value, " ca ");
		conf_add_word(&view->value, conf->client_ca);
	}
	show_emit(view, "tls", conf->book->client_certificates_at);
}

static void
show_rules(struct view *view)
{
	for (size_t i = 0; i < view->conf->dnsbl_count; i++) {
		const struct conf_dnsbl *list = &view->conf->dnsbls[i];

		str_adds(&view->value, list->zone);
		if (list->has_answer) {
			str_adds(&view->value, " answer ");
			conf_add_net(&view->value, &list->answer);
		}
		str_addf(&view->value, " weight %d", abs(list->weight));
		show_emit(view, list->weight < 0 ? "dnswl" : "dnsbl", list->at);
	}
	for (size_t i = 0; i < view->conf->rule_count; i++) {
		const struct conf_rule *rule = &view->conf->rules[i];

		conf_rule_add(&view->value, rule);
		show_emit(view, rule->word, rule->at);
	}
}

static void
add_peers(struct str *value, const struct conf_peers *peers)
{
	if (peers->table != NULL)
		str_addf(value, "<%s>", peers->table);
	else
		conf_add_net(value, &peers->net);
}

static void
add_except(struct view *view, const struct conf_milter *milter)
{
	if (!milter->has_except)
		return;
	str_adds(&view->value, " except ");
	conf_add_net(&view->value, &milter->except);
}

static void
show_peers(struct view *view)
{
	const struct conf *conf = view->conf;

	for (size_t i = 0; i < conf->trust_count; i++) {
		add_peers(&view->value, &conf->trusts[i]);
		conf_trust_add(&view->value, conf->trusts[i].words);
		show_emit(view, "trust", conf->trusts[i].at);
	}
	if (conf->arc_domain_count > 0) {
		str_adds(&view->value, "from");
		for (size_t i = 0; i < conf->arc_domain_count; i++)
			str_addf(&view->value, " %s", conf->arc_domains[i]);
		show_emit(view, "trust arc", conf->arc_at);
	}
	for (size_t i = 0; i < conf->milter_count; i++) {
		const struct conf_milter *milter = &conf->milters[i];

		str_addf(&view->value, "%s fail %s timeout ", milter->socket,
		    conf_milter_fails[milter->fail]);
		units_add_span(&view->value, milter->timeout_ms);
		str_adds(&view->value, " connect ");
		units_add_span(&view->value, milter->connect_ms);
		str_adds(&view->value, " command ");
		units_add_span(&view->value, milter->command_ms);
		add_except(view, milter);
		if (milter->sees_local)
			str_adds(&view->value, " also sendmail");
		show_emit(view, "milter", milter->at);
	}
	if (conf->content_filter.socket != NULL) {
		const struct conf_milter *filter = &conf->content_filter;

		conf_add_word(&view->value, filter->socket);
		str_addf(&view->value, " fail %s timeout ",
		    conf_milter_fails[filter->fail]);
		units_add_span(&view->value, filter->timeout_ms);
		add_except(view, filter);
		show_emit(view, "content-filter", filter->at);
	}
	for (size_t i = 0; i < conf->without_count; i++) {
		str_adds(&view->value, "without");
		conf_ehlo_add(&view->value, conf->withouts[i].words);
		str_adds(&view->value, " for ");
		add_peers(&view->value, &conf->withouts[i]);
		show_emit(view, "ehlo", conf->withouts[i].at);
	}
}

static void
show_agents(struct view *view)
{
	const struct conf *conf = view->conf;
	struct str *value = &view->value;

	for (size_t i = 0; i < conf->tls_to_count; i++) {
		const struct conf_tls_to *one = &conf->tls_to[i];

		str_addf(value, "%s %s", one->pattern,
		    conf_tls_level_word(one->level));
		for (size_t k = 0; k < one->name_count; k++)
			str_addf(value, "%s%s", k > 0 ? "," : " name ",
			    one->names[k]);
		add_condition(value, "ca", one->roots);
		add_condition(value, "cert", one->certificate);
		add_condition(value, "key", one->key);
		show_emit(view, "tls-to", one->at);
	}
	for (size_t i = 0; i < conf->xclient_to_count; i++) {
		str_adds(value, conf->xclient_to[i].pattern);
		show_emit(view, "xclient-to", conf->xclient_to[i].at);
	}
	if (conf->auth_to.table != NULL) {
		str_addf(value, "<%s>%s", conf->auth_to.table,
		    conf->auth_to.is_plain_ok ? " unencrypted" : "");
		show_emit(view, "auth-to", conf->auth_to.at);
	}
}

static void
show_zones(struct view *view)
{
	for (size_t i = 0; i < view->conf->zone_count; i++) {
		conf_show_zone(&view->conf->zones[i], &view->value);
		show_emit(view, "zone", view->conf->zones[i].at);
	}
}

static void
show_cluster(struct view *view)
{
	if (view->conf->cluster.name == NULL)
		return;
	conf_cluster_add(&view->value, &view->conf->cluster);
	show_emit(view, "cluster", view->conf->cluster.at);
}

static void
show_resolver(struct view *view)
{
	if (!conf_has_resolver(view->conf))
		return;
	conf_resolver_add(&view->value, &view->conf->resolver);
	show_emit(view, "resolver", view->conf->resolver.at);
}

static void
show_objectives(struct view *view)
{
	for (size_t i = 0; i < view->conf->objective_count; i++) {
		conf_objective_add(&view->value, &view->conf->objectives[i]);
		show_emit(view, "objective", view->conf->objectives[i].at);
	}
}

static void
show_mailq(struct view *view)
{
	const struct conf_mailq *mailq = &view->conf->mailq;

	if (mailq->users == NULL)
		return;
	str_addf(&view->value, "%s users ", mailq->listen.text);
	conf_add_word(&view->value, mailq->users);
	if (mailq->is_sha256_only)
		str_adds(&view->value, " sha256-only");
	show_emit(view, "mailq", mailq->listen.at);
}

static void
show_log_to(struct view *view)
{
	if (view->conf->log_to.at.file == NULL)
		return;
	conf_log_to_add(&view->value, &view->conf->log_to);
	show_emit(view, "log-to", view->conf->log_to.at);
}

static void
show_notifies(struct view *view)
{
	for (size_t i = 0; i < view->conf->notify_count; i++) {
		conf_notify_add(&view->value, &view->conf->notifies[i]);
		show_emit(view, "notify", view->conf->notifies[i].at);
	}
}

static void
show_log_levels(struct view *view)
{
	for (size_t i = 0; i < view->conf->log_level_count; i++) {
		conf_log_level_add(&view->value, &view->conf->log_levels[i]);
		show_emit(view, "log-level", view->conf->log_levels[i].at);
	}
}

static void
show_schedules(struct view *view)
{
	for (size_t i = 0; i < view->conf->schedule_count; i++) {
		conf_show_clause(&view->conf->schedules[i], &view->value);
		show_emit(view, "schedule", view->conf->schedules[i].at);
	}
}

static void
show_statement_value(const struct conf *conf, bool all, bool is_json,
    struct str *out)
{
	struct view view = {
		.conf = conf, .out = out, .value = STR_INIT, .all = all,
		.is_json = is_json,
	};

	show_settings(&view);
	conf_mailbox_add(&view.value, conf);
	show_emit(&view, "mailbox", conf->book->mailbox_at);
	conf_forward_add(&view.value, conf);
	show_emit(&view, "forward", conf->book->forward_at);
	conf_quota_add(&view.value, conf);
	show_emit(&view, "quota", conf->book->quota_at);
	show_listens(&view);
	show_tls(&view);
	show_auth(&view);
	show_tables(&view);
	show_domains(&view);
	show_routes(&view);
	show_expansion(&view);
	show_rewriting(&view);
	show_rules(&view);
	show_peers(&view);
	show_agents(&view);
	show_zones(&view);
	show_cluster(&view);
	show_resolver(&view);
	show_objectives(&view);
	show_mailq(&view);
	show_log_to(&view);
	show_notifies(&view);
	show_log_levels(&view);
	show_schedules(&view);
	str_release(&view.value);
}

void
conf_show(const struct conf *conf, bool all, struct str *out)
{
	show_statement_value(conf, all, false, out);
}

void
conf_show_json(const struct conf *conf, bool all, struct str *out)
{
	show_statement_value(conf, all, true, out);
}

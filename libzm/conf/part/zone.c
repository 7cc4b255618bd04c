/* zone.c - sending zones: where mail is sent from, and which mail
 *
 * In     zone statements and the items of their blocks
 * Out    zones; the one that a message takes to a destination
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <string.h>
#include <time.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "conf/part/part.h"
#include "grammar/units.h"

#include "base/banned.h"

enum { ZONE_NAME_BYTES_MAX = 64 };

static bool
zone_name_is_good(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!(ascii_is_lower(text.p[i]) ||
		    ascii_is_digit(text.p[i]) ||
		    (i > 0 && ascii_is_among(text.p[i], "-_."))))
			return false;
	return text.n > 0 && text.n <= ZONE_NAME_BYTES_MAX;
}

void
conf_apply_zone(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	struct conf_zone zone = {
		.name = statement->args[0].text,
		.at = conf_at(statement->node->tokens),
	};

	if (!zone_name_is_good(slice_of(zone.name)))
		conf_complain(loader, CONF_ERROR, statement->args[0].token,
		    "small letters, digits, - _ and .",
		    "'%.100s' is no name for a zone", zone.name);
	if (conf_zone_find(conf, slice_of(zone.name)) != NULL)
		conf_complain(loader, CONF_ERROR, statement->args[0].token,
		    NULL, "there is a zone '%s' already", zone.name);
	conf_check_list(loader, statement->node->children, GROUP_ZONE, &zone);
	conf->zones = arena_grow(conf->arena, conf->zones, conf->zone_count,
	    sizeof(*conf->zones));
	conf->zones[conf->zone_count++] = zone;
}

/* ---- items ----------------------------------------------------------- */

static bool
outlet_address_parse(const char *text, struct conf_outlet *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&out->address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&out->address;

	memset(&out->address, 0, sizeof(out->address));
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		return true;
	}
	six->sin6_family = AF_INET6;
	return inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
}

void
conf_apply_zone_source(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_zone *zone = target;
	struct conf_outlet source = { .text = statement->args[0].text,
	    .helo = statement->keywords[0].text, .weight = 1 };

	if (statement->keywords[1].token != NULL)
		source.weight = (unsigned)statement->keywords[1].number;
	if (!outlet_address_parse(source.text, &source)) {
		conf_complain(loader, CONF_ERROR, statement->args[0].token,
		    "write 192.0.2.1 or 2001:db8::1", "'%.100s' is not an "
		    "address", source.text);
		return;
	}
	zone->sources = arena_grow(loader->conf->arena, zone->sources,
	    zone->source_count, sizeof(*zone->sources));
	zone->sources[zone->source_count++] = source;
}

static const char **
words_take(struct conf_loader *loader, const struct conf_statement *statement,
    const char **words, size_t *count)
{
	for (size_t i = 0; i < statement->arg_count; i++) {
		words = arena_grow(loader->conf->arena, words, *count,
		    sizeof(*words));
		words[(*count)++] = statement->args[i].text;
	}
	return words;
}

void
conf_apply_zone_sender(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_zone *zone = target;

	zone->senders = words_take(loader, statement, zone->senders,
	    &zone->sender_count);
}

void
conf_apply_zone_to(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_zone *zone = target;

	zone->hosts = words_take(loader, statement, zone->hosts,
	    &zone->host_count);
}

/* "2026-11-21" -> seconds of its midnight in UTC. */
static bool
warm_up_day_parse(struct slice text, int64_t *out_s)
{
	struct slice year_text, month_text;
	uint64_t year, month, day;
	struct tm tm = { .tm_isdst = 0 };

	slice_cut(&text, '-', &year_text);
	slice_cut(&text, '-', &month_text);
	if (!slice_number(year_text, 1970, 9999, &year) ||
	    !slice_number(month_text, 1, 12, &month) ||
	    !slice_number(text, 1, 31, &day))
		return false;
	tm.tm_year = (int)year - 1900;
	tm.tm_mon = (int)month - 1;
	tm.tm_mday = (int)day;
	*out_s = (int64_t)timegm(&tm);
	return tm.tm_mday == (int)day;	/* there is no 31 June */
}

void
conf_apply_zone_warm_up(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_zone *zone = target;

	if (!warm_up_day_parse(statement->args[0].token->text,
	    &zone->warm_start_s)) {
		conf_complain(loader, CONF_ERROR, statement->args[0].token,
		    "write YYYY-MM-DD", "'%.100s' is not a day",
		    statement->args[0].text);
		return;
	}
	zone->warm_is_shared = statement->keywords[0].token != NULL;
	zone->warm_count = statement->arg_count - 1;
	zone->warm_caps = arena_alloc(loader->conf->arena,
	    (zone->warm_count + 1) * sizeof(*zone->warm_caps));
	for (size_t i = 0; i < zone->warm_count; i++)
		zone->warm_caps[i] =
		    (unsigned)statement->args[i + 1].number;
}

/* ---- checks, look-ups ------------------------------------------------ */

static void
zone_complain(struct conf_loader *loader, enum conf_kind kind,
    const struct conf_zone *zone, const char *hint, const char *text)
{
	conf_complain_at(loader->report, loader->report_arena, loader->book,
	    kind, zone->at, 4, hint, text);
}

/* Following overflow comes to an end: at most one more step than zones. */
static bool
is_circle(const struct conf *conf, const struct conf_zone *zone)
{
	for (size_t i = 0; i <= conf->zone_count; i++) {
		if (zone == NULL || zone->overflow == NULL)
			return false;
		zone = conf_zone_find(conf, slice_of(zone->overflow));
	}
	return true;
}

static void
zone_check_routes(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; i < conf->route_count; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->zone == NULL)
			continue;
		if (conf_zone_find(conf, slice_of(route->zone)) == NULL)
			conf_complain_at(loader->report, loader->report_arena,
			    loader->book, CONF_ERROR, route->at, 5,
			    arena_printf(conf->arena, "add: zone %s { source "
			    "ADDRESS }", route->zone),
			    arena_printf(conf->arena, "no zone is called "
			    "'%s'", route->zone));
		else if (strncmp(route->channel, "smtp", 4) != 0)
			conf_complain_at(loader->report, loader->report_arena,
			    loader->book, CONF_WARNING, route->at, 5, NULL,
			    "a zone is for mail that goes out by SMTP");
	}
}

void
conf_check_sending_zones(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;
	struct arena *arena = conf->arena;

	zone_check_routes(loader);
	for (size_t i = 0; i < conf->zone_count; i++) {
		const struct conf_zone *zone = &conf->zones[i];

		if (zone->overflow != NULL && conf_zone_find(conf,
		    slice_of(zone->overflow)) == NULL)
			zone_complain(loader, CONF_ERROR, zone, NULL,
			    arena_printf(arena, "no zone is called '%s'",
			    zone->overflow));
		else if (is_circle(conf, zone))
			zone_complain(loader, CONF_ERROR, zone, NULL,
			    "its overflow comes back to itself");
		for (size_t k = 0; k < i; k++)
			if (zone->sender_count + zone->host_count > 0 &&
			    conf->zones[k].sender_count == 0 &&
			    conf->zones[k].host_count == 1 &&
			    strcmp(conf->zones[k].hosts[0], "*") == 0) {
				zone_complain(loader, CONF_WARNING, zone,
				    "the first match in the file wins",
				    arena_printf(arena, "'sender' and 'to' "
				    "can never match: zone %s takes "
				    "everything", conf->zones[k].name));
				break;
			}
	}
}

const struct conf_zone *
conf_zone_find(const struct conf *conf, struct slice name)
{
	for (size_t i = 0; i < conf->zone_count; i++)
		if (slice_is(name, conf->zones[i].name))
			return &conf->zones[i];
	return NULL;
}

/* "@domain" stands for all its users, "<>" for the null sender. */
static bool
sender_fits(const char *pattern, struct slice sender)
{
	if (strcmp(pattern, "<>") == 0)
		return sender.n == 0;
	if (pattern[0] == '@') {
		size_t at = sender.n;

		while (at > 0 && sender.p[at - 1] != '@')
			at--;
		return at > 0 && glob_match(slice_of(pattern),
		    slice_from(sender, at - 1));
	}
	return sender.n > 0 && glob_match(slice_of(pattern), sender);
}

static bool
zone_fits(const struct conf_zone *zone, struct slice sender,
    struct slice host)
{
	bool has_sender = zone->sender_count == 0;
	bool has_host = zone->host_count == 0;

	for (size_t i = 0; i < zone->sender_count && !has_sender; i++)
		has_sender = sender_fits(zone->senders[i], sender);
	for (size_t i = 0; i < zone->host_count && !has_host; i++)
		has_host = conf_route_covers(zone->hosts[i], host);
	return has_sender && has_host;
}

const struct conf_zone *
conf_zone_for(const struct conf *conf, struct slice asked,
    struct slice channel, struct slice sender, struct slice host)
{
	const struct conf_zone *zone;

	if (conf->zone_count == 0 || !slice_starts(channel, "smtp"))
		return NULL;
	host = conf_host_bare(host);
	zone = asked.n > 0 ? conf_zone_find(conf, asked) : NULL;
	for (size_t i = 0; i < conf->zone_count && zone == NULL; i++)
		if (conf->zones[i].sender_count + conf->zones[i].host_count >
		    0 && zone_fits(&conf->zones[i], sender, host))
			zone = &conf->zones[i];
	return zone;
}

/* ---- show ------------------------------------------------------------ */

static void
zone_words_add(struct str *out, const char *item, const char **words,
    size_t count)
{
	str_addf(out, "%s%s", count > 0 ? "; " : "", count > 0 ? item : "");
	for (size_t i = 0; i < count; i++) {
		str_addc(out, ' ');
		conf_add_word(out, words[i]);
	}
}

static void
add_warm_up(struct str *out, const struct conf_zone *zone)
{
	char day[CLOCK_TEXT_BYTES];

	clock_rfc3339(zone->warm_start_s * 1000000, day);
	str_addf(out, "; warm-up %.10s", day);
	for (size_t i = 0; i < zone->warm_count; i++)
		str_addf(out, " %u", zone->warm_caps[i]);
	if (zone->warm_is_shared)
		str_adds(out, " shared");
}

void
conf_show_zone(const struct conf_zone *zone, struct str *out)
{
	str_addf(out, "%s { ", zone->name);
	for (size_t i = 0; i < zone->source_count; i++) {
		const struct conf_outlet *source = &zone->sources[i];

		str_addf(out, "source %s%s%s weight %u; ", source->text,
		    source->helo ? " helo " : "",
		    source->helo ? source->helo : "", source->weight);
	}
	if (zone->helo != NULL)
		str_addf(out, "helo %s", zone->helo);
	zone_words_add(out, "sender", zone->senders, zone->sender_count);
	zone_words_add(out, "to", zone->hosts, zone->host_count);
	if (zone->agents > 0)
		str_addf(out, "; agents %u", zone->agents);
	if (zone->parallel > 0)
		str_addf(out, "; parallel %u", zone->parallel);
	if (zone->rate_count > 0) {
		str_addf(out, "; rate %llu/",
		    (unsigned long long)zone->rate_count);
		units_add_span(out, zone->rate_per_ms);
	}
	if (zone->warm_count > 0)
		add_warm_up(out, zone);
	if (zone->overflow != NULL)
		str_addf(out, "; overflow %s", zone->overflow);
	str_adds(out, " }");
}

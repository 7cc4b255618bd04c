/* words.c - the keywords of ZMailer's scheduler.conf
 *
 * In     one keyword and its value
 * Out    an item of a clause, or a complaint that names it
 * Holds  nothing
 * Spec   zmailer.conf(5), include-legacy
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "conf/legacy/legacy.h"

#include "base/banned.h"

enum { SPAN_MAX_S = 52 * 7 * 86400 };

typedef bool take_fn(struct legacy_clause *clause, struct slice value);

/* ---- values -------------------------------------------------------- */

/* "1d2h", "90" (seconds). */
static bool
span_parse(struct slice text, int64_t *out_s)
{
	int64_t sum_s = 0, number = -1;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		int64_t unit_s = c == 's' ? 1 : c == 'm' ? 60 :
		    c == 'h' ? 3600 : c == 'd' ? 86400 : 0;

		if (ascii_is_digit(c)) {
			number = (number < 0 ? 0 : number) * 10 + (c - '0');
		} else if (unit_s > 0 && number >= 0) {
			sum_s += number * unit_s;
			number = -1;
		} else {
			return false;
		}
		if (number > SPAN_MAX_S || sum_s > SPAN_MAX_S)
			return false;
	}
	*out_s = sum_s + (number > 0 ? number : 0);
	return text.n > 0;
}

static bool
number_take(struct legacy_clause *clause, struct slice value,
    const char *item, unsigned *out)
{
	uint64_t number;

	if (!slice_number(value, 0, 10000, &number))
		return false;
	if (number > 0) {		/* 0: as many as there may be */
		*out = (unsigned)number;
		conf_clause_note(&clause->clause, item);
	}
	return true;
}

static bool
span_take(struct legacy_clause *clause, struct slice value,
    const char *item, int64_t *out_s)
{
	if (!span_parse(value, out_s))
		return false;
	conf_clause_note(&clause->clause, item);
	return true;
}

/* ---- keywords that become items ------------------------------------ */

static bool
take_interval(struct legacy_clause *clause, struct slice value)
{
	return span_parse(value, &clause->interval_s) &&
	    clause->interval_s > 0;
}

static bool
take_retries(struct legacy_clause *clause, struct slice value)
{
	struct slice word;
	uint64_t factor;

	clause->factor_count = 0;
	while (slice_word(&value, &word)) {
		if (clause->factor_count == LEGACY_FACTORS_MAX ||
		    !slice_number(word, 1, 100000, &factor))
			return false;
		clause->factors[clause->factor_count++] = (unsigned)factor;
	}
	return clause->factor_count > 0;
}

static bool
take_idlemax(struct legacy_clause *clause, struct slice value)
{
	int64_t span_s;

	if (!span_take(clause, value, "idle", &span_s))
		return false;
	clause->clause.schedule.idle_ms = span_s * 1000;
	return true;
}

static bool
take_expiry(struct legacy_clause *clause, struct slice value)
{
	return span_take(clause, value, "expire",
	    &clause->clause.schedule.expire_s) &&
	    clause->clause.schedule.expire_s > 0;
}

static bool
take_expiry2(struct legacy_clause *clause, struct slice value)
{
	return span_take(clause, value, "expire-untried",
	    &clause->clause.schedule.untried_s);
}

/* Ages between commas or blanks, in any order. */
static bool
take_reporttimes(struct legacy_clause *clause, struct slice value)
{
	struct conf_schedule *schedule = &clause->clause.schedule;
	struct slice word, piece;
	int64_t age_s;

	schedule->warn_count = 0;
	conf_clause_note(&clause->clause, "warn");
	while (slice_word(&value, &word))
		while (slice_cut(&word, ',', &piece)) {
			size_t at = schedule->warn_count;

			if (piece.n == 0)
				continue;
			if (!span_parse(piece, &age_s) || age_s == 0 ||
			    at == CONF_WARNS_MAX)
				return false;
			for (; at > 0 && schedule->warn_s[at - 1] > age_s;
			    at--)
				schedule->warn_s[at] =
				    schedule->warn_s[at - 1];
			schedule->warn_s[at] = age_s;
			schedule->warn_count++;
		}
	return schedule->warn_count > 0;
}

static bool
take_maxchannel(struct legacy_clause *clause, struct slice value)
{
	return number_take(clause, value, "channel-agents",
	    &clause->clause.schedule.channel_agents);
}

static bool
take_maxring(struct legacy_clause *clause, struct slice value)
{
	return number_take(clause, value, "agents",
	    &clause->clause.schedule.agents);
}

static bool
take_maxthr(struct legacy_clause *clause, struct slice value)
{
	return number_take(clause, value, "parallel",
	    &clause->clause.schedule.parallel);
}

static bool
take_overfeed(struct legacy_clause *clause, struct slice value)
{
	conf_clause_note(&clause->clause, "overfeed");
	return number_take(clause, value, "overfeed",
	    &clause->clause.schedule.overfeed);
}

static bool
take_ageorder(struct legacy_clause *clause, struct slice value)
{
	clause->clause.schedule.is_by_age = true;
	conf_clause_note(&clause->clause, "order");
	return value.p == NULL;
}

static bool
take_queueonly(struct legacy_clause *clause, struct slice value)
{
	clause->clause.schedule.is_queue_only = true;
	conf_clause_note(&clause->clause, "queue-only");
	return value.p == NULL;
}

/* What it asks for is so in any case. */
static bool
take_nothing(struct legacy_clause *clause, struct slice value)
{
	return value.p == NULL;
}

/* ---- the table ----------------------------------------------------- */

static const struct keyword {
	const char	*name;
	take_fn		*take;		/* NULL: it is not taken over */
	const char	*instead;	/* then: what to do */
	bool		 is_error;
} keywords[] = {
	{ "interval", take_interval, NULL, false },
	{ "retries", take_retries, NULL, false },
	{ "idlemax", take_idlemax, NULL, false },
	{ "expiry", take_expiry, NULL, false },
	{ "expiry2", take_expiry2, NULL, false },
	{ "reporttimes", take_reporttimes, NULL, false },
	{ "maxchannel", take_maxchannel, NULL, false },
	{ "maxchannels", take_maxchannel, NULL, false },
	{ "maxring", take_maxring, NULL, false },
	{ "maxrings", take_maxring, NULL, false },
	{ "maxthr", take_maxthr, NULL, false },
	{ "overfeed", take_overfeed, NULL, false },
	{ "ageorder", take_ageorder, NULL, false },
	{ "queueonly", take_queueonly, NULL, false },
	{ "bychannel", take_nothing, NULL, false },
	{ "wakeuprestartonly", take_nothing, NULL, false },
	{ "skew", NULL, "retries are spread, not bunched: jitter", false },
	{ "expiryform", NULL, "reports have one form", false },
	{ "deliveryform", NULL, "reports have one form", false },
	{ "maxta", NULL, "write: limit agents N", false },
	{ "maxtransport", NULL, "write: limit agents N", false },
	{ "maxtransports", NULL, "write: limit agents N", false },
	{ "user", NULL, "write: user agent NAME", false },
	{ "group", NULL, "agents have the group of their account", false },
	{ "nice", NULL, "start zmailer itself with nice(1)", false },
	{ "priority", NULL, "start zmailer itself with nice(1)", false },
	{ "sysnice", NULL, "start zmailer itself with nice(1)", false },
	{ "syspriority", NULL, "start zmailer itself with nice(1)", false },
	{ "byhost", NULL, "ZMailer removed it; there is maxthr", true },
	{ "maxhost", NULL, "ZMailer removed it; there is maxthr", true },
	{ "gangschedule", NULL, "ZMailer removed it", true },
};

static const struct { const char *name, *instead; } params[] = {
	{ "authfile", "write: mailq [ADDRESS:]PORT users FILE" },
	{ "mailqsock", "write: mailq [ADDRESS:]PORT users FILE" },
	{ "mailqpath", "write: mailq [ADDRESS:]PORT users FILE" },
	{ "notifysock", "the spool itself is watched" },
	{ "msgwriteasync", "reports are made durable in groups" },
	{ "global-report-interval", "failures of a message wait five minutes "
	    "for each other" },
	{ "store-error-on-error", "reports that nobody may get are kept in "
	    "postman/ in any case" },
};

static struct slice
last_part(struct slice path)
{
	while (slice_find(path, '/') < path.n)
		path = slice_from(path, slice_find(path, '/') + 1);
	return path;
}

/* "sm -8c $channel MAILER": our sm takes the mailer, and the file of -f. */
static void
take_sm(struct legacy *legacy, const struct conf_token *token,
    struct slice arguments, struct legacy_clause *out)
{
	struct slice word, mailer = SLICE("");
	struct str command = STR_INIT;

	str_adds(&command, "sm");
	while (slice_word(&arguments, &word)) {
		char flag = word.p[0] == '-' ? word.p[word.n - 1] : ' ';

		if (flag == ' ')
			mailer = word;
		else if (flag == 'c' || flag == 'h')
			slice_word(&arguments, &word);
		else if (flag == 'f' && slice_word(&arguments, &word))
			str_addf(&command, " -f " SLICE_FMT, SLICE_ARG(word));
	}
	if (mailer.n == 0)
		conf_complain(legacy->loader, CONF_ERROR, token, "write: "
		    "sm -c $channel MAILER", "no mailer of sm.conf is named");
	str_addf(&command, " " SLICE_FMT, SLICE_ARG(mailer));
	out->clause.schedule.command = slice_dup(legacy->loader->conf->arena,
	    str_slice(&command));
	conf_clause_note(&out->clause, "command");
	str_release(&command);
}

/* Our agents stand for ZMailer's of the same name; any other program runs
 * as it is. */
static void
take_command(struct legacy *legacy, const struct conf_token *token,
    struct slice value, struct legacy_clause *out)
{
	static const char *const ours[] = { "smtp", "mailbox", "hold",
		"errormail", "error", "pipe", "lmtp" };
	struct slice rest = value, program;

	if (!slice_word(&rest, &program))
		return;
	if (slice_is(last_part(program), "sm")) {
		take_sm(legacy, token, rest, out);
		return;
	}
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (!slice_is(last_part(program), ours[i]))
			continue;
		if (slice_trim(rest).n > 0)
			conf_complain(legacy->loader, CONF_WARNING, token,
			    "settings and routes say it", "the flags of '"
			    SLICE_FMT "' are left out: our own agent runs",
			    SLICE_ARG(slice_first(value, 60)));
		return;
	}
	if (slice_find(value, '$') < value.n || program.p[0] != '/') {
		conf_complain(legacy->loader, CONF_ERROR, token, "write the "
		    "whole path, without variables; the job line has the "
		    "host", "'" SLICE_FMT "' is no command of ours",
		    SLICE_ARG(slice_first(value, 60)));
		return;
	}
	out->clause.schedule.command = slice_dup(legacy->loader->conf->arena,
	    value);
	conf_clause_note(&out->clause, "command");
}

void
legacy_keyword(struct legacy *legacy, const struct conf_token *token,
    struct slice keyword, struct slice value, struct legacy_clause *out)
{
	struct guess guess = { .word = keyword };

	if (slice_is_nocase(keyword, "command")) {
		take_command(legacy, token, value, out);
		return;
	}
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		const struct keyword *row = &keywords[i];

		guess_offer(&guess, row->name);
		if (!slice_is_nocase(keyword, row->name))
			continue;
		if (row->take == NULL)
			conf_complain(legacy->loader, row->is_error ?
			    CONF_ERROR : CONF_WARNING, token, row->instead,
			    "'%s' is not taken over", row->name);
		else if (!row->take(out, value))
			conf_complain(legacy->loader, CONF_ERROR, token, NULL,
			    "'" SLICE_FMT "' is no value for %s",
			    SLICE_ARG(slice_first(value, 60)), row->name);
		return;
	}
	conf_complain(legacy->loader, CONF_ERROR, token,
	    guess_hint(&guess, legacy->loader->conf->arena),
	    "unknown keyword '" SLICE_FMT "'",
	    SLICE_ARG(slice_first(keyword, 60)));
}

void
legacy_param(struct legacy *legacy, const struct conf_token *token,
    struct slice name)
{
	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		if (slice_is_nocase(name, params[i].name)) {
			conf_complain(legacy->loader, CONF_WARNING, token,
			    params[i].instead,
			    "PARAM%s is not taken over", params[i].name);
			return;
		}
	conf_complain(legacy->loader, CONF_ERROR, token, NULL,
	    "unknown PARAM '" SLICE_FMT "'",
	    SLICE_ARG(slice_first(name, 60)));
}

/* ask.c - what trace and events are asked: whom, and when
 *
 * In     words of the command line; lines of the journal
 * Out    a struct journal_ask; whether a line answers it
 * Trusts neither: what has no meaning is refused, never taken for "all"
 * Spec   ask.h; zmailer(8), trace
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "grammar/smtp/xtext.h"
#include "grammar/units.h"
#include "journal/event.h"
#include "mail/spool/spool.h"
#include "tools/journal/ask.h"
#include "tools/journal/facts.h"
#include "past/names.h"

#include "base/banned.h"

enum { HOUR_MS = 3600000, MINUTE_MS = 60000, SECOND_MS = 1000 };
static const unsigned char ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };

/* ---- whom -------------------------------------------------------------- */

static const struct { const char *prefix; enum ask_kind kind; } prefixes[] = {
	{ "from:", ASK_FROM }, { "to:", ASK_TO }, { "msgid:", ASK_MSGID },
	{ "client:", ASK_CLIENT }, { "session:", ASK_SESSION },
	{ "id:", ASK_ID },
};

/* The journal writes an address in one way, people in several. */
static int
journal_client_parse(struct journal_ask *ask, struct err *err)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct err why;

	if (net_parse(ask->text, &ask->net, &why) < 0)
		return err_set(err, "client:" SLICE_FMT ": %s",
		    SLICE_ARG(ask->text), why.text);
	ask->is_many = ask->net.bits < 128;
	if (memcmp(ask->net.bytes, ipv4_prefix, sizeof(ipv4_prefix)) == 0)
		(void)inet_ntop(AF_INET, ask->net.bytes + 12, text,
		    sizeof(text));
	else
		(void)inet_ntop(AF_INET6, ask->net.bytes, text, sizeof(text));
	ask->keys[0] = frame_key_of(slice_of(text));
	return 0;
}

static enum ask_kind
kind_guess(struct slice what)
{
	if (spool_id_is(what))
		return ASK_ID;
	if (what.n > 2 && what.p[0] == '<' && what.p[what.n - 1] == '>')
		return ASK_MSGID;
	return slice_find(what, '@') < what.n ? ASK_ADDRESS : ASK_ALL;
}

int
ask_parse(const char *what, struct journal_ask *out, struct err *err)
{
	struct slice text = slice_of(what ? what : "");

	memset(out, 0, sizeof(*out));
	out->span.since_ms = INT64_MIN;
	out->span.until_ms = INT64_MAX;
	if (what == NULL)
		return 0;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (slice_starts(text, prefixes[i].prefix)) {
			out->kind = prefixes[i].kind;
			text = slice_from(text, strlen(prefixes[i].prefix));
		}
	if (out->kind == ASK_ALL)
		out->kind = kind_guess(text);
	out->text = out->kind == ASK_ID || out->kind == ASK_SESSION ? text :
	    frame_bare(text);
	if (out->kind == ASK_ALL || out->text.n == 0 ||
	    (out->kind == ASK_ID && !spool_id_is(text)))
		return err_set(err, "'%s' is neither a spool id nor an "
		    "address, <message-id>, from:, to: or client:", what);
	out->keys[0] = frame_key_of(out->text);
	return out->kind == ASK_CLIENT ? journal_client_parse(out, err) : 0;
}

/* The local part, when the question is for a user of this host. */
static struct slice
ask_bare_user(const struct journal_ask *ask)
{
	size_t at = slice_find(ask->text, '@');
	bool is_of_host = (ask->kind == ASK_TO || ask->kind == ASK_ADDRESS) &&
	    ask->host != NULL && at < ask->text.n &&
	    slice_equal_nocase(slice_from(ask->text, at + 1),
	    slice_of(ask->host));

	return is_of_host ? slice_first(ask->text, at) :
	    (struct slice){ NULL, 0 };
}

void
ask_set_host(struct journal_ask *ask, const char *host)
{
	ask->host = host;
	ask->keys[1] = frame_key_of(ask_bare_user(ask));
}

size_t
ask_key_count(const struct journal_ask *ask)
{
	return ask_bare_user(ask).n > 0 ? 2 : 1;
}

/* Several words, a glob, a domain, a comparison, or a key that no prefix
 * above is. */
bool
ask_is_selector(struct slice what)
{
	size_t end;

	if (what.n == 0 || (what.p[0] == '<' && slice_ends(what, ">")))
		return false;
	for (size_t i = 0; i < what.n; i++)
		if (ascii_is_among(what.p[i], " *?=<>!(\""))
			return true;
	if (what.p[0] == '@' || slice_is(what, "all"))
		return true;
	end = slice_find(what, ':');
	if (end == what.n)
		return false;
	if (what.n > end + 1 && what.p[end + 1] == '@')
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (slice_starts(what, prefixes[i].prefix))
			return false;
	for (size_t i = 0; selector_keys[i].name != NULL; i++)
		if (slice_is(slice_first(what, end), selector_keys[i].name))
			return true;
	return false;
}

/* ---- when -------------------------------------------------------------- */

/* "21:04" or "21:04:05" */
static bool
clock_parse(const char *text, int64_t *out_ms, int64_t *out_for_ms)
{
	unsigned hour, minute, second = 0;
	int end = 0;

	if (sscanf(text, "%2u:%2u%n", &hour, &minute, &end) != 2 ||
	    hour > 23 || minute > 59)
		return false;
	*out_for_ms = MINUTE_MS;
	text += end;
	end = 0;
	if (*text == ':') {
		if (sscanf(text, ":%2u%n", &second, &end) != 1 || second > 60)
			return false;
		*out_for_ms = SECOND_MS;
		text += end;
	}
	*out_ms = ((int64_t)(hour * 60 + minute) * 60 + second) * 1000;
	return *text == '\0' || strcmp(text, "Z") == 0;
}

/* So many milliseconds after a day began: local, like all that people read. */
static int64_t
day_moment_ms(struct tm tm, int64_t time_ms, bool is_utc)
{
	tm.tm_hour = (int)(time_ms / HOUR_MS);
	tm.tm_min = (int)(time_ms / MINUTE_MS % 60);
	tm.tm_sec = (int)(time_ms / SECOND_MS % 60);
	tm.tm_isdst = -1;
	return (int64_t)(is_utc ? timegm(&tm) : mktime(&tm)) * 1000;
}

/* days after today, local. */
static int64_t
near_day_ms(int64_t now_ms, int days, int64_t time_ms)
{
	struct tm tm;

	clock_local_parts(now_ms / 1000, &tm);
	tm.tm_mday += days;
	return day_moment_ms(tm, time_ms, false);
}

/* "2026-11-20", with a time after "T" or a blank; "Z" after it: UTC */
static bool
journal_date_parse(const char *text, int64_t *out_ms, int64_t *out_for_ms)
{
	unsigned year, month, day;
	struct tm tm;
	int64_t time_ms = 0;
	int end = 0;

	if (sscanf(text, "%4u-%2u-%2u%n", &year, &month, &day, &end) != 3 ||
	    end != 10 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	memset(&tm, 0, sizeof(tm));
	tm.tm_year = (int)year - 1900;
	tm.tm_mon = (int)month - 1;
	tm.tm_mday = (int)day;
	(void)timegm(&tm);
	if (tm.tm_mday != (int)day)	/* the 31st of a short month */
		return false;
	*out_for_ms = JOURNAL_DAY_MS;
	*out_ms = day_moment_ms(tm, 0, false);
	if (text[end] == '\0')
		return true;
	if ((text[end] != 'T' && text[end] != ' ') ||
	    !clock_parse(text + end + 1, &time_ms, out_for_ms))
		return false;
	*out_ms = day_moment_ms(tm, time_ms, slice_ends(slice_of(text), "Z"));
	return true;
}

int
ask_moment(const char *text, int64_t now_ms, int64_t *out_at_ms,
    int64_t *out_for_ms, struct err *err)
{
	int64_t span_ms, time_ms;
	struct err why;

	*out_at_ms = near_day_ms(now_ms, 0, 0);
	*out_for_ms = JOURNAL_DAY_MS;
	if (strcmp(text, "today") == 0 ||
	    journal_date_parse(text, out_at_ms, out_for_ms))
		return 0;
	if (strcmp(text, "yesterday") == 0) {
		*out_at_ms = near_day_ms(now_ms, -1, 0);
		return 0;
	}
	if (clock_parse(text, &time_ms, out_for_ms)) {
		*out_at_ms = slice_ends(slice_of(text), "Z") ? now_ms -
		    now_ms % JOURNAL_DAY_MS + time_ms :
		    near_day_ms(now_ms, 0, time_ms);
		return 0;
	}
	*out_for_ms = 0;
	if (units_span_ms(slice_of(text), &span_ms, &why) < 0)
		return err_set(err, "'%s' is no moment: 2026-11-20, "
		    "2026-11-20T21:04, 21:04 (local, or with Z), today, "
		    "yesterday or 2h (ago) are", text);
	*out_at_ms = now_ms - span_ms;
	return 0;
}

int
ask_option(enum option_id option, const char *value, struct journal_ask *ask,
    struct err *err)
{
	int64_t at_ms, for_ms;

	if (ask_moment(value, clock_wall_us() / 1000, &at_ms, &for_ms, err) <
	    0)
		return -1;
	if (option == OPT_DAY && for_ms != JOURNAL_DAY_MS)
		return err_set(err, "'%s' is no day", value);
	if (option != OPT_UNTIL)
		ask->span.since_ms = at_ms;
	if (option != OPT_SINCE)
		ask->span.until_ms = at_ms + for_ms;
	return 0;
}

/* ---- lines ------------------------------------------------------------- */

/* Quick refusal before JSON is read: does `what` stand somewhere in the
 * line?  Only for text that JSON writes as it is. */
static bool
line_mentions(struct slice line, struct slice what)
{
	size_t before = slice_find(what, '@');
	struct slice rest = line;

	for (size_t i = 0; i < what.n; i++)
		if (what.p[i] <= ' ' || what.p[i] > '~' || what.p[i] == '"' ||
		    what.p[i] == '\\')
			return true;
	if (before == what.n)
		return true;
	for (;;) {
		size_t at = slice_find(rest, '@');
		size_t offset = (size_t)(rest.p - line.p) + at;

		if (at == rest.n)
			return false;
		if (offset >= before && slice_equal_nocase(slice_first(
		    slice_from(line, offset - before), what.n), what))
			return true;
		rest = slice_from(rest, at + 1);
	}
}

/* "RCPT TO:<a@b> ..." names a@b as a recipient, "MAIL FROM:<a@b>" as a
 * sender. */
static bool
command_names(struct slice command, struct slice what, bool is_to)
{
	struct slice rest = slice_from(command, slice_find(command, '<'));

	return rest.n > 0 && is_to != slice_equal_nocase(
	    slice_first(command, 4), SLICE("MAIL")) &&
	    slice_equal_nocase(slice_first(slice_from(rest, 1),
	    slice_find(rest, '>') - 1), what);
}

/* An ORCPT is xtext (RFC 3461 section 4.2). */
static bool
orcpt_names(struct slice orcpt, struct slice what)
{
	struct str plain = STR_INIT;
	struct err err;
	bool fits = xtext_decode(frame_bare(orcpt), &plain, &err) == 0 &&
	    slice_equal_nocase(str_slice(&plain), what);

	str_release(&plain);
	return fits;
}

static bool
line_has(struct slice line, const char *key, struct slice what)
{
	struct str value = STR_INIT;
	bool found = json_get(line, key, &value) &&
	    slice_equal_nocase(frame_bare(str_slice(&value)), what);

	if (!found && strcmp(key, "orcpt") == 0)
		found = orcpt_names(str_slice(&value), what);
	str_release(&value);
	return found;
}

static bool
line_has_command(struct slice line, const struct journal_ask *ask)
{
	struct str value = STR_INIT;
	struct slice text;
	bool found = json_get(line, "command", &value);

	text = str_slice(&value);
	found = found && ((ask->kind != ASK_FROM &&
	    command_names(text, ask->text, true)) ||
	    (ask->kind != ASK_TO && command_names(text, ask->text, false)));
	str_release(&value);
	return found;
}

/* A recipient of that name: as given, and, where the router says it, as
 * routed. */
static bool
line_has_rcpt(struct slice line, struct slice what)
{
	struct slice name;

	return what.n > 0 && (line_has(line, "to", what) ||
	    line_has(line, "orcpt", what) || (journal_line_has(line, "ev",
	    &name) && slice_is(name, event_rows[EV_RCPT_ROUTED].name) &&
	    line_has(line, "user", what)));
}

static bool
journal_address_fits(const struct journal_ask *ask, struct slice line)
{
	struct slice user = ask_bare_user(ask);
	bool is_encoded = slice_find(ask->text, '+') < ask->text.n ||
	    slice_find(ask->text, '=') < ask->text.n;

	if (user.n == 0 && !is_encoded && !line_mentions(line, ask->text))
		return false;
	if (ask->kind != ASK_TO && line_has(line, "from", ask->text))
		return true;
	if (ask->kind != ASK_FROM && (line_has_rcpt(line, ask->text) ||
	    line_has_rcpt(line, user)))
		return true;
	return line_has_command(line, ask);
}

static bool
client_fits(const struct journal_ask *ask, struct slice line)
{
	struct str value = STR_INIT;
	struct net client;
	struct err err;
	bool fits;

	if (!journal_line_has(line, "client", NULL))
		return false;
	fits = json_get(line, "client", &value) &&
	    net_parse(frame_client(str_slice(&value)), &client, &err) >= 0 &&
	    net_contains(&ask->net, &client);
	str_release(&value);
	return fits;
}

bool
ask_fits(const struct journal_ask *ask, struct slice line)
{
	struct slice found;
	int64_t at_ms;

	switch (ask->kind) {
	case ASK_ALL:
		break;
	case ASK_ID:
		return slice_equal(journal_line_id(line), ask->text);
	case ASK_SESSION:
		if (!journal_line_has(line, "session", &found) ||
		    !slice_equal(found, ask->text))
			return false;
		break;
	case ASK_CLIENT:
		if (!client_fits(ask, line))
			return false;
		break;
	case ASK_MSGID:
		if (!line_mentions(line, ask->text) ||
		    !line_has(line, "msgid", ask->text))
			return false;
		break;
	case ASK_SELECTOR:
		if (!facts_fit(ask->facts, line))
			return false;
		break;
	default:
		if (!journal_address_fits(ask, line))
			return false;
	}
	at_ms = journal_line_ms(line);
	return at_ms >= 0 && at_ms >= ask->span.since_ms &&
	    at_ms < ask->span.until_ms;
}

bool
ask_is_of_another(const struct journal_ask *ask, struct slice line)
{
	struct slice name;

	return ask->kind == ASK_TO && journal_line_has(line, "ev", &name) &&
	    slice_starts(name, "rcpt.") &&
	    journal_line_has(line, "to", NULL) &&
	    !journal_address_fits(ask, line);
}

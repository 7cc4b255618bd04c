/* try.c - changes of one statement, each seen to work before it is told
 *
 * In     the rule that decided; the files of the configuration
 * Out    at most two changes as edits, with what else they open
 * Holds  a copy of one file at a time
 * Trusts no address: what is put into a statement has plain letters only
 * Spec   zmailer-whynot(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "conf/edit.h"
#include "grammar/message/date.h"
#include "tools/change/change.h"
#include "tools/zmailer/whynot/whynot.h"

#include "base/banned.h"

enum { MOVES_MAX = 20, PLAIN_MAX = 200 };

struct trying {
	struct whynot	*whynot;
	size_t		 file;		/* of the rule that decided */
	struct conf_piece *pieces;	/* of that file */
	size_t		 piece_count, piece;	/* the rule; count: none */
	bool		 is_relaying;	/* what is tried lets somebody relay */
};

/* ---- telling ---------------------------------------------------------- */

static void
whynot_tell_json(const struct whynot *whynot, const char *kind,
    const char *what, const char *diff, const char *warning)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "kind", slice_of(kind));
	json_text(&out, "change", slice_of(what));
	json_text(&out, "rule", slice_of(whynot->said.rule));
	json_text(&out, "diff", slice_of(diff));
	json_text(&out, "warning", slice_of(warning));
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

void
whynot_tell(struct whynot *whynot, const char *kind, const char *what,
    const char *diff, const char *warning)
{
	whynot->told++;
	if (whynot->is_json) {
		whynot_tell_json(whynot, kind, what, diff, warning);
		return;
	}
	printf("\n%u. %s\n", whynot->told, what);
	if (*warning != '\0')
		printf("   WARNING: %s\n", warning);
	fputs(diff, stdout);
}

/* ---- proving ---------------------------------------------------------- */

/* Would it take mail for this address that it does not take now? */
static bool
probe_opens(struct whynot *whynot, const struct conf_draft *files,
    const struct whynot_mail *probe)
{
	struct said before, after;
	struct err err;

	return whynot_decide(whynot, whynot->files, probe, &before, NULL, NULL,
	    &err) == 0 && whynot_decide(whynot, files, probe, &after, NULL,
	    NULL, &err) == 0 && !before.is_good && after.code / 100 == 2;
}

/* What a change opens beyond this mail; "": nothing that was found. */
static const char *
change_warning(const struct trying *trying, const struct conf_draft *files)
{
	struct whynot *whynot = trying->whynot;
	struct whynot_mail probe = whynot->mail;

	probe.line = NULL;
	probe.size_bytes = 0;	/* a small one may pass already */
	probe.user = probe.mech = probe.facts = "";
	probe.from = "probe@example.com";
	probe.to = "probe@example.net";
	probe.client = "198.51.100.77:25";
	if (probe_opens(whynot, files, &probe))
		return "THIS MAKES AN OPEN RELAY: anybody on the Internet "
		    "could send to anybody through this host";
	probe.client = whynot->mail.client;
	if (probe_opens(whynot, files, &probe))
		return "THIS IS A RELAY for that client: it could send to "
		    "anybody through this host";
	if (trying->is_relaying)
		return "THIS IS A RELAY for that client: what it sends to that "
		    "domain goes through this host";
	probe.client = "198.51.100.77:25";
	probe.to = whynot->mail.to;
	if (probe.to != NULL && probe_opens(whynot, files, &probe))
		return "any client could send to that recipient then";
	return "";
}

/* One file has another text: does that help?  Then it is told. */
static void
edit_try(struct trying *trying, size_t file, const struct str *text,
    const char *what)
{
	struct whynot *whynot = trying->whynot;
	struct conf_draft *files;
	struct str diff = STR_INIT;
	struct said said;
	struct err err;

	if (whynot->told == WHYNOT_TOLD_MAX)
		return;
	files = arena_alloc(whynot->arena, whynot->file_count *
	    sizeof(*files));
	memcpy(files, whynot->files, whynot->file_count * sizeof(*files));
	files[file].text = str_slice(text);
	if (whynot_decide(whynot, files, &whynot->mail, &said, NULL, NULL,
	    &err) < 0 || !said.is_good)
		return;
	diff_add(&diff, files[file].path, whynot->files[file].text,
	    files[file].text);
	whynot_tell(whynot, "edit", what, diff.buf, change_warning(trying,
	    files));
	str_release(&diff);
}

static void
edit_begin(const struct trying *trying, size_t file, struct str *out)
{
	str_add_slice(out, trying->whynot->files[file].text);
}

/* ---- the rule that decided ------------------------------------------- */

static void
rule_try_without(struct trying *trying)
{
	struct str text = STR_INIT;

	edit_begin(trying, trying->file, &text);
	conf_take_piece(&text, &trying->pieces[trying->piece]);
	edit_try(trying, trying->file, &text, "without this statement");
	str_release(&text);
}

/* Behind each statement that accepts, the nearest first. */
static void
rule_try_later(struct trying *trying)
{
	const struct conf_piece *rule = &trying->pieces[trying->piece];
	struct str text = STR_INIT, line = STR_INIT;
	unsigned tried = 0;

	str_add_slice(&line, slice_first(slice_from(
	    trying->whynot->files[trying->file].text, rule->begin),
	    rule->end - rule->begin));
	str_addc(&line, '\n');
	for (size_t i = trying->piece + 1; i < trying->piece_count &&
	    tried < MOVES_MAX && trying->whynot->told < WHYNOT_TOLD_MAX; i++) {
		if (!conf_piece_is(&trying->pieces[i], 0, "accept"))
			continue;
		tried++;
		str_reset(&text);
		edit_begin(trying, trying->file, &text);
		conf_put_after(&text, &trying->pieces[i], line.buf);
		conf_take_piece(&text, rule);
		edit_try(trying, trying->file, &text,
		    "this statement after one that accepts");
	}
	str_release(&text);
	str_release(&line);
}

/* Letters that need no quotes and are no pattern. */
bool
whynot_is_plain(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._+-=:";

	return text != NULL && *text != '\0' &&
	    strlen(text) == strspn(text, plain) && strlen(text) < PLAIN_MAX;
}

/* "192.0.2.7" of "192.0.2.7:25", "2001:db8::1" of "[2001:db8::1]:25". */
static const char *
client_host(const struct whynot *whynot)
{
	struct slice text = slice_of(whynot->mail.client);

	if (slice_starts(text, "[")) {
		text = slice_from(text, 1);
		text = slice_first(text, slice_find(text, ']'));
	} else {
		text = slice_first(text, slice_find(text, ':'));
	}
	return slice_dup(whynot->arena, text);
}

/* A rule for just this mail, before the rule. */
static void
rule_try_exception(struct trying *trying)
{
	const struct whynot_mail *mail = &trying->whynot->mail;
	struct str text = STR_INIT, line = STR_INIT;

	if (!whynot_is_plain(mail->to) ||
	    !whynot_is_plain(client_host(trying->whynot)) ||
	    (mail->from != NULL && mail->from[0] != '\0' &&
	    !whynot_is_plain(mail->from)))
		return;
	str_addf(&line, "accept from %s sender %s to %s\n",
	    client_host(trying->whynot), mail->from != NULL &&
	    mail->from[0] != '\0' ? mail->from : "<>", mail->to);
	edit_begin(trying, trying->file, &text);
	conf_put_before(&text, &trying->pieces[trying->piece], line.buf);
	edit_try(trying, trying->file, &text,
	    "mail of this client, sender and recipient before it");
	str_release(&text);
	str_release(&line);
}

void
whynot_word_replace(struct str *text, const struct conf_word *word,
    const char *fresh)
{
	struct str after = STR_INIT;

	str_add_slice(&after, slice_from(str_slice(text), word->end));
	str_truncate(text, word->begin);
	str_adds(text, fresh);
	str_add_slice(text, str_slice(&after));
	str_release(&after);
}

/* "3/1h" with twice as many, ten times as many. */
static void
rule_try_count(struct trying *trying)
{
	const struct conf_piece *rule = &trying->pieces[trying->piece];
	struct str text = STR_INIT;
	struct slice word;
	size_t digits = 0;
	uint64_t count;

	if (!conf_piece_is(rule, 0, "limit") || rule->word_count < 3)
		return;
	word = rule->words[2].text;
	while (digits < word.n && ascii_is_digit(word.p[digits]))
		digits++;
	if (!slice_number(slice_first(word, digits), 1, INT32_MAX, &count))
		return;
	for (unsigned factor = 2; factor <= 10; factor += 8) {
		str_reset(&text);
		edit_begin(trying, trying->file, &text);
		whynot_word_replace(&text, &rule->words[2], arena_printf(
		    trying->whynot->arena, "%" PRIu64 SLICE_FMT,
		    count * factor, SLICE_ARG(slice_from(word, digits))));
		edit_try(trying, trying->file, &text, "a higher limit, as if "
		    "the count began with what was recorded");
	}
	str_release(&text);
}

static const char *
size_above(const struct whynot *whynot)
{
	return arena_printf(whynot->arena, "%" PRIu64 "M",
	    (whynot->mail.size_bytes >> 20) + 1);
}

/* "size 1M" of a rule. */
static void
rule_try_size(struct trying *trying)
{
	const struct conf_piece *rule = &trying->pieces[trying->piece];
	struct str text = STR_INIT;

	for (size_t i = 1; i + 1 < rule->word_count; i++) {
		if (!conf_piece_is(rule, i, "size"))
			continue;
		edit_begin(trying, trying->file, &text);
		whynot_word_replace(&text, &rule->words[i + 1],
		    size_above(trying->whynot));
		edit_try(trying, trying->file, &text, "a larger size");
	}
	str_release(&text);
}

/* "/etc/zmailer.conf:12": the piece of that line. */
static bool
rule_locate(struct trying *trying, const char *rule)
{
	struct whynot *whynot = trying->whynot;
	const char *colon = strrchr(rule, ':');
	uint64_t line;

	if (colon == NULL || !slice_number(slice_of(colon + 1), 1, UINT32_MAX,
	    &line))
		return false;
	for (size_t i = 0; i < whynot->file_count; i++) {
		struct slice path = slice_of(whynot->files[i].path),
			text = whynot->files[i].text;
		unsigned at = 1;
		size_t k = 0;

		if (!slice_equal(path, (struct slice){ rule,
		    (size_t)(colon - rule) }))
			continue;
		trying->file = i;
		trying->piece_count = conf_pieces(whynot->arena, text,
		    &trying->pieces);
		for (size_t p = 0; p < trying->piece_count; p++) {
			for (; k < trying->pieces[p].begin; k++)
				at += text.p[k] == '\n';
			trying->piece = p;
			if (at == line)
				return true;
		}
	}
	return false;
}

/* ---- no rule decided -------------------------------------------------- */

static void
main_try_last(struct trying *trying, const char *lines, const char *what)
{
	struct str text = STR_INIT;

	edit_begin(trying, 0, &text);
	conf_put_last(&text, lines);
	edit_try(trying, 0, &text, what);
	str_release(&text);
}

/* A greater size of a message: the statement, or one more. */
static void
room_try(struct trying *trying)
{
	struct whynot *whynot = trying->whynot;
	struct conf_piece *pieces;
	size_t count = conf_pieces(whynot->arena, whynot->files[0].text,
	    &pieces);
	struct str text = STR_INIT;

	if (whynot->said.code != 552)
		return;
	for (size_t i = 0; i < count; i++)
		if (conf_piece_is(&pieces[i], 0, "size") &&
		    pieces[i].word_count == 2) {
			edit_begin(trying, 0, &text);
			whynot_word_replace(&text, &pieces[i].words[1],
			    size_above(whynot));
			edit_try(trying, 0, &text, "larger messages");
			str_release(&text);
			return;
		}
	main_try_last(trying, arena_printf(whynot->arena, "size %s\n",
	    size_above(whynot)), "larger messages");
}

/* ---- the bytes of the message decided ---------------------------------- */

/* "limit NAME VALUE": change it where it is, or add it. */
static void
limit_try(struct trying *trying, const char *name, const char *value)
{
	struct whynot *whynot = trying->whynot;
	struct conf_piece *pieces;
	size_t count = conf_pieces(whynot->arena, whynot->files[0].text,
	    &pieces);
	struct str text = STR_INIT;

	edit_begin(trying, 0, &text);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 1; conf_piece_is(&pieces[i], 0, "limit") &&
		    k + 1 < pieces[i].word_count; k++) {
			if (!conf_piece_is(&pieces[i], k, name))
				continue;
			whynot_word_replace(&text, &pieces[i].words[k + 1],
			    value);
			edit_try(trying, 0, &text, "a higher limit");
			str_release(&text);
			return;
		}
	str_release(&text);
	main_try_last(trying, arena_printf(whynot->arena, "limit %s %s\n",
	    name, value), "a higher limit");
}

/* What the limits counted then, as the record has it. */
static void
content_try(struct trying *trying)
{
	struct whynot *whynot = trying->whynot;
	struct slice line = slice_of(whynot->mail.line);
	int64_t received = json_get_number(line, "received");

	limit_try(trying, "header", arena_printf(whynot->arena, "%lldK",
	    (long long)(json_get_number(line, "header") >> 10) + 1));
	limit_try(trying, "line", arena_printf(whynot->arena, "%lldK",
	    (long long)(json_get_number(line, "line") >> 10) + 1));
	limit_try(trying, "received", arena_printf(whynot->arena, "%lld",
	    (long long)(received < 5 ? 5 : received)));
	main_try_last(trying, "bare-newline accept\n",
	    "a lone LF taken for the end of a line, from everybody");
}

/* ---- a filter decided --------------------------------------------------- */

/* It does not see this client. */
static void
filter_try_except(struct trying *trying)
{
	const struct conf_piece *piece = &trying->pieces[trying->piece];
	const struct conf_word *last = &piece->words[piece->word_count - 1];
	const char *host = client_host(trying->whynot);
	struct str text = STR_INIT, word = STR_INIT;

	for (size_t i = 1; i < piece->word_count; i++)
		if (conf_piece_is(piece, i, "except"))
			return;
	if (!whynot_is_plain(host))
		return;
	edit_begin(trying, trying->file, &text);
	str_add_slice(&word, slice_first(slice_from(str_slice(&text),
	    last->begin), last->end - last->begin));
	str_addf(&word, " except %s", host);
	whynot_word_replace(&text, last, word.buf);
	edit_try(trying, trying->file, &text,
	    "this filter does not see that client");
	str_release(&text);
	str_release(&word);
}

/* The same mail from a user who logged in. */
static void
login_try(struct trying *trying)
{
	struct whynot *whynot = trying->whynot;
	struct whynot_mail mail = whynot->mail;
	struct said said;
	struct err err;

	if (whynot->conf->auth.kind == AUTH_NONE ||
	    (mail.user != NULL && mail.user[0] != '\0') ||
	    whynot->told == WHYNOT_TOLD_MAX)
		return;
	mail.line = NULL;
	mail.user = "somebody";
	mail.mech = "";
	if (whynot_decide(whynot, whynot->files, &mail, &said, NULL, NULL,
	    &err) == 0 && said.is_good)
		whynot_tell(whynot, "session", "no edit: the client logs in "
		    "before it sends", "", "");
}

static void
relay_try(struct trying *trying)
{
	struct whynot *whynot = trying->whynot;
	const char *at = whynot->mail.to != NULL ?
	    strrchr(whynot->mail.to, '@') : NULL, *host = client_host(whynot);

	if (at == NULL || !whynot_is_plain(at) || !whynot_is_plain(host))
		return;
	main_try_last(trying, arena_printf(whynot->arena, "domain %s\n",
	    at + 1), "a domain of ours, when its mail shall end here");
	trying->is_relaying = true;
	main_try_last(trying, arena_printf(whynot->arena,
	    "accept from %s to *%s for any\n", host, at),
	    "this client may send there through us");
}

/* ---- a time ----------------------------------------------------------- */

/* The facts but those that change with time. */
static const char *
facts_that_last(struct whynot *whynot)
{
	struct str out = STR_INIT;
	struct slice rest = slice_of(whynot->mail.facts != NULL ?
	    whynot->mail.facts : ""), line;
	const char *result;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line))
		if (!slice_starts(line, "rate") &&
		    !slice_starts(line, "greylist"))
			str_addf(&out, SLICE_FMT "\n", SLICE_ARG(line));
	result = slice_dup(whynot->arena, str_slice(&out));
	str_release(&out);
	return result;
}

/* The same mail once more, some time later. */
static void
time_try(struct trying *trying)
{
	static const int64_t waits_s[] = { 60, 300, 900, 3600, 4 * 3600,
		86400, 7 * 86400, 30 * 86400 };
	struct whynot *whynot = trying->whynot;
	struct whynot_mail first = whynot->mail, later;
	struct said said, said_later;
	char span[CLOCK_TEXT_BYTES];
	struct str moment = STR_INIT;
	struct err err;
	int64_t at_s;

	if (date_parse(slice_of(first.t), &at_s, &err) < 0)
		return;
	first.line = NULL;
	first.facts = facts_that_last(whynot);
	later = first;
	for (size_t i = 0; i < sizeof(waits_s) / sizeof(waits_s[0]) &&
	    whynot->told < WHYNOT_TOLD_MAX; i++) {
		str_reset(&moment);
		date_add(&moment, at_s + waits_s[i]);
		later.t = moment.buf;
		if (whynot_decide(whynot, whynot->files, &first, &said, &later,
		    &said_later, &err) < 0)
			break;
		if (!said_later.is_good)
			continue;
		clock_span(waits_s[i], span);
		whynot_tell(whynot, "time", arena_printf(whynot->arena, "no "
		    "edit: the same mail %s later, at %s", span, moment.buf),
		    "", "");
		break;
	}
	str_release(&moment);
}

static bool
says_time(const struct said *said)
{
	return strstr(said->says, "greylist") != NULL ||
	    strstr(said->says, " until ") != NULL ||
	    strncmp(said->says, "limit rate", 10) == 0;
}

void
whynot_try(struct whynot *whynot)
{
	struct trying trying = { .whynot = whynot };
	const struct said *said = &whynot->said;

	if (whynot->file_count == 0)
		return;
	if (says_time(said))
		time_try(&trying);
	if (strcmp(said->by, "milter") == 0) {
		if (!rule_locate(&trying, said->rule))
			return;
		filter_try_except(&trying);
		rule_try_without(&trying);
		return;
	}
	if (rule_locate(&trying, said->rule)) {
		rule_try_count(&trying);
		rule_try_size(&trying);
		rule_try_later(&trying);
		if (strcmp(said->by, "policy") == 0)
			rule_try_exception(&trying);
		rule_try_without(&trying);
		return;
	}
	room_try(&trying);
	if (strcmp(said->by, "content") == 0 && whynot->mail.line != NULL)
		content_try(&trying);
	login_try(&trying);
	if (strcmp(said->by, "policy") == 0)
		relay_try(&trying);
}

/* matches.c - matches of smtpd.conf, in their order
 *
 * In     match OPTIONS action NAME, match OPTIONS reject
 * Out    domain, route, accept, reject
 * Holds  nothing
 * Spec   smtpd.conf(5), "match"; zmailer.conf(5), domain, route, accept
 *
 * There the first match decides about everything.  Here a domain says what
 * becomes of its mail, a route where it goes, and rules who may send it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

enum opensmtpd_from { FROM_LOCAL, FROM_ANY, FROM_AUTH, FROM_SOURCE,
	FROM_SENDER, FROM_NAME };
enum opensmtpd_for { FOR_LOCAL, FOR_ANY, FOR_DOMAIN, FOR_RCPT };

struct opensmtpd_match {
	enum opensmtpd_from	 from;
	enum opensmtpd_for	 to;
	const struct opensmtpd_word *from_word, *to_word, *sender, *helo,
				*tag;
	struct opensmtpd_row	*action;
	bool			 is_reject, is_auth, wants_tls;
	const char		*bad;	/* what cannot be said here */
};

/* from ANY|LOCAL|... */
static void
match_from(struct opensmtpd_row *row, struct opensmtpd_match *out)
{
	static const struct { const char *name; enum opensmtpd_from from;
		bool has_value; } rows[] = {
		{ "any", FROM_ANY, false }, { "local", FROM_LOCAL, false },
		{ "socket", FROM_LOCAL, false },
		{ "src", FROM_SOURCE, true },
		{ "mail-from", FROM_SENDER, true },
		{ "rdns", FROM_NAME, true }, { "auth", FROM_AUTH, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!opensmtpd_is(row, rows[i].name))
			continue;
		out->from = rows[i].from;
		if (opensmtpd_is(row, "regex"))
			out->bad = "regex";
		if (rows[i].has_value || (out->from == FROM_AUTH &&
		    row->at < row->count && (row->words[row->at].kind ==
		    OPENSMTPD_TABLE || row->words[row->at].kind ==
		    OPENSMTPD_STRING)))
			out->from_word = opensmtpd_word(row);
		return;
	}
	out->bad = "from";
}

static void
match_for(struct opensmtpd_row *row, struct opensmtpd_match *out)
{
	if (opensmtpd_is(row, "any"))
		out->to = FOR_ANY;
	else if (opensmtpd_is(row, "local"))
		out->to = FOR_LOCAL;
	else if (opensmtpd_is(row, "domain"))
		out->to = FOR_DOMAIN;
	else if (opensmtpd_is(row, "rcpt-to"))
		out->to = FOR_RCPT;
	else
		out->bad = "for";
	if (opensmtpd_is(row, "regex"))
		out->bad = "regex";
	if (out->to == FOR_DOMAIN || out->to == FOR_RCPT) {
		out->to_word = opensmtpd_word(row);
		if (out->to_word == NULL)
			out->bad = "for";
	}
}

/* Where a pattern is a word, "!" before it makes another match of it. */
static void
match_option(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_match *out)
{
	if (opensmtpd_is(row, "!"))
		out->bad = "!";
	else if (opensmtpd_is(row, "from"))
		match_from(row, out);
	else if (opensmtpd_is(row, "for"))
		match_for(row, out);
	else if (opensmtpd_is(row, "mail-from"))
		out->sender = opensmtpd_is(row, "regex") ? NULL :
		    opensmtpd_word(row);
	else if (opensmtpd_is(row, "helo"))
		out->helo = opensmtpd_is(row, "regex") ? NULL :
		    opensmtpd_word(row);
	else if (opensmtpd_is(row, "rcpt-to")) {
		out->to = FOR_RCPT;
		out->to_word = opensmtpd_word(row);
	} else if (opensmtpd_is(row, "tag"))
		out->tag = opensmtpd_word(row);
	else if (opensmtpd_is(row, "auth"))
		out->is_auth = true;
	else if (opensmtpd_is(row, "tls"))
		out->wants_tls = true;
	else if (opensmtpd_is(row, "reject"))
		out->is_reject = true;
	else if (opensmtpd_is(row, "action")) {
		struct slice name = opensmtpd_text(row);

		out->action = opensmtpd_row_of(smtpd, "action", name);
		if (out->action == NULL)
			import_item_note(smtpd->import, &row->item,
			    IMPORT_MISSING, "there is no action " SLICE_FMT,
			    SLICE_ARG(name));
	} else {
		out->bad = "a word that is not known";
		opensmtpd_unknown(smtpd, row);
	}
	if (row->at > 1 && row->words[row->at - 1].kind == OPENSMTPD_WORD &&
	    slice_is(row->words[row->at - 1].text, "regex"))
		out->bad = "regex";
}

/* ---- conditions of a rule ----------------------------------------------- */

/* One more condition; returns false: it cannot be had, which was noted */
static bool
match_condition(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const char *name, const struct opensmtpd_word *word, struct str *out)
{
	enum opensmtpd_role role = strcmp(name, "from") == 0 ?
	    OPENSMTPD_NETS : strcmp(name, "helo") == 0 ||
	    strcmp(name, "name") == 0 ? OPENSMTPD_DOMAINS :
	    OPENSMTPD_ADDRESSES;
	const char *pattern;

	if (word == NULL)
		return true;
	pattern = opensmtpd_pattern(smtpd, row, word, role);
	if (pattern != NULL)
		str_addf(out, " %s %s", name, pattern);
	return pattern != NULL;
}

static bool
match_conditions(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_match *match, struct str *out)
{
	if (match->from == FROM_AUTH || match->is_auth)
		str_adds(out, " auth");
	if (match->wants_tls)
		str_adds(out, " tls yes");
	return match_condition(smtpd, row, "from", match->from ==
	    FROM_SOURCE ? match->from_word : NULL, out) &&
	    match_condition(smtpd, row, "name", match->from == FROM_NAME ?
	    match->from_word : NULL, out) &&
	    match_condition(smtpd, row, "sender", match->from ==
	    FROM_SENDER ? match->from_word : match->sender, out) &&
	    match_condition(smtpd, row, "helo", match->helo, out);
}

/* ---- our domains -------------------------------------------------------- */

/* Names of `for local` and `for domain`, blanks between them: ".x" for
 * "*.x"; NULL: noted. */
static const char *
match_domains(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_match *match)
{
	struct opensmtpd_row *table = match->to_word == NULL ||
	    match->to_word->kind != OPENSMTPD_TABLE ? NULL :
	    opensmtpd_row_of(smtpd, "table", match->to_word->text);
	struct import_entries entries;
	struct str words = STR_INIT;
	const char *out, *name;

	if (match->to == FOR_LOCAL)
		return strcmp(smtpd->host, "localhost") == 0 ? "localhost" :
		    arena_printf(smtpd->import->arena, "%s localhost",
		    smtpd->host);
	if (table != NULL && opensmtpd_is_question(table))
		return opensmtpd_table(smtpd, row, match->to_word->text,
		    OPENSMTPD_DOMAINS);
	if (!opensmtpd_entries(smtpd, row, match->to_word, &entries))
		return NULL;
	if (table != NULL && !table->item.is_told)
		import_item_note(smtpd->import, &table->item,
		    IMPORT_NOT_NEEDED, "its names stand in the statements "
		    "that came of the matches");
	for (size_t i = 0; i < entries.count; i++) {
		struct slice key = entries.rows[i].key;

		name = import_domain(smtpd->import, slice_from(key,
		    slice_starts(key, "*.")));
		if (name == NULL)
			import_item_note(smtpd->import, &row->item,
			    IMPORT_MISSING, "\"" SLICE_FMT "\" is no name of "
			    "a domain", SLICE_ARG(key));
		else
			str_addf(&words, "%s%s", words.len > 0 ? " " : "",
			    name);
	}
	out = words.len == 0 ? NULL : slice_dup(smtpd->import->arena,
	    str_slice(&words));
	if (out == NULL && !row->item.is_told)
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "its table has no domain");
	str_release(&words);
	return out;
}

/* The names that no statement has yet; marks them. */
static const char *
match_fresh(struct opensmtpd *smtpd, const char *names)
{
	struct slice rest = slice_of(names), word;
	struct str fresh = STR_INIT;
	const char *out;

	while (slice_word(&rest, &word)) {
		if (import_name_number(&smtpd->ours, word) != 0)
			continue;
		import_name_put(smtpd->import->arena, &smtpd->ours, word, 1);
		str_addf(&smtpd->ours_words, " " SLICE_FMT " ",
		    SLICE_ARG(word));
		str_addf(&fresh, "%s" SLICE_FMT, fresh.len > 0 ? " " : "",
		    SLICE_ARG(word));
	}
	out = slice_dup(smtpd->import->arena, str_slice(&fresh));
	str_release(&fresh);
	return out;
}

static void
match_open(struct opensmtpd *smtpd, const char *names)
{
	struct slice rest = slice_of(names), word;

	while (slice_word(&rest, &word))
		import_name_put(smtpd->import->arena, &smtpd->open, word, 1);
}

/* Mail of these may come although strangers' may not. */
static void
match_accept(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_match *match, const char *names)
{
	struct slice rest = slice_of(names), word;
	struct str conditions = STR_INIT;

	if ((match->from == FROM_ANY || match->from == FROM_LOCAL) &&
	    match->sender == NULL && match->helo == NULL)
		return;
	if (match->from != FROM_AUTH && !match->is_auth &&
	    match_conditions(smtpd, row, match, &conditions))
		while (slice_word(&rest, &word))
			opensmtpd_say(smtpd, row, IMPORT_RULES, slice_starts(
			    word, "<") ? "accept%s to " SLICE_FMT :
			    "accept%s to @" SLICE_FMT, conditions.buf,
			    SLICE_ARG(word));
	str_release(&conditions);
}

static void
match_local(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_match *match)
{
	const char *names, *fresh, *block;

	if (match->to == FOR_ANY || match->to == FOR_RCPT) {
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    match->to == FOR_ANY ? "mail for every domain is put "
		    "into mailboxes: write `domain NAME...` with those that "
		    "are yours" : "write `virtual <TABLE>` with these "
		    "addresses, or a domain of their own");
		return;
	}
	names = match_domains(smtpd, row, match);
	block = names == NULL ? NULL : opensmtpd_block(smtpd, match->action);
	if (names != NULL && block == NULL)
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "its action cannot be had: write `domain %s { ... }`",
		    names);
	if (block == NULL)
		return;
	if (match->from == FROM_ANY && match->sender == NULL &&
	    match->helo == NULL && !match->is_auth)
		match_open(smtpd, names);
	fresh = match_fresh(smtpd, names);
	if (fresh[0] == '\0')
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "a match before it says what becomes "
		    "of mail for these domains");
	else
		opensmtpd_say(smtpd, row, IMPORT_DOMAINS,
		    block[0] == '\0' ? "domain %s" : "domain %s { %s }",
		    fresh, block);
	if (fresh[0] != '\0' && !match->action->item.is_told)
		import_item_taken(smtpd->import, &match->action->item,
		    (int)smtpd->import->statement_count - 1);
	match_accept(smtpd, row, match, names);
}

/* ---- where other mail goes ---------------------------------------------- */

static void
match_route(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_match *match, const char *names)
{
	const char *via = opensmtpd_via(smtpd, match->action), *sender = "";
	struct slice rest = slice_of(names), word;

	if (via == NULL) {
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "its action cannot be had: write `route %s via ...`",
		    names);
		return;
	}
	if (match->sender != NULL || match->from == FROM_SENDER) {
		const char *pattern = opensmtpd_pattern(smtpd, row,
		    match->sender ? match->sender : match->from_word,
		    OPENSMTPD_ADDRESSES);

		if (pattern == NULL)
			return;
		sender = arena_printf(smtpd->import->arena, " from %s",
		    pattern);
	}
	while (slice_word(&rest, &word)) {
		opensmtpd_say(smtpd, row, match->to == FOR_ANY ?
		    IMPORT_LAST_ROUTES : IMPORT_ROUTES,
		    "route " SLICE_FMT "%s via %s", SLICE_ARG(word), sender,
		    via);
		if (!match->action->item.is_told)
			import_item_taken(smtpd->import,
			    &match->action->item,
			    (int)smtpd->import->statement_count - 1);
	}
}

/* Who may send there through us. */
static void
match_relaying(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_match *match, const char *names)
{
	struct slice rest = slice_of(names), word;
	struct str conditions = STR_INIT;

	if (match->from == FROM_LOCAL || match->from == FROM_AUTH ||
	    match->is_auth)
		return;		/* these may by preset rules */
	if (!match_conditions(smtpd, row, match, &conditions)) {
		str_release(&conditions);
		return;
	}
	if (match->to == FOR_ANY && match->from == FROM_SOURCE)
		opensmtpd_say(smtpd, row, IMPORT_RELAYING,
		    "accept%s for any", conditions.buf);
	else if (match->to == FOR_ANY)
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "everybody could send through this host to everywhere: "
		    "write `accept from NET for any` with the networks that "
		    "may");
	else
		while (slice_word(&rest, &word))
			opensmtpd_say(smtpd, row, IMPORT_RELAYING,
			    slice_starts(word, ".") ? "accept%s to *@*"
			    SLICE_FMT " for any" : slice_starts(word, "<") ?
			    "accept%s to " SLICE_FMT " for any" :
			    "accept%s to @" SLICE_FMT " for any",
			    conditions.buf, SLICE_ARG(word));
	str_release(&conditions);
}

static void
match_relay(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_match *match)
{
	const char *names = "*";

	if (match->to == FOR_LOCAL || match->to == FOR_RCPT) {
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    match->to == FOR_LOCAL ? "mail for this host goes "
		    "elsewhere: write `domain NAME { users any; deliver smtp "
		    "HOST:PORT }`" : "write `accept to ADDRESS for any` and "
		    "`route DOMAIN via ...` for each");
		return;
	}
	if (match->to == FOR_DOMAIN)
		names = match_domains(smtpd, row, match);
	if (names == NULL)
		return;
	match_relaying(smtpd, row, match, names);
	match_route(smtpd, row, match, names);
}

/* ---- refusals ----------------------------------------------------------- */

static void
match_reject(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_match *match)
{
	struct str conditions = STR_INIT;
	const char *names = NULL, *first;
	struct slice rest, word;
	bool is_good;

	is_good = match_conditions(smtpd, row, match, &conditions);
	if (is_good && conditions.len == 0 && match->from == FROM_ANY &&
	    match->to == FOR_ANY) {
		import_item_note(smtpd->import, &row->item, IMPORT_NOT_NEEDED,
		    "what nothing takes is refused anyway; a match after it "
		    "never counted, and does here");
		str_release(&conditions);
		return;
	}
	first = conditions.len > 0 ? conditions.buf : match->from ==
	    FROM_LOCAL ? " from 127.0.0.0/8" : " everybody";
	if (is_good && match->to == FOR_ANY)
		opensmtpd_say(smtpd, row, IMPORT_RULES, "reject%s", first);
	else if (is_good && match->to == FOR_RCPT)
		names = opensmtpd_pattern(smtpd, row, match->to_word,
		    OPENSMTPD_ADDRESSES);
	else if (is_good)
		names = match_domains(smtpd, row, match);
	rest = slice_of(names);
	while (names != NULL && slice_word(&rest, &word))
		opensmtpd_say(smtpd, row, IMPORT_RULES, "reject%s to %s"
		    SLICE_FMT, first, match->to == FOR_RCPT ||
		    slice_starts(word, "<") ? "" : slice_starts(word, ".") ?
		    "*@*" : "@", SLICE_ARG(word));
	if (row->item.is_told && smtpd->ours.count > 0)
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "a refusal comes before what is taken by domain: the "
		    "matches before it do not count more");
	str_release(&conditions);
}

void
opensmtpd_match(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	struct opensmtpd_match match = { .from = FROM_LOCAL,
		.to = FOR_LOCAL };

	while (row->at < row->count && match.bad == NULL)
		match_option(smtpd, row, &match);
	if (match.tag != NULL)
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "tag: filters are asked by milter, and rules may name "
		    "the listener (`listener :PORT`); mail of that listener "
		    "is taken as of all others");
	else if (match.bad != NULL)
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "%s cannot be said here: write `accept`, `reject`, "
		    "`domain` or `route` for what is meant", match.bad);
	else if (match.is_reject)
		match_reject(smtpd, row, &match);
	else if (match.action == NULL) {
		if (!row->item.is_told)
			import_item_note(smtpd->import, &row->item,
			    IMPORT_MISSING, "it has no action");
	} else if (opensmtpd_is_relay(match.action))
		match_relay(smtpd, row, &match);
	else
		match_local(smtpd, row, &match);
}

void
opensmtpd_matches_end(struct opensmtpd *smtpd)
{
	struct slice rest = str_slice(&smtpd->ours_words), word;
	struct import_item item = { .file = smtpd->import->order[0],
		.name = "match", .value = "" };

	while (smtpd->has_strangers && slice_word(&rest, &word)) {
		if (import_name_number(&smtpd->open, word) != 0)
			continue;
		item.value = arena_printf(smtpd->import->arena,
		    "from any for domain " SLICE_FMT, SLICE_ARG(word));
		import_item_taken(smtpd->import, &item, import_say(
		    smtpd->import, IMPORT_RULES, "", "reject strangers to %s"
		    SLICE_FMT " text \"it takes mail of this host alone\"",
		    slice_starts(word, "<") ? "" : slice_starts(word, ".") ?
		    "*@*" : "@", SLICE_ARG(word)));
	}
}

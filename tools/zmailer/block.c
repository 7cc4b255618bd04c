/* block.c - zmailer block, unblock: who is refused for a while
 *
 * In     a network, a sender or a user who logs in; how long, why
 * Out    a row in blocked-clients, blocked-senders or blocked-users beside
 *        zmailer.conf; at first use also the tables and rules in zmailer.conf
 * Holds  nothing; smtpserver looks at the tables once a second, and a row
 *        whose moment is over does not count any more
 * Trusts no words: a reason has its controls escaped, it is one line
 * Spec   zmailer-block(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "grammar/message/date.h"
#include "grammar/net.h"
#include "grammar/smtp/path.h"
#include "grammar/units.h"
#include "mail/table/table.h"
#include "tools/change/change.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	NET_BITS_LEAST = 16,	/* IPv6; wider ones are half the world */
	NET_BITS_LEAST_4 = 96 + 8,
	FILES = 3
};

enum { KIND_CLIENTS, KIND_SENDERS, KIND_USERS };	/* rows of kinds */

static const struct kind {
	const char	*table;
	int		 pattern;	/* of the rule; -1: from */
	const char	*shown;		/* before the key, for people */
	const char	*text;
} kinds[FILES] = {
	{ "blocked-clients", -1, "", "reject from <blocked-clients> "
	    "text \"mail from your address is blocked here\"\n" },
	{ "blocked-senders", PATTERN_SENDER, "", "reject sender "
	    "<blocked-senders> text \"mail from this sender is blocked "
	    "here\"\n" },
	{ "blocked-users", PATTERN_USER, "user:", "reject user <blocked-users> "
	    "text \"this account is blocked here\"\n" },
};

struct target {			/* what is to be blocked */
	const struct kind *kind;
	const char	*key;		/* as it stands in the table */
	struct net	 net;
};

/* ---- what is meant ------------------------------------------------------ */

static bool
block_is_loopback(const struct net *net)
{
	struct net four, six;

	return net_parse(SLICE("127.0.0.0/8"), &four, NULL) == 0 &&
	    net_parse(SLICE("::1"), &six, NULL) == 0 &&
	    (net_contains(&four, net) || net_contains(net, &six));
}

static int
block_take_net(struct arena *arena, const char *word, struct target *out)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool is_four = memcmp(out->net.bytes, mapped, 12) == 0;

	if (out->net.bits < (is_four ? (unsigned)NET_BITS_LEAST_4 :
	    (unsigned)NET_BITS_LEAST)) {
		fprintf(stderr, "zmailer: block: %s is too wide: at least /8, "
		    "or /16 of IPv6\n", word);
		return EX_USAGE;
	}
	if (block_is_loopback(&out->net)) {
		fprintf(stderr, "zmailer: block: %s is this machine itself\n",
		    word);
		return EX_USAGE;
	}
	out->kind = &kinds[KIND_CLIENTS];
	out->key = arena_printf(arena, "%s", word);
	return EX_OK;
}

/* user@domain, @domain, domain, .domain, user@: keys of a table of rules. */
static bool
is_sender(struct slice word)
{
	size_t at = slice_find(word, '@');
	struct slice domain = slice_from(word, at == word.n ? 0 : at + 1);

	if (word.n < 2 || word.n > 320 || word.p[0] == '#')
		return false;
	for (size_t i = 0; i < word.n; i++)
		if ((unsigned char)word.p[i] <= 32 || word.p[i] == 127 ||
		    ascii_is_among(word.p[i], "<>\":;,()[]\\*?"))
			return false;
	if (slice_starts(domain, ".") && at == word.n)
		domain = slice_from(domain, 1);
	if (domain.n == 0)
		return at > 0 && at < word.n;	/* user@ */
	return domain_parse(domain, NULL) == 0 &&
	    (at < word.n || slice_find(domain, '.') < domain.n);
}

/* As one logs in; a table has its keys in small letters. */
static int
block_take_user(struct arena *arena, const char *word, struct target *out)
{
	struct slice user = slice_of(word + strlen("user:"));
	bool is_good = user.n > 0 && user.n <= 255 && user.p[0] != '#';

	for (size_t i = 0; i < user.n; i++)
		is_good = is_good && (unsigned char)user.p[i] > 32 &&
		    user.p[i] != 127;
	out->kind = &kinds[KIND_USERS];
	out->key = slice_lower(arena, user).p;
	if (!is_good)
		fprintf(stderr, "zmailer: block: user: wants the name with "
		    "which somebody logs in (user:alice, "
		    "user:alice@example.org)\n");
	return is_good ? EX_OK : EX_USAGE;
}

static int
take_target(struct arena *arena, const char *word, struct target *out)
{
	struct str shown = STR_INIT;
	struct err err;
	size_t n = strlen(word);

	if (strncmp(word, "user:", 5) == 0)
		return block_take_user(arena, word, out);
	if (n > 0 && strspn(word, "0123456789abcdefABCDEF.:/") == n &&
	    strpbrk(word, ".:/") != NULL) {
		if (net_parse(slice_of(word), &out->net, &err) == 0)
			return block_take_net(arena, word, out);
		if (strchr(word, '/') != NULL || strchr(word, ':') != NULL) {
			fprintf(stderr, "zmailer: block: %s: %s\n", word,
			    err.text);
			return EX_USAGE;
		}
	}
	if (is_sender(slice_of(word))) {
		out->kind = &kinds[KIND_SENDERS];
		out->key = slice_lower(arena, slice_of(word)).p;
		return EX_OK;
	}
	str_add_escaped(&shown, slice_of(word));
	fprintf(stderr, "zmailer: block: '%s' is no network (192.0.2.0/24), no "
	    "sender (user@domain, @domain, domain, .domain) and no user who "
	    "logs in (user:NAME)\n", shown.buf);
	str_release(&shown);
	return EX_USAGE;
}

/* ---- rows ------------------------------------------------------------- */

struct row {
	struct slice	line, key, value;
	bool		is_entry;	/* else a comment, or blank */
	bool		is_over;
};

static bool
row_next(struct slice *rest, struct row *out)
{
	struct slice words;

	memset(out, 0, sizeof(*out));
	if (rest->n == 0)
		return false;
	slice_cut(rest, '\n', &out->line);
	words = out->line;
	if (out->line.n > 0 && out->line.p[0] != '#' &&
	    slice_word(&words, &out->key)) {
		out->is_entry = true;
		out->value = slice_trim(words);
		out->is_over = date_is_over(out->value, clock_wall_s());
	}
	return true;
}

/* Does one row make the other needless? */
static bool
block_is_within(const struct target *outer, struct slice key)
{
	struct net net;

	if (outer->kind == &kinds[KIND_CLIENTS])
		return net_parse(key, &net, NULL) == 0 &&
		    net_contains(&outer->net, &net);
	return slice_is_nocase(key, outer->key);
}

/* Rows that are over go, and those that the new one covers; the rest
 * stays as it is. */
static unsigned
rows_sweep(struct str *text, const struct target *target)
{
	struct str kept = STR_INIT;
	struct slice rest = str_slice(text);
	unsigned gone = 0;
	struct row row;

	while (row_next(&rest, &row)) {
		if (row.is_entry && block_is_within(target, row.key)) {
			gone++;
			continue;
		}
		if (row.is_over)
			continue;
		str_add_slice(&kept, row.line);
		str_addc(&kept, '\n');
	}
	str_release(text);
	*text = kept;
	return gone;
}

static void
block_row_add(struct str *text, const struct target *target, int64_t until_s,
    const char *reason)
{
	char by[64];

	verb_who(by, sizeof(by));
	str_addf(text, "%s  ", target->key);
	if (until_s != 0) {
		str_adds(text, "until=");
		date_add(text, until_s);
		str_addc(text, ' ');
	}
	str_addf(text, "by=%s", by);
	if (reason[0] != '\0') {
		str_addc(text, ' ');
		str_add_escaped(text, slice_of(reason));
	}
	str_addc(text, '\n');
}

/* ---- the tables and their rules ---------------------------------------- */

static bool
has_rule(const struct conf *conf, const struct kind *kind)
{
	struct slice table = slice_of(kind->table);

	for (size_t i = 0; i < conf->rule_count; i++) {
		const struct conf_rule *rule = &conf->rules[i];
		const char *named = kind->pattern < 0 ? rule->from_table :
		    rule->patterns[kind->pattern];
		struct slice text = slice_of(named == NULL ? "" : named);

		if (kind->pattern >= 0 && slice_starts(text, "<"))
			text = slice_first(slice_from(text, 1), text.n - 2);
		if (slice_equal(text, table))
			return true;
	}
	return false;
}

/* Where the table is, or will be; NULL: it is not a plain file. */
static const char *
block_path_of(struct change *change, const struct kind *kind)
{
	const struct conf_table *table = conf_table_find(change->conf,
	    kind->table);
	const char *slash = strrchr(change->conf_path, '/');

	if (conf_table_file(table) != NULL)
		return conf_table_file(table);
	if (table != NULL) {
		fprintf(stderr, "zmailer: block: <%s> is %s; only a file: "
		    "can be edited\n", kind->table, table->spec);
		return NULL;
	}
	return arena_printf(change->arena, "%.*s/%s",
	    slash == NULL ? 1 : (int)(slash - change->conf_path),
	    slash == NULL ? "." : change->conf_path, kind->table);
}

/* In front of the first statement that could decide before it. */
static int
rules_put(struct change *change)
{
	static const char *const words[] = { "accept", "reject", "defer",
		"freeze", "limit", "greylist", "policy-service", "include",
		"hooks" };
	struct str *text = change_main(change);
	struct conf_piece *pieces;
	struct str lines = STR_INIT;
	size_t count;

	if (text == NULL)
		return EX_NOINPUT;
	str_adds(&lines, "# zmailer block: who is refused for a while\n");
	for (size_t i = 0; i < FILES; i++) {
		const char *path = block_path_of(change, &kinds[i]);
		struct str *rows = path == NULL ? NULL :
		    change_file(change, path, true, 0644);

		if (rows == NULL) {
			str_release(&lines);
			return EX_NOINPUT;
		}
		if (rows->len == 0)
			str_adds(rows, "# written by zmailer block and "
			    "unblock\n");
		if (conf_table_find(change->conf, kinds[i].table) == NULL)
			str_addf(&lines, "table %s \"file:%s\"\n",
			    kinds[i].table, path);
		if (!has_rule(change->conf, &kinds[i]))
			str_adds(&lines, kinds[i].text);
	}
	count = conf_pieces(change->arena, str_slice(text), &pieces);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (conf_piece_is(&pieces[i], 0, words[k])) {
				conf_put_before(text, &pieces[i], lines.buf);
				str_release(&lines);
				return EX_OK;
			}
	conf_put_last(text, lines.buf);
	str_release(&lines);
	return EX_OK;
}

static bool
is_ready(const struct conf *conf)
{
	for (size_t i = 0; i < FILES; i++)
		if (conf_table_find(conf, kinds[i].table) == NULL ||
		    !has_rule(conf, &kinds[i]))
			return false;
	return true;
}

/* A row that is wider and lasts as long already covers it. */
static bool
is_blocked(const struct str *text, const struct target *target,
    int64_t until_s)
{
	struct slice rest = str_slice(text), words, word;
	struct row row;
	struct net net;
	int64_t its_s;

	if (target->kind != &kinds[KIND_CLIENTS])
		return false;
	while (row_next(&rest, &row)) {
		if (!row.is_entry || row.is_over ||
		    net_parse(row.key, &net, NULL) != 0 ||
		    !net_contains(&net, &target->net) ||
		    net.bits == target->net.bits)
			continue;
		words = row.value;
		if (slice_word(&words, &word) &&
		    slice_starts(word, "until=") &&
		    date_parse(slice_from(word, 6), &its_s, NULL) == 0 &&
		    (until_s == 0 || until_s > its_s))
			continue;
		fprintf(stderr, "zmailer: block: " SLICE_FMT " is blocked "
		    "already: " SLICE_FMT "\n", SLICE_ARG(row.key),
		    SLICE_ARG(row.value));
		return true;
	}
	return false;
}

/* A block stops what comes; what is here already is another order's. */
static void
block_tell_next(const struct change *change, const struct target *target)
{
	if (!change->is_json && !change->is_dry)
		printf("nobody logs in as %s any more, and sessions under way "
		    "end; mail that is here already: zmailer list user:%s, "
		    "then hold or delete\n", target->key, target->key);
}

/* Is the name in the table of users who may log in?  The user
 * ann@example.org may be there as ann. */
static enum table_result
block_find_user(const struct change *change, const char *user,
    const struct conf_table *entry)
{
	struct slice whole = slice_of(user), value;
	struct table *table = table_new(entry->name, entry->spec);
	size_t at = slice_find(whole, '@');
	enum table_result found;
	struct err err;
	unsigned line;

	found = table_lookup(table, whole, &value, &line, &err);
	if (found == TABLE_NONE && at < whole.n &&
	    conf_domain_find(change->conf, slice_from(whole, at + 1)) != NULL)
		found = table_lookup(table, slice_first(whole, at), &value,
		    &line, &err);
	table_free(&table);
	return found;
}

/* A name that cannot log in is a mistake if a table has all users; otherwise
 * only a note says so, because others (PAM, LDAP) may know it. */
static int
block_look_at_user(const struct change *change, const char *user)
{
	const struct conf_auth *auth = &change->conf->auth;
	const struct conf_table *entry = auth->table == NULL ? NULL :
	    conf_table_find(change->conf, auth->table);

	if (auth->kind == AUTH_NONE)
		fprintf(stderr, "zmailer: block: warning: nobody can log in "
		    "here now: there is no auth statement\n");
	else if (auth->kind == AUTH_PAM && getpwnam(user) == NULL &&
	    strchr(user, '@') == NULL)
		fprintf(stderr, "zmailer: block: warning: there is no account "
		    "%s on this machine; PAM may know one\n", user);
	if (auth->kind != AUTH_USERS || entry == NULL ||
	    block_find_user(change, user, entry) != TABLE_NONE)
		return EX_OK;
	fprintf(stderr, "zmailer: block: there is no user %s: <%s>, who may "
	    "log in, has no such name; nothing was changed\n", user,
	    entry->name);
	return EX_NOUSER;
}

static int
block_begin(struct change *change, const struct target *target, int64_t until_s)
{
	const char *path;
	struct str *text;
	int status = EX_OK;

	if (target->kind == &kinds[KIND_USERS])
		status = block_look_at_user(change, target->key);
	if (status != EX_OK)
		return status;
	change->is_quiet_table = is_ready(change->conf);
	if (!change->is_quiet_table)
		status = rules_put(change);
	if (status != EX_OK)
		return status;
	path = block_path_of(change, target->kind);
	text = path == NULL ? NULL : change_file(change, path, true, 0644);
	if (text == NULL)
		return EX_NOINPUT;
	if (is_blocked(text, target, until_s))
		return 1;
	rows_sweep(text, target);
	block_row_add(text, target, until_s, change->reason);
	status = change_carry_out(change);
	if (status == EX_OK && target->kind == &kinds[KIND_USERS])
		block_tell_next(change, target);
	return status;
}

static int
block_end(struct change *change, const struct target *target)
{
	const char *path = block_path_of(change, target->kind);
	struct str *text = path == NULL ||
	    conf_table_find(change->conf, target->kind->table) == NULL ?
	    NULL : change_file(change, path, true, 0644);

	change->is_quiet_table = true;
	if (text == NULL || rows_sweep(text, target) == 0) {
		fprintf(stderr, "zmailer: unblock: %s%s is not blocked "
		    "(zmailer block list)\n", target->kind->shown, target->key);
		return 1;
	}
	return change_carry_out(change);
}

/* ---- list ------------------------------------------------------------- */

/* "until=2026-11-20T21:04:00Z ticket 7" as people read it. */
static void
block_add_value(struct str *out, struct slice value)
{
	struct slice rest = value, word;
	char moment[CLOCK_TEXT_BYTES];
	int64_t until_s;
	struct err err;

	if (slice_word(&rest, &word) && slice_starts(word, "until=") &&
	    date_parse(slice_from(word, strlen("until=")), &until_s,
	    &err) == 0) {
		clock_local(until_s, moment);
		str_addf(out, "until %s ", moment);
		value = slice_trim(rest);
	}
	str_add_escaped(out, value);
}

static void
block_put_row(const struct kind *kind, const struct row *row, bool is_json)
{
	struct str out = STR_INIT, key = STR_INIT;

	str_adds(&key, kind->shown);
	str_add_slice(&key, row->key);
	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "table", slice_of(kind->table));
		json_text(&out, "blocked", str_slice(&key));
		json_text(&out, "about", row->value);
		json_bool(&out, "over", row->is_over);
		json_close(&out);
	} else {
		str_add_escaped(&out, str_slice(&key));
		while (out.len < 32)
			str_addc(&out, ' ');
		str_addc(&out, ' ');
		block_add_value(&out, row->value);
		str_adds(&out, row->is_over ? "  (over)\n" : "\n");
	}
	fputs(out.buf, stdout);
	str_release(&out);
	str_release(&key);
}

static int
block_list(struct change *change)
{
	unsigned count = 0;

	for (size_t i = 0; i < FILES; i++) {
		struct slice rest;
		struct str *text;
		struct row row;
		const char *path;

		if (conf_table_find(change->conf, kinds[i].table) == NULL ||
		    (path = block_path_of(change, &kinds[i])) == NULL ||
		    (text = change_file(change, path, true, 0644)) == NULL)
			continue;
		rest = str_slice(text);
		while (row_next(&rest, &row))
			if (row.is_entry) {
				block_put_row(&kinds[i], &row, change->is_json);
				count++;
			}
	}
	if (count == 0 && !change->is_json)
		printf("nobody is blocked\n");
	return EX_OK;
}

/* ---- the command line ------------------------------------------------- */

static int
block_run(struct change *change, const struct arguments *arguments)
{
	int64_t for_ms = arguments_number(arguments, OPT_FOR, 0);
	struct target target = { .key = NULL };
	int status;

	if (arguments_is(arguments, "list"))
		return block_list(change);
	status = take_target(change->arena, arguments->words[0], &target);
	if (status != EX_OK)
		return status;
	return strcmp(arguments->verb, "unblock") == 0 ?
	    block_end(change, &target) :
	    block_begin(change, &target, for_ms == 0 ? 0 :
	    clock_wall_s() + for_ms / 1000);
}

int
verb_block(struct arguments *arguments)
{
	return change_verb(arguments, block_run);
}

int
verb_unblock(struct arguments *arguments)
{
	return change_verb(arguments, block_run);
}

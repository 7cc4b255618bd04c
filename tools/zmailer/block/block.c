/* block.c - zmailer block, unblock: who is refused for a while
 *
 * In     a network, a sender or a user who logs in; how long, why
 * Out    a row in blocked-clients, blocked-senders or blocked-users beside
 *        zmailer.conf; at first use also the tables and rules in zmailer.conf;
 *        with --cluster an order for all machines (shared.h)
 * Holds  nothing; smtpserver looks at the tables once a second, and a row
 *        whose moment is over does not count any more
 * Trusts no words: a reason has its controls escaped, it is one line
 * Spec   zmailer-block(8)
 *
 * SPDX-License-Identifier: ISC
 */
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
#include "tools/zmailer/block/shared.h"
#include "tools/zmailer/block/target.h"
#include "tools/zmailer/block/user.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

/* ---- rows ------------------------------------------------------------- */

struct row {
	struct slice	line, key, value;
	bool		is_entry;	/* else a comment, or blank */
	bool		is_shared;	/* of the cluster */
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
block_is_within(const struct block_target *outer, struct slice key)
{
	struct net net;

	if (outer->kind == &block_kinds[BLOCK_KIND_CLIENTS])
		return net_parse(key, &net, NULL) == 0 &&
		    net_contains(&outer->net, &net);
	return slice_is_nocase(key, outer->key);
}

/* Rows that are over go, and those that the new one covers; the rest
 * stays as it is. */
static unsigned
rows_sweep(struct str *text, const struct block_target *target)
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
block_row_add(struct str *text, const struct block_target *target,
    int64_t until_s, const char *reason)
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
has_rule(const struct conf *conf, const struct block_kind *kind)
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
block_path_of(struct change *change, const struct block_kind *kind)
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
		"hooks", NULL };
	struct str *text = change_main(change);
	struct str lines = STR_INIT;

	if (text == NULL)
		return EX_NOINPUT;
	str_adds(&lines, "# zmailer block: who is refused for a while\n");
	for (size_t i = 0; i < BLOCK_KINDS; i++) {
		const char *path = block_path_of(change, &block_kinds[i]);
		struct str *rows = path == NULL ? NULL :
		    change_file(change, path, true, 0644);

		if (rows == NULL) {
			str_release(&lines);
			return EX_NOINPUT;
		}
		if (rows->len == 0)
			str_adds(rows, "# written by zmailer block and "
			    "unblock\n");
		if (conf_table_find(change->conf, block_kinds[i].table) == NULL)
			str_addf(&lines, "table %s \"file:%s\"\n",
			    block_kinds[i].table, path);
		if (!has_rule(change->conf, &block_kinds[i]))
			str_adds(&lines, block_kinds[i].text);
	}
	conf_put_before_first(change->arena, text, words, lines.buf);
	str_release(&lines);
	return EX_OK;
}

static bool
is_ready(const struct conf *conf)
{
	for (size_t i = 0; i < BLOCK_KINDS; i++)
		if (conf_table_find(conf, block_kinds[i].table) == NULL ||
		    !has_rule(conf, &block_kinds[i]))
			return false;
	return true;
}

/* A row that is wider and lasts as long already covers it. */
static bool
is_blocked(const struct str *text, const struct block_target *target,
    int64_t until_s)
{
	struct slice rest = str_slice(text), words, word;
	struct row row;
	struct net net;
	int64_t its_s;

	if (target->kind != &block_kinds[BLOCK_KIND_CLIENTS])
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
block_tell_next(const struct change *change, const struct block_target *target)
{
	if (!change->is_json && !change->is_dry)
		printf("nobody logs in as %s any more, and sessions under way "
		    "end; mail that is here already: zmailer list user:%s, "
		    "then hold or delete\n", target->key, target->key);
}

/* --cluster; what is only shown is no order. */
static bool
block_is_shared(const struct change *change)
{
	return arguments_has(change->arguments, OPT_CLUSTER) &&
	    !change->is_dry;
}

/* As share calls it: "clients". */
static const char *
kind_word(const struct block_kind *kind)
{
	return kind->table + strlen("blocked-");
}

/* In this node's table. */
static int
block_begin_here(struct change *change, const struct block_target *target,
    int64_t until_s)
{
	const char *path;
	struct str *text;
	int status = EX_OK;

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
	return change_carry_out(change);
}

static int
block_show_shared(const struct block_target *target)
{
	printf("all machines of the cluster would refuse %s%s\n",
	    target->kind->shown, target->key);
	return EX_OK;
}

/* One of the cluster is in no table: any node may end it. */
static int
block_begin(struct change *change, const struct block_target *target,
    int64_t until_s)
{
	bool is_user = target->kind == &block_kinds[BLOCK_KIND_USERS];
	int status = is_user ? user_look(change, target->key) : EX_OK;

	if (status == EX_OK && arguments_has(change->arguments, OPT_CLUSTER) &&
	    change->is_dry)
		return block_show_shared(target);
	if (status == EX_OK)
		status = block_is_shared(change) ? shared_begin(change,
		    kind_word(target->kind), target->key, until_s) :
		    block_begin_here(change, target, until_s);
	if (status == EX_OK && is_user)
		block_tell_next(change, target);
	return status;
}

/* shared_covers_fn */
static bool
block_covers(const void *context, struct slice key)
{
	return block_is_within(context, key);
}

static int
block_end(struct change *change, const struct block_target *target)
{
	const char *path = block_path_of(change, target->kind);
	struct str *text = path == NULL ||
	    conf_table_find(change->conf, target->kind->table) == NULL ?
	    NULL : change_file(change, path, true, 0644);

	bool is_here;
	int count = 0;

	change->is_quiet_table = true;
	is_here = text != NULL && rows_sweep(text, target) > 0;
	if (block_is_shared(change)) {
		count = shared_end(change, kind_word(target->kind),
		    block_covers, target);
		if (count < 0)
			return EX_TEMPFAIL;
	}
	if (!is_here && count > 0)
		return EX_OK;
	if (!is_here) {
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
block_put_row(const struct block_kind *kind, const struct row *row,
    bool is_json)
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
		json_bool(&out, "cluster", row->is_shared);
		json_close(&out);
	} else {
		str_add_escaped(&out, str_slice(&key));
		while (out.len < 32)
			str_addc(&out, ' ');
		str_addc(&out, ' ');
		block_add_value(&out, row->value);
		str_adds(&out, row->is_shared ? "  (cluster)" : "");
		str_adds(&out, row->is_over ? "  (over)\n" : "\n");
	}
	fputs(out.buf, stdout);
	str_release(&out);
	str_release(&key);
}

struct listed {
	const struct change	*change;
	unsigned		 count;
};

/* shared_block_fn */
static void
block_put_shared(void *context, const struct shared_block *block)
{
	struct listed *listed = context;
	struct str value = STR_INIT;
	struct row row = { .key = block->key, .is_shared = true };

	if (block->until_s != 0) {
		str_adds(&value, "until=");
		date_add(&value, block->until_s);
		str_addc(&value, ' ');
	}
	str_add_slice(&value, block->about);
	row.value = str_slice(&value);
	row.is_over = date_is_over(row.value, clock_wall_s());
	for (size_t i = 0; i < BLOCK_KINDS; i++)
		if (slice_is(block->kind, kind_word(&block_kinds[i])))
			block_put_row(&block_kinds[i], &row,
			    listed->change->is_json);
	listed->count++;
	str_release(&value);
}

static int
block_list(struct change *change)
{
	struct listed listed = { .change = change };
	unsigned count = 0;
	struct err err;

	for (size_t i = 0; i < BLOCK_KINDS; i++) {
		struct slice rest;
		struct str *text;
		struct row row;
		const char *path;

		if (conf_table_find(change->conf, block_kinds[i].table) ==
		    NULL ||
		    (path = block_path_of(change, &block_kinds[i])) == NULL ||
		    (text = change_file(change, path, true, 0644)) == NULL)
			continue;
		rest = str_slice(text);
		while (row_next(&rest, &row))
			if (row.is_entry) {
				block_put_row(&block_kinds[i], &row,
				    change->is_json);
				count++;
			}
	}
	if (conf_cluster_has_redis(&change->conf->cluster) && shared_each(
	    change, block_put_shared, &listed, &err) != 0)
		fprintf(stderr, "zmailer: block: those of the cluster are not "
		    "known: %s\n", err.text);
	count += listed.count;
	if (count == 0 && !change->is_json)
		printf("nobody is blocked\n");
	return EX_OK;
}

/* ---- the command line ------------------------------------------------- */

static int
block_run(struct change *change, const struct arguments *arguments)
{
	int64_t for_ms = arguments_number(arguments, OPT_FOR, 0);
	struct block_target target = { .key = NULL };
	int status;

	if (arguments_is(arguments, "list"))
		return block_list(change);
	if (arguments_has(arguments, OPT_CLUSTER) &&
	    !arguments_has(arguments, OPT_YES) && !change->is_dry)
		return arguments_refuse(arguments, "an order to all machines "
		    "needs --yes");
	if (arguments_has(arguments, OPT_CLUSTER) && !shared_is_ready(change))
		return EX_CONFIG;
	status = block_target_take(change->arena, arguments->words[0], &target);
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

/* log.c - zmailer log: whose dialogue stands in the journal
 *
 * In     a level, a client or a destination, how long
 * Out    a log-level statement in zmailer.conf: those about one client or
 *        destination in front of the one about all
 * Spec   zmailer-log(8); zmailer.conf(5), log-level
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/date.h"
#include "grammar/net.h"
#include "grammar/units.h"
#include "tools/change/change.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

struct order {
	const char	*level;
	const char	*kind, *whom;	/* "client" or "dest"; NULL: all */
	int64_t		 until_s;
};

/* ---- what is written -------------------------------------------------- */

static bool
is_statement(const struct conf_piece *piece)
{
	return conf_piece_is(piece, 0, "log-level");
}

static bool
is_for_some(const struct conf_piece *piece)
{
	return conf_piece_is(piece, 2, "client") ||
	    conf_piece_is(piece, 2, "dest");
}

/* Is the statement replaced by the order?  "normal" for all ends all. */
static bool
is_replaced(const struct conf_piece *piece, const struct order *order)
{
	if (order->kind == NULL)
		return !is_for_some(piece) ||
		    strcmp(order->level, "normal") == 0;
	return conf_piece_is(piece, 2, order->kind) &&
	    conf_piece_is(piece, 3, order->whom);
}

static void
replaced_take(struct change *change, struct str *text,
    const struct order *order)
{
	for (;;) {
		struct conf_piece *pieces;
		size_t count = conf_pieces(change->arena, str_slice(text),
		    &pieces), i = 0;

		while (i < count && !(is_statement(&pieces[i]) &&
		    is_replaced(&pieces[i], order)))
			i++;
		if (i == count)
			return;
		conf_take_piece(text, &pieces[i]);
	}
}

static void
log_line_put(struct change *change, struct str *text, const struct order *order,
    const char *line)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(change->arena, str_slice(text), &pieces);

	for (size_t i = 0; i < count; i++)
		if (is_statement(&pieces[i]) && order->kind != NULL) {
			conf_put_before(text, &pieces[i], line);
			return;
		}
	conf_put_last(text, line);
}

/* Normal is how it is when nothing is said. */
static bool
is_needless(const struct change *change, const struct order *order)
{
	if (strcmp(order->level, "normal") != 0)
		return false;
	for (size_t i = 0; i < change->conf->log_level_count; i++) {
		const struct conf_log_level *row =
		    &change->conf->log_levels[i];

		if (order->kind != NULL && row->is_debug &&
		    !row->has_client && row->dest == NULL)
			return false;
	}
	return true;
}

static int
log_set(struct change *change, const struct order *order)
{
	struct str *text = change_main(change);
	struct str line = STR_INIT;

	if (text == NULL)
		return EX_NOINPUT;
	replaced_take(change, text, order);
	str_addf(&line, "log-level %s", order->level);
	if (order->kind != NULL)
		str_addf(&line, " %s %s", order->kind, order->whom);
	if (order->until_s != 0) {
		str_adds(&line, " until ");
		date_add(&line, order->until_s);
	}
	str_addc(&line, '\n');
	if (!is_needless(change, order))
		log_line_put(change, text, order, line.buf);
	str_release(&line);
	return change_carry_out(change);
}

/* ---- show ------------------------------------------------------------- */

static void
log_put_row(const struct conf_log_level *row, bool is_json)
{
	bool is_over = row->until_s != 0 && row->until_s <= clock_wall_s();
	struct str out = STR_INIT, what = STR_INIT;

	conf_log_level_add(&what, row);
	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "log_level", str_slice(&what));
		json_bool(&out, "over", is_over);
		json_text(&out, "file", slice_of(row->at.file));
		json_number(&out, "line", row->at.line);
		json_close(&out);
	} else {
		str_addf(&out, "%s:%u  ", row->at.file, row->at.line);
		str_add_escaped(&out, str_slice(&what));
		str_adds(&out, is_over ? "  (over)\n" : "\n");
	}
	fputs(out.buf, stdout);
	str_release(&what);
	str_release(&out);
}

static int
log_show(const struct change *change)
{
	const struct conf *conf = change->conf;

	for (size_t i = 0; i < conf->log_level_count; i++)
		log_put_row(&conf->log_levels[i], change->is_json);
	if (conf->log_level_count == 0 && !change->is_json)
		printf("normal: no dialogue is noted\n");
	return EX_OK;
}

/* ---- the command line --------------------------------------------------- */

static int
take_whom(const char *verb, char **argv, struct order *out)
{
	struct net net;
	struct err err;

	out->kind = argv[0];
	out->whom = argv[1];
	if (strcmp(out->kind, "client") == 0 &&
	    net_parse(slice_of(out->whom), &net, &err) != 1)
		return verb_usage(verb, "client %s: %s", out->whom, err.text);
	for (const char *p = out->whom; *p != '\0'; p++)
		if ((unsigned char)*p <= 32 || *p == 127 ||
		    strchr("{};#\"<>\\", *p) != NULL)
			return verb_usage(verb, "dest: a pattern of domains, "
			    "as of tls-to");
	return *out->whom != '\0' ? EX_OK : verb_usage(verb, "whom?");
}

static int
log_take_until(const char *verb, const char *word, struct order *out)
{
	int64_t ms;

	if (units_span_ms(slice_of(word), &ms, NULL) != 1 || ms < 1000)
		return verb_usage(verb, "--for %s: a span is wanted: 10m 2h",
		    word);
	out->until_s = clock_wall_s() + ms / 1000;
	return EX_OK;
}

static int
set_level(struct change *change, int argc, char **argv)
{
	struct order order = { .level = argv[2] };
	int status = EX_OK;

	if (strcmp(order.level, "normal") != 0 &&
	    strcmp(order.level, "debug") != 0)
		return verb_usage(argv[0], "a level is normal or debug");
	for (int i = 3; i < argc && status == EX_OK; i += 2) {
		if (i + 1 == argc)
			return verb_usage(argv[0], "'%s' says too little",
			    argv[i]);
		if (strcmp(argv[i], "--for") == 0)
			status = log_take_until(argv[0], argv[i + 1], &order);
		else if (order.kind == NULL && (strcmp(argv[i], "client") ==
		    0 || strcmp(argv[i], "dest") == 0))
			status = take_whom(argv[0], argv + i, &order);
		else
			status = verb_usage(argv[0], "'%s' is too much",
			    argv[i]);
	}
	return status == EX_OK ? log_set(change, &order) : status;
}

static int
log_run(struct change *change, int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "show") == 0)
		return log_show(change);
	if (argc > 2 && strcmp(argv[1], "level") == 0)
		return set_level(change, argc, argv);
	return verb_usage(argv[0], "say show, level debug or level "
	    "normal");
}

int
verb_log(int argc, char **argv, const char *conf_path)
{
	return change_verb(argc, argv, conf_path, log_run);
}

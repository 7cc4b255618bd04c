/* log.c - zmailer log: which dialogues are in the journal
 *
 * In     a level, a client or a destination, how long
 * Out    a log-level statement in zmailer.conf: those about one client or
 *        destination before the one about all
 * Spec   zmailer-log(8); zmailer.conf(5), log-level
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
#include "grammar/units.h"
#include "tools/change/change.h"
#include "tools/zmailer/verbs/verb.h"

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
take_whom(const struct arguments *arguments, struct order *out)
{
	struct net net;
	struct err err;

	out->kind = arguments_word(arguments, 1);
	out->whom = arguments_word(arguments, 2);
	if (out->kind == NULL)
		return EX_OK;
	if (out->whom == NULL || *out->whom == '\0')
		return arguments_refuse(arguments, "%s: whom?", out->kind);
	if (strcmp(out->kind, "client") == 0 &&
	    net_parse(slice_of(out->whom), &net, &err) != 0)
		return arguments_refuse(arguments, "client %s: %s", out->whom,
		    err.text);
	for (const char *p = out->whom; *p != '\0'; p++)
		if ((unsigned char)*p <= 32 || *p == 127 ||
		    ascii_is_among(*p, "{};#\"<>\\"))
			return arguments_refuse(arguments, "dest: a pattern "
			    "of domains, as of tls-to");
	return EX_OK;
}

static int
log_run(struct change *change, const struct arguments *arguments)
{
	int64_t for_ms = arguments_number(arguments, OPT_FOR, 0);
	struct order order = { .level = arguments_word(arguments, 0),
	    .until_s = for_ms == 0 ? 0 : clock_wall_s() + for_ms / 1000 };
	int status;

	if (arguments_is(arguments, "show"))
		return log_show(change);
	status = take_whom(arguments, &order);
	return status == EX_OK ? log_set(change, &order) : status;
}

int
verb_log(struct arguments *arguments)
{
	return change_verb(arguments, log_run);
}

/* replay.c - smtpserver replay: lines of the record, decided again
 *
 * In     lines of the record; the configuration that ZMAILER_CONF names
 * Out    a decision a line
 * Holds  the policy, and counters from the first line on
 * Trusts nobody: a line that is none is said to be none
 * Spec   replay.h; zmailer-replay(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "base/mem.h"
#include "smtpserver/rehearse/again.h"
#include "smtpserver/rehearse/inquiry.h"
#include "smtpserver/rehearse/replay.h"

#include "base/banned.h"

bool
replay_is_meant(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "replay") == 0;
}

static void
replay_add_rule(struct str *out, const struct conf_rule *rule)
{
	struct str at = STR_INIT, says = STR_INIT, words = STR_INIT;

	if (rule != NULL && rule->at.file != NULL) {
		str_addf(&at, "%s:%u", rule->at.file, rule->at.line);
		conf_rule_add(&words, rule);
		str_addf(&says, "%s " SLICE_FMT, rule->word,
		    SLICE_ARG(slice_trim(str_slice(&words))));
		json_text(out, "rule", str_slice(&at));
		json_text(out, "says", slice_trim(str_slice(&says)));
	}
	str_release(&at);
	str_release(&says);
	str_release(&words);
}

static void
replay_add_milter(struct str *out, const struct conf_milter *milter)
{
	struct str at = STR_INIT, says = STR_INIT;

	if (milter != NULL && milter->at.file != NULL) {
		str_addf(&at, "%s:%u", milter->at.file, milter->at.line);
		str_addf(&says, "what %s said then", milter->socket);
		json_text(out, "rule", str_slice(&at));
		json_text(out, "says", str_slice(&says));
	}
	str_release(&at);
	str_release(&says);
}

static void
replay_add_outcome(struct str *out, const struct rehearsal_outcome *outcome,
    const char *by)
{
	if (outcome->stage != NULL)
		json_text(out, "at", slice_of(outcome->stage));
	if (outcome->result == REHEARSAL_NEED) {
		json_text(out, "need", str_slice(&outcome->words));
		replay_add_rule(out, outcome->rule);
		return;
	}
	json_number(out, "code", outcome->code);
	json_text(out, "status", str_slice(&outcome->status));
	json_text(out, "words", str_slice(&outcome->words));
	json_text(out, "by", slice_of(by));
	replay_add_rule(out, outcome->rule);
	if (outcome->rule == NULL)
		replay_add_milter(out, outcome->milter);
	if (outcome->is_discarded)
		json_bool(out, "discarded", true);
	if (outcome->result == REHEARSAL_FREEZE)
		json_bool(out, "aside", true);
}

static void
replay_line(struct again *again, struct slice line, struct str *out)
{
	struct rehearsal_outcome outcome = { .status = STR_INIT,
	    .words = STR_INIT };
	struct again_row row;
	struct err err;
	const char *by;

	again_row_init(&row);
	json_open(out);
	if (again_parse(line, &row, &err) < 0 ||
	    again_run(again, &row, &outcome, &by, &err) < 0)
		json_text(out, "bad", slice_of(err.text));
	else
		replay_add_outcome(out, &outcome, by);
	json_close(out);
	rehearsal_outcome_release(&outcome);
	again_row_release(&row);
}

static void
replay_lines(struct again *again)
{
	struct str out = STR_INIT;
	size_t capacity = 0;
	char *line = NULL;
	ssize_t n;

	while ((n = getline(&line, &capacity, stdin)) > 0) {
		str_reset(&out);
		replay_line(again, slice_trim((struct slice){ line,
		    (size_t)n }), &out);
		fputs(out.buf, stdout);
		fflush(stdout);
	}
	mem_free(&line);
	str_release(&out);
}

int
replay_run(int argc, char **argv)
{
	struct inquiry inquiry;
	struct again again = { .buckets = NULL };
	struct err err;

	err_program("zmailer");
	if (inquiry_open(&inquiry, &again.rehearsal) < 0)
		return EX_CONFIG;
	again.rehearsal.is_live = argc > 2 &&
	    strcmp(argv[2], "--ask-dns") == 0;
	again.buckets = buckets_new();
	again.greylist = greylist_open(NULL, 0, &err);
	replay_lines(&again);
	buckets_free(&again.buckets);
	greylist_close(&again.greylist);
	inquiry_close(&inquiry, &again.rehearsal);
	return EX_OK;
}

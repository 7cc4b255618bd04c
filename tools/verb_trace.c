/* verb_trace.c - zmailer trace: what became of a message
 *
 * In     a spool id, a message id or an address; the journal
 * Out    a table a message, or the journal's own lines
 * Spec   zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "tools/journal/journal.h"
#include "tools/verb.h"

#include "base/banned.h"

static void
lines_put(const struct life *life)
{
	for (size_t i = 0; i < life->count; i++) {
		fwrite(life->lines[i].line.p, 1, life->lines[i].line.n,
		    stdout);
		putchar('\n');
	}
}

static int
trace(const struct journal *journal, const char *what, bool is_json)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct life life;
	struct err err;
	int status = EX_OK;

	if (life_find(journal, what, arena, &life, &err) < 0) {
		status = verb_usage("trace", "%s", err.text);
	} else if (life.count == 0) {
		fprintf(stderr, "zmailer: trace: the journal of the last %d "
		    "days does not know %s\n", JOURNAL_DAYS, what);
		status = 1;
	} else if (is_json) {
		lines_put(&life);
	} else {
		life_print(&life, &text);
		fputs(text.buf, stdout);
		if (life.is_cut)
			printf("\nOnly the newest %d messages are shown.\n",
			    JOURNAL_IDS_MAX);
	}
	str_release(&text);
	arena_free(&arena);
	return status;
}

int
verb_trace(int argc, char **argv, const char *conf_path)
{
	const char *what = NULL;
	bool is_json = false;
	struct journal *journal;
	struct conf *conf;
	struct err err;
	int status;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			is_json = true;
		else if (what == NULL && argv[i][0] != '-')
			what = argv[i];
		else
			return verb_usage(argv[0], "%s is too much", argv[i]);
	}
	if (what == NULL)
		return verb_usage(argv[0], "which message?");
	conf = verb_conf(conf_path);
	if (journal_open(conf->log_dir, JOURNAL_DAYS, &journal, &err) < 0) {
		fprintf(stderr, "zmailer: trace: %s\n", err.text);
		status = EX_NOINPUT;
	} else {
		status = trace(journal, what, is_json);
		journal_close(&journal);
	}
	conf_free(&conf);
	return status;
}

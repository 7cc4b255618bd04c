/* rehearse.c - smtpserver test: the policy without a client
 *
 * In     options, or files of rows; the configuration
 * Out    rules and verdicts on stdout; the exit status
 * Holds  who answers questions (inquiry.h), while it runs
 * Spec   zmailer-test(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/mem.h"
#include "smtpserver/rehearse/dialogue.h"
#include "smtpserver/rehearse/inquiry.h"
#include "smtpserver/rehearse/rehearsal.h"
#include "smtpserver/rehearse/rehearse.h"

#include "base/banned.h"

struct rehearse_run {
	struct inquiry		 inquiry;
	struct rehearsal	 rehearsal;
	bool			 is_quiet;
	unsigned		 tried, failed;
};

bool
rehearse_is_meant(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "test") == 0;
}

/* ---- what is said ----------------------------------------------------- */

static void
rule_add(struct str *out, const struct conf_rule *rule)
{
	if (rule->at.file == NULL)
		str_adds(out, "built in");
	else
		str_addf(out, "%s:%u", rule->at.file, rule->at.line);
	str_addf(out, "  %s ", rule->word);
}

/* The condition that is not met; NULL: all are. */
static const char *
rule_why_not(const char *why)
{
	if (strcmp(why, "fits") == 0)
		return NULL;
	if (strcmp(why, "greylist") == 0)
		return "as if it had waited; --greylisted: a first try";
	return why;
}

static void
print_rule(void *context, const struct conf_rule *rule, const char *why)
{
	struct str text = STR_INIT, words = STR_INIT;
	const char *why_not = rule_why_not(why);

	rule_add(&text, rule);
	conf_rule_add(&words, rule);
	if (why_not == NULL || strcmp(why, "later") == 0)
		printf("  %-7s %s%s\n", why, text.buf, words.buf);
	else
		printf("  %-7s %s%s  (%s)\n", "no", text.buf, words.buf,
		    why_not);
	str_release(&text);
	str_release(&words);
}

static void
print_outcome(const struct rehearsal_outcome *outcome)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s  %d %s %s", rehearsal_words[outcome->result],
	    outcome->code, outcome->status.buf, outcome->words.buf);
	if (outcome->rule != NULL) {
		str_adds(&text, "  by ");
		rule_add(&text, outcome->rule);
	}
	puts(text.buf);
	for (unsigned i = 0; i < outcome->shadow_count; i++) {
		str_reset(&text);
		rule_add(&text, outcome->shadows[i]);
		printf("  shadow  %s\n", text.buf);
	}
	str_release(&text);
}

/* ---- one mail --------------------------------------------------------- */

/* "--ip X" becomes the word "from" and its value. */
static int
options_take(struct rehearse_run *run, int argc, char **argv,
    struct str *out_line)
{
	static const struct {
		const char	*option, *word;
		bool		has_value;
	} rows[] = {
		{ "--ip", "from", true }, { "--name", "name", true },
		{ "--helo", "helo", true }, { "--from", "sender", true },
		{ "--to", "to", true }, { "--user", "user", true },
		{ "--listener", "listener", true },
		{ "--service", "service", true },
		{ "--cert", "cert", true }, { "--issuer", "issuer", true },
		{ "--fingerprint", "fingerprint", true },
		{ "--spf", "spf", true }, { "--dkim", "dkim", true },
		{ "--dmarc", "dmarc", true }, { "--policy", "policy", true },
		{ "--dkim2", "dkim2", true },
		{ "--size", "size", true }, { "--listed", "listed", true },
		{ "--submission", "submission", false },
		{ "--tls", "tls", false }, { "--over", "over", false },
		{ "--greylisted", "greylisted", false },
		{ "--sender-unknown", "sender-unknown", false },
	};

	for (int i = 0; i < argc; i++) {
		size_t row = 0, count = sizeof(rows) / sizeof(rows[0]);

		if (strcmp(argv[i], "--dns") == 0) {
			run->rehearsal.is_live = true;
			continue;
		}
		while (row < count && strcmp(argv[i], rows[row].option) != 0)
			row++;
		if (row == count || (rows[row].has_value && i + 1 == argc)) {
			fprintf(stderr, "zmailer: test: %s '%s'\n",
			    row == count ? "there is no option" :
			    "a value is missing after", argv[i]);
			return -1;
		}
		str_addf(out_line, "%s ", rows[row].word);
		if (rows[row].has_value)
			str_addf(out_line, "%s ", argv[++i]);
	}
	return 0;
}

static int
rehearse_one(struct rehearse_run *run, int argc, char **argv)
{
	struct rehearsal_outcome outcome;
	struct rehearsal_row row;
	struct str line = STR_INIT;
	struct err err = { "" };
	int status = EX_USAGE;

	run->rehearsal.trace = print_rule;
	if (options_take(run, argc, argv, &line) == 0) {
		enum rehearsal_line parsed = rehearsal_parse(
		    str_slice(&line), &row, &err);

		if (parsed == REHEARSAL_LINE_EMPTY)
			err_set(&err, "to whom? write --to USER@DOMAIN");
		if (parsed == REHEARSAL_LINE_ROW &&
		    rehearsal_run(&run->rehearsal, &row,
		    &outcome, &err) == 0) {
			print_outcome(&outcome);
			status = outcome.result == REHEARSAL_NEED ? 1 : EX_OK;
		}
		if (parsed == REHEARSAL_LINE_ROW)
			rehearsal_outcome_release(&outcome);
		rehearsal_row_release(&row);
		if (err.text[0] != '\0' && status == EX_USAGE)
			fprintf(stderr, "zmailer: test: %s\n", err.text);
	}
	str_release(&line);
	return status;
}

/* "--ip X --session" and nothing else: a dialogue. */
static int
rehearse_session(struct rehearse_run *run, const char *ip)
{
	struct err err;

	run->rehearsal.trace = print_rule;
	if (dialogue_run(&run->rehearsal, ip, &err) == 0)
		return EX_OK;
	fprintf(stderr, "zmailer: test: %s\n", err.text);
	return EX_USAGE;
}

/* ---- files ------------------------------------------------------------ */

/* "route ADDRESS => CHANNEL [HOST [USER]]": what the router answers begins
 * with these words.  0; -1: it cannot be asked. */
static int
rehearse_route(struct rehearse_run *run, const char *path, unsigned number,
    struct slice line)
{
	struct slice question = line, want = { NULL, 0 }, got;
	struct str answer = STR_INIT;
	enum ask_state state;
	int result;

	for (size_t i = 0; i + 1 < line.n; i++)
		if (line.p[i] == '=' && line.p[i + 1] == '>') {
			question = slice_trim(slice_first(line, i));
			want = slice_trim(slice_from(line, i + 2));
			break;
		}
	if (want.n == 0 || !inquiry_ask(&run->inquiry, "router", question,
	    &state, &answer)) {
		fprintf(stderr, "%s:%u: %s\n", path, number, want.n == 0 ?
		    "where to? write => CHANNEL HOST" :
		    "the router cannot be asked");
		result = -1;
	} else {
		got = str_slice(&answer);
		run->tried++;
		result = 0;
		if (!slice_equal(slice_first(got, want.n), want) ||
		    (got.n != want.n && got.p[want.n] != ' ')) {
			run->failed++;
			printf("%s:%u: another route\n    " SLICE_FMT
			    "\n    %s\n", path, number, SLICE_ARG(line),
			    answer.buf);
		}
	}
	str_release(&answer);
	return result;
}

static int
rehearse_line(struct rehearse_run *run, const char *path, unsigned number,
    struct slice line)
{
	struct rehearsal_outcome outcome = { .status = STR_INIT,
	    .words = STR_INIT };
	struct rehearsal_row row;
	struct str why = STR_INIT;
	struct err err;
	enum rehearsal_line parsed;
	int result = 0;

	if (slice_starts(line, "route "))
		return rehearse_route(run, path, number, line);
	parsed = rehearsal_parse(line, &row, &err);
	if (parsed == REHEARSAL_LINE_BAD)
		result = -1;
	else if (parsed == REHEARSAL_LINE_ROW && !row.has_expectation)
		result = err_set(&err, "what is expected? write => accept, "
		    "=> reject ...");
	else if (parsed == REHEARSAL_LINE_ROW)
		result = rehearsal_run(&run->rehearsal, &row, &outcome,
		    &err);
	if (result < 0) {
		fprintf(stderr, "%s:%u: %s\n", path, number, err.text);
	} else if (parsed == REHEARSAL_LINE_ROW) {
		run->tried++;
		if (!rehearsal_is_expected(&row, &outcome, &why)) {
			run->failed++;
			printf("%s:%u: %s\n    " SLICE_FMT "\n    ", path,
			    number, why.buf, SLICE_ARG(slice_trim(line)));
			print_outcome(&outcome);
		}
	}
	rehearsal_outcome_release(&outcome);
	rehearsal_row_release(&row);
	str_release(&why);
	return result;
}

/* 0; EX_DATAERR, EX_NOINPUT. */
static int
rehearse_file(struct rehearse_run *run, const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	unsigned number = 0;
	size_t capacity = 0;
	char *line = NULL;
	int status = EX_OK;
	ssize_t n;

	if (file == NULL) {
		fprintf(stderr, "zmailer: test: %s: %s\n", path,
		    strerror(errno));
		return EX_NOINPUT;
	}
	while ((n = getline(&line, &capacity, file)) > 0)
		if (rehearse_line(run, path, ++number, slice_trim(
		    (struct slice){ line, (size_t)n })) < 0)
			status = EX_DATAERR;
	mem_free(&line);
	if (file != stdin)
		fclose(file);
	return status;
}

static int
rehearse_files(struct rehearse_run *run, int argc, char **argv)
{
	bool is_over = false;	/* after "--" every word is a file */
	int status = EX_OK;

	for (int i = 0; i < argc; i++) {
		int one = 0;

		if (is_over)
			one = rehearse_file(run, argv[i]);
		else if (strcmp(argv[i], "--") == 0)
			is_over = true;
		else if (strcmp(argv[i], "--quiet") == 0)
			run->is_quiet = true;
		else if (strcmp(argv[i], "--dns") == 0)
			run->rehearsal.is_live = true;
		else
			one = rehearse_file(run, argv[i]);
		if (status == EX_OK)
			status = one;
	}
	if (status == EX_OK && (!run->is_quiet || run->failed > 0))
		printf("%u as expected, %u not\n",
		    run->tried - run->failed, run->failed);
	return status != EX_OK ? status : run->failed > 0 ? 1 : EX_OK;
}

/* ---- main ------------------------------------------------------------- */

int
rehearse(int argc, char **argv)
{
	struct rehearse_run run = { .is_quiet = false };
	int status;

	err_program("zmailer");
	if (inquiry_open(&run.inquiry, &run.rehearsal) < 0)
		return EX_CONFIG;
	if (argc == 6 && strcmp(argv[2], "smtp") == 0 &&
	    strcmp(argv[3], "--ip") == 0 && strcmp(argv[5], "--session") == 0)
		status = rehearse_session(&run, argv[4]);
	else if (argc > 2 && strcmp(argv[2], "smtp") == 0)
		status = rehearse_one(&run, argc - 3, argv + 3);
	else
		status = rehearse_files(&run, argc - 2, argv + 2);
	inquiry_close(&run.inquiry, &run.rehearsal);
	return status;
}

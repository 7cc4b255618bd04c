/* audit.c - zmailer audit: do the books balance, is the journal whole?
 *
 * In     the spool, then the journal
 * Out    sums; what is missing, and what was altered; 1 when there is such
 * Holds  the accounts of the window
 * Spec   zmailer-audit(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/journal/ask.h"
#include "past/names.h"
#include "tools/zmailer/audit/audit.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	LOOKS = 3,		/* mail that moves may be missed by one */
	AGAIN_MS = 500
};

/* ---- the journal ------------------------------------------------------- */

static void
on_fault(void *context, enum seal_fault fault, const char *part,
    size_t number, int64_t at_ms, size_t count)
{
	struct audit *audit = context;
	struct audit_fault *out;

	audit->faults_all++;
	if (audit->fault_count == AUDIT_FAULTS_MAX)
		return;
	out = &audit->faults[audit->fault_count++];
	*out = (struct audit_fault){ .fault = fault, .number = number,
	    .at_ms = at_ms, .count = count };
	strlcpy(out->part, part, sizeof(out->part));
}

static void
journal_audit(struct audit *audit, struct journal *journal,
    struct books *books)
{
	struct seal_reader *reader = seal_reader_new(audit->known, on_fault,
	    audit);
	struct journal_cursor cursor = { 0, 0, 0 };
	size_t part = SIZE_MAX;
	struct slice line;

	while (journal_next_raw(journal, &cursor, &line)) {
		if (cursor.file != part) {
			part = cursor.file;
			seal_read_part(reader, journal_part(journal, part));
		}
		seal_read_line(reader, line);
		books_read_line(books, journal_line_whole(line));
	}
	seal_read_end(reader, &audit->seals);
	seal_reader_free(&reader);
}

/* The chain is read from the window's first day on; all of it when one of its
 * sums is looked for. */
static int
audit_journal_open(const struct audit *audit, const char *log_dir,
    struct journal **out, struct err *err)
{
	int64_t days = (clock_wall_us() / 1000 - audit->window.since_ms) /
	    JOURNAL_DAY_MS + 2;

	if (audit->known != NULL)
		return journal_open_all(log_dir, out, err);
	return journal_days_open(log_dir, (unsigned)days, out, err);
}

/* ---- one look ---------------------------------------------------------- */

static int
audit_look(struct audit *audit, const struct conf *conf, struct err *err)
{
	struct books *books = books_new(&audit->window);
	struct journal *journal;
	int result;

	audit->fault_count = 0;
	audit->faults_all = 0;
	result = books_see_spool(books, conf, err);
	if (result == 0)
		result = audit_journal_open(audit, conf->log_dir, &journal,
		    err);
	if (result == 0) {
		journal_audit(audit, journal, books);
		journal_close(&journal);
		books_close(books, &audit->sums, audit->findings,
		    &audit->finding_count);
	}
	books_free(&books);
	return result;
}

/* What was on its way from one directory to the next while they were read
 * is found by another look. */
static int
audit_make(struct audit *audit, const struct conf *conf, struct err *err)
{
	for (int left = LOOKS; left > 0; left--) {
		if (audit_look(audit, conf, err) < 0)
			return -1;
		if (audit->sums.fates[AUDIT_UNACCOUNTED] == 0)
			break;
		if (left > 1)
			usleep(AGAIN_MS * 1000);
	}
	return 0;
}

/* ---- the verb ---------------------------------------------------------- */

static int
window_take(struct arguments *arguments, struct journal_span *out,
    struct err *err)
{
	int64_t now_ms = clock_wall_us() / 1000, for_ms;
	const char *moment = arguments_word(arguments, 0);

	if (ask_moment(moment != NULL ? moment : "today", now_ms,
	    &out->since_ms, &for_ms, err) < 0)
		return -1;
	out->until_ms = for_ms > 0 ? out->since_ms + for_ms : now_ms;
	return 0;
}

static int
audit_tell(const struct audit *audit, bool is_json)
{
	struct str out = STR_INIT;

	if (is_json)
		audit_print_json(audit, &out);
	else
		audit_print(audit, &out);
	fputs(out.buf, stdout);
	str_release(&out);
	return audit_is_good(audit) ? EX_OK : 1;
}

int
verb_audit(struct arguments *arguments)
{
	struct audit audit = { .known = arguments_text(arguments, OPT_SEAL) };
	struct conf *conf;
	struct err err;
	int status;

	if (window_take(arguments, &audit.window, &err) < 0)
		return arguments_refuse(arguments, "%s", err.text);
	conf = verb_conf(arguments->conf_path);
	audit.findings = mem_alloc(AUDIT_FINDINGS_MAX, sizeof(*audit.findings));
	audit.faults = mem_alloc(AUDIT_FAULTS_MAX, sizeof(*audit.faults));
	status = audit_make(&audit, conf, &err) < 0 ?
	    verb_failed("audit", &err, EX_NOINPUT) :
	    audit_tell(&audit, arguments_has(arguments, OPT_JSON));
	mem_free(&audit.findings);
	mem_free(&audit.faults);
	conf_free(&conf);
	return status;
}

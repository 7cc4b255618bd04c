/* send.c - zmailer report send: send reports to other domains
 *
 * In     a day of the journal
 * Out    the reports of tls.c and dmarc.c; a line with the sum
 * Holds  the counts of one day
 * Trusts nothing in the journal
 * Spec   zmailer-report(8); RFC 8460, RFC 9990
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sysexits.h>
#include <unistd.h>

#include "io/dns/dns.h"
#include "journal/event.h"
#include "tools/journal/ask.h"
#include "tools/journal/journal.h"
#include "tools/zmailer/report/send/send.h"
#include "tools/zmailer/report/send/sending.h"

#include "base/banned.h"

enum { HALF_DAY_MS = 43200000 };

/* ---- the day ------------------------------------------------------------ */

/* "2026-11-20": that day of UTC, wherever the reader is. */
static bool
report_date_parse(const char *text, int64_t *out_ms)
{
	char noon[sizeof("2026-11-20T12:00Z")];
	int64_t for_ms;
	struct err err;

	if (strlen(text) != strlen("2026-11-20") || text[4] != '-')
		return false;
	snprintf(noon, sizeof(noon), "%sT12:00Z", text);
	return ask_moment(noon, clock_wall_us() / 1000, out_ms, &for_ms,
	    &err) == 0;
}

/* Days are UTC's, as the journal's and RFC 8460's; a local word such as
 * "today" names the day that has its noon.
 * text  NULL: the day that is over */
static int
sending_set_day(struct sending *sending, const char *text, struct err *err)
{
	int64_t at_ms = (clock_wall_s() - SENDING_DAY_S) * 1000, for_ms;

	if (text != NULL && !report_date_parse(text, &at_ms)) {
		if (ask_moment(text, clock_wall_us() / 1000, &at_ms, &for_ms,
		    err) < 0)
			return -1;
		if (for_ms != (int64_t)SENDING_DAY_S * 1000)
			return err_set(err, "'%s' is no day", text);
		at_ms += HALF_DAY_MS;
	}
	clock_rfc3339(at_ms * 1000, sending->day);
	sending->day[strlen("2026-11-20")] = '\0';
	sending->begin_s = at_ms / 1000 / SENDING_DAY_S * SENDING_DAY_S;
	return 0;
}

static int
sending_count(struct sending *sending, struct err *err)
{
	struct journal_span span = { sending->begin_s * 1000, INT64_MAX };
	struct journal_cursor cursor = { 0, 0, 0 };
	struct journal *journal;
	struct slice line;

	if (journal_open_all(sending->conf->log_dir, &journal, err) < 0)
		return -1;
	journal_within(journal, &span);
	while (journal_next(journal, &cursor, &line)) {
		if (sending->from.len > 0)
			sessions_take_line(&sending->sessions, line);
		elsewhere_take_line(&sending->elsewhere, sending->day, line);
		if (sending->dmarc_from.len > 0)
			authors_take_line(&sending->authors, line);
	}
	journal_close(&journal);
	return 0;
}

static int
sending_run(struct sending *sending)
{
	struct err err;

	if (dns_use(sending->conf->dns_server, &err) < 0 ||
	    sending_count(sending, &err) < 0)
		return verb_failed("report", &err, EX_NOINPUT);
	/* who was told is known by that alone: else all hear it again */
	if (!sending->is_dry && event_open(sending->conf->log_dir) < 0) {
		(void)err_sys(&err, "the journal cannot be written, so nothing "
		    "is sent: %s", sending->conf->log_dir);
		return verb_failed("report", &err, EX_CANTCREAT);
	}
	sending_tls(sending);
	sending_dmarc(sending);
	event_flush();
	if (!sending->is_json && !sending->is_dry)
		printf("%u sent for %s\n", sending->sent, sending->day);
	return sending->failed > 0 ? EX_TEMPFAIL : EX_OK;
}

#define SENDING_LOCK ".report-send"

/* Two at once would tell everybody twice: one has the lock. */
static int
sending_run_alone(struct sending *sending)
{
	struct arena *arena = arena_new();
	const char *path = arena_printf(arena, "%s/" SENDING_LOCK,
	    sending->conf->log_dir);
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC, 0600);
	int status;
	struct err err;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		fprintf(stderr, "zmailer: report: another report send is at "
		    "work (it has the lock of %s); try again when it has "
		    "ended\n", path);
		status = EX_TEMPFAIL;
	} else if (fd < 0) {
		(void)err_sys(&err, "%s", path);
		status = verb_failed("report", &err, EX_CANTCREAT);
	} else {
		status = sending_run(sending);
	}
	if (fd >= 0)
		close(fd);
	arena_free(&arena);
	return status;
}

/* "reports" is reports@HOST; "" stays so. */
static void
sending_set_from(const struct conf *conf, const char *address, struct str *out)
{
	if (address == NULL || *address == '\0')
		return;
	str_adds(out, address);
	if (strchr(address, '@') == NULL)
		str_addf(out, "@%s", conf->host);
}

static int
sending_begin(struct sending *sending)
{
	int status;

	if (sending->from.len + sending->dmarc_from.len == 0) {
		fputs("zmailer: report: no reports are sent; to send them, "
		    "say in zmailer.conf who they are from:\n"
		    "    tls-reports tls-reports@example.org\n"
		    "    dmarc-reports dmarc-reports@example.org\n", stderr);
		return EX_CONFIG;
	}
	sessions_init(&sending->sessions, sending->day);
	authors_init(&sending->authors, sending->day);
	sending->elsewhere.arena = arena_new();
	status = sending->is_dry ? sending_run(sending) :
	    sending_run_alone(sending);
	sessions_release(&sending->sessions);
	authors_release(&sending->authors);
	arena_free(&sending->elsewhere.arena);
	return status;
}

int
report_tell_domains(struct arguments *arguments)
{
	struct sending sending = {
	    .is_dry = arguments_has(arguments, OPT_DRY_RUN),
	    .is_json = arguments_has(arguments, OPT_JSON),
	    .is_own = arguments_has(arguments, OPT_OWN),
	    .from = STR_INIT, .dmarc_from = STR_INIT };
	struct conf *conf;
	struct err err;
	int status;

	if (sending_set_day(&sending, arguments_text(arguments, OPT_DAY),
	    &err) < 0)
		return arguments_refuse(arguments, "%s", err.text);
	conf = verb_conf(arguments->conf_path);
	sending.conf = conf;
	sending_set_from(conf, conf->tls_reports, &sending.from);
	sending_set_from(conf, conf->dmarc_reports, &sending.dmarc_from);
	status = sending_begin(&sending);
	str_release(&sending.from);
	str_release(&sending.dmarc_from);
	conf_free(&conf);
	return status;
}

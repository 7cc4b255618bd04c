/* print.c - zmailer audit: the books on a page
 *
 * In     a struct audit
 * Out    text for people; JSON
 * Holds  nothing
 * Spec   zmailer-audit(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/zmailer/audit/audit.h"

#include "base/banned.h"

/* What a fault is called in JSON, and what people are told. */
static const struct fault_row {
	const char	*name, *text;
} fault_rows[] = {
	[SEAL_ALTERED] = { "altered", "is not the line that was sealed" },
	[SEAL_REMOVED] = { "removed", "lines before it are gone" },
	[SEAL_ADDED] = { "added", "lines from here on were not sealed" },
	[SEAL_BROKEN] = { "broken", "is a seal that makes no sense" },
	[SEAL_CUT] = { "cut", "the file does not end here as it was closed" },
	[SEAL_MISSING] = { "missing", "the whole file is gone" },
};

bool
audit_is_good(const struct audit *audit)
{
	return audit->sums.fates[AUDIT_UNACCOUNTED] == 0 &&
	    audit->faults_all == 0 &&
	    (audit->known == NULL || audit->seals.is_known);
}

static void
moment_add(struct str *out, int64_t at_ms)
{
	char text[CLOCK_TEXT_BYTES];

	clock_local(at_ms / 1000, text);
	str_adds(out, text);
}

/* ---- for people -------------------------------------------------------- */

static void
fates_add(const struct audit_sums *sums, struct str *out)
{
	for (int i = 0; i < AUDIT_FATE_COUNT; i++) {
		if (sums->fates[i] == 0 && i != AUDIT_DELIVERED &&
		    i != AUDIT_UNACCOUNTED)
			continue;
		str_addf(out, "  %-12s %10" PRIu64 "  %s", audit_fates[i].name,
		    sums->fates[i], audit_fates[i].text);
		if (i == AUDIT_FAILED)
			str_addf(out, "; reported: %" PRIu64, sums->reported);
		str_addc(out, '\n');
	}
	if (sums->twice > 0)
		str_addf(out, "  %-12s %10" PRIu64 "  got it more than once\n",
		    "twice", sums->twice);
}

static void
findings_add(const struct audit *audit, struct str *out)
{
	for (size_t i = 0; i < audit->finding_count; i++) {
		const struct audit_finding *finding = &audit->findings[i];

		str_addf(out, "  %s  %" PRIu64 " of %" PRIu64 " recipients",
		    finding->id, finding->missing, finding->recipients);
		if (finding->last_ms >= 0) {
			str_addf(out, "; last heard of: %s, ", finding->last);
			moment_add(out, finding->last_ms);
		}
		str_addc(out, '\n');
	}
}

static void
books_print(const struct audit *audit, struct str *out)
{
	const struct audit_sums *sums = &audit->sums;
	bool is_balanced = sums->fates[AUDIT_UNACCOUNTED] == 0;

	str_adds(out, "Mail accepted from ");
	moment_add(out, audit->window.since_ms);
	str_adds(out, " to ");
	moment_add(out, audit->window.until_ms);
	str_addf(out, ":\n  %-12s %10" PRIu64 "  %" PRIu64 " of them ended\n"
	    "  %-12s %10" PRIu64 "\n", "messages", sums->messages,
	    sums->finished, "recipients", sums->recipients);
	fates_add(sums, out);
	str_adds(out, is_balanced ?
	    "The books balance: every recipient has one fate.\n" :
	    "THE BOOKS DO NOT BALANCE.  `zmailer trace ID` tells what is known"
	    " of:\n");
	findings_add(audit, out);
}

static void
faults_print(const struct audit *audit, struct str *out)
{
	for (size_t i = 0; i < audit->fault_count; i++) {
		const struct audit_fault *fault = &audit->faults[i];

		str_addf(out, "  %s", fault->part);
		if (fault->number > 0)
			str_addf(out, ":%zu", fault->number);
		str_addf(out, ": %s", fault_rows[fault->fault].text);
		if (fault->count > 1)
			str_addf(out, " (%zu of them)", fault->count);
		if (fault->at_ms >= 0) {
			str_adds(out, ", ");
			moment_add(out, fault->at_ms);
		}
		str_addc(out, '\n');
	}
}

static void
seals_print(const struct audit *audit, struct str *out)
{
	const struct seal_sums *seals = &audit->seals;

	str_addf(out, "Journal: %" PRIu64 " line%s, ", seals->lines,
	    seals->lines == 1 ? "" : "s");
	if (seals->seals == 0)
		str_adds(out, "not sealed yet (this is done once a minute "
		    "while the mail system runs).\n");
	else
		str_addf(out, "%" PRIu64 " sealed, the last %zu not yet; "
		    "%s.\n", seals->covered, seals->open_lines,
		    audit->faults_all == 0 ? "none was altered or removed" :
		    "IT IS NOT AS IT WAS WRITTEN");
	faults_print(audit, out);
	if (audit->known != NULL)
		str_addf(out, "The seal %s is %s.\n", audit->known,
		    seals->is_known ? "part of it" : "NOT PART OF IT");
	if (seals->seals > 0) {
		str_adds(out, "Last seal: ");
		moment_add(out, seals->last_ms);
		str_addf(out, "\n  %s\n", seals->last);
	}
}

void
audit_print(const struct audit *audit, struct str *out)
{
	books_print(audit, out);
	str_addc(out, '\n');
	seals_print(audit, out);
}

/* ---- JSON -------------------------------------------------------------- */

static void
json_moment(struct str *out, const char *key, int64_t at_ms)
{
	char text[CLOCK_TEXT_BYTES];

	if (at_ms < 0)
		return;
	clock_rfc3339(at_ms * 1000, text);
	json_text(out, key, slice_of(text));
}

static void
sums_json(const struct audit *audit, struct str *out)
{
	const struct audit_sums *sums = &audit->sums;

	json_open_answer(out);
	json_bool(out, "good", audit_is_good(audit));
	json_moment(out, "since", audit->window.since_ms);
	json_moment(out, "until", audit->window.until_ms);
	json_number(out, "messages", (int64_t)sums->messages);
	json_number(out, "ended", (int64_t)sums->finished);
	json_number(out, "recipients", (int64_t)sums->recipients);
	for (int i = 0; i < AUDIT_FATE_COUNT; i++)
		json_number(out, audit_fates[i].name, (int64_t)sums->fates[i]);
	json_number(out, "reported", (int64_t)sums->reported);
	json_number(out, "twice", (int64_t)sums->twice);
	json_number(out, "lines", (int64_t)audit->seals.lines);
	json_number(out, "sealed", (int64_t)audit->seals.covered);
	json_number(out, "faults", (int64_t)audit->faults_all);
	json_moment(out, "last-seal", audit->seals.last_ms);
	json_text(out, "seal", slice_of(audit->seals.last));
	if (audit->known != NULL)
		json_bool(out, "known", audit->seals.is_known);
	json_close(out);
}

void
audit_print_json(const struct audit *audit, struct str *out)
{
	sums_json(audit, out);
	for (size_t i = 0; i < audit->finding_count; i++) {
		const struct audit_finding *finding = &audit->findings[i];

		json_open_answer(out);
		json_text(out, "id", slice_of(finding->id));
		json_number(out, "recipients", (int64_t)finding->recipients);
		json_number(out, "unaccounted", (int64_t)finding->missing);
		json_text(out, "last", slice_of(finding->last));
		json_moment(out, "at", finding->last_ms);
		json_close(out);
	}
	for (size_t i = 0; i < audit->fault_count; i++) {
		const struct audit_fault *fault = &audit->faults[i];

		json_open_answer(out);
		json_text(out, "fault",
		    slice_of(fault_rows[fault->fault].name));
		json_text(out, "file", slice_of(fault->part));
		json_number(out, "line", (int64_t)fault->number);
		json_number(out, "count", (int64_t)fault->count);
		json_moment(out, "at", fault->at_ms);
		json_close(out);
	}
}

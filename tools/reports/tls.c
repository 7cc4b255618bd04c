/* tls.c - an SMTP TLS report as rows
 *
 * In     JSON
 * Out    a row a policy, with the sessions that went well, and one for each
 *        way in which others failed: reporter, name, domain, begin, end, kind
 *        of policy, what failed ("" none), count, next hop, address that
 *        sent, reason
 * Trusts nothing: bounds in received.h
 * Spec   received.h; RFC 8460 section 4.4
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"
#include "tools/reports/received.h"

#include "base/banned.h"

/* "{}," is three bytes, and hundreds where it was read: without a bound 60 KB
 * of gzip want 5 GB.  A report of 1 MB wants 20 MB. */
enum { NUMBER_BYTES = 24, JSON_BYTES_MAX = 256 * 1024 * 1024 };

static size_t json_bytes;	/* asked for by the report that is read;
				 * jansson passes no context */

struct tls_report {
	struct received_rows *rows;
	struct slice	 values[RECEIVED_FIELDS];
};

static struct slice
tls_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return slice_of(text == NULL ? "" : text);
}

/* Its value; 0 where it is none. */
static int64_t
tls_count(const json_t *object, const char *key, char out[NUMBER_BYTES])
{
	json_int_t value = json_integer_value(json_object_get(object, key));
	int64_t count = value < 0 || value > UINT32_MAX ? 0 : (int64_t)value;

	snprintf(out, NUMBER_BYTES, "%" PRId64, count);
	return count;
}

static void
tls_add_policy(struct tls_report *report, const json_t *policy)
{
	const json_t *about = json_object_get(policy, "policy");
	const json_t *sum = json_object_get(policy, "summary");
	const json_t *details = json_object_get(policy, "failure-details");
	struct slice *values = report->values;
	char number[NUMBER_BYTES];
	int64_t left = tls_count(sum, "total-failure-session-count", number);

	values[2] = tls_text(about, "policy-domain");
	values[5] = tls_text(about, "policy-type");
	values[6] = values[8] = values[9] = values[10] = slice_of("");
	(void)tls_count(sum, "total-successful-session-count", number);
	values[7] = slice_of(number);
	received_row_add(report->rows, values);
	for (size_t i = 0; i < json_array_size(details); i++) {
		const json_t *one = json_array_get(details, i);

		values[6] = tls_text(one, "result-type");
		values[8] = tls_text(one, "receiving-mx-hostname");
		values[9] = tls_text(one, "sending-mta-ip");
		values[10] = tls_text(one, "failure-reason-code");
		left -= tls_count(one, "failed-session-count", number);
		values[7] = slice_of(number);
		if (values[6].n == 0)
			values[6] = slice_of("unknown");
		received_row_add(report->rows, values);
	}
	if (left <= 0)
		return;
	/* those that it tells no more of */
	values[6] = slice_of("unknown");
	values[8] = values[9] = values[10] = slice_of("");
	snprintf(number, sizeof(number), "%" PRId64, left);
	values[7] = slice_of(number);
	received_row_add(report->rows, values);
}

/* NULL: the report is larger than any. */
static void *
json_take(size_t n)
{
	if (n > JSON_BYTES_MAX || json_bytes > JSON_BYTES_MAX - n)
		return NULL;
	json_bytes += n;
	return mem_alloc(1, n);
}

static void
json_give_back(void *bytes)
{
	mem_free(&bytes);
}

static json_t *
json_read(struct slice json, json_error_t *out_wrong)
{
	json_set_alloc_funcs(json_take, json_give_back);
	json_bytes = 0;
	return json_loadb(json.p, json.n, JSON_REJECT_DUPLICATES, out_wrong);
}

int
received_tls(struct received_rows *rows, struct slice json, struct err *err)
{
	struct tls_report report = { .rows = rows };
	json_error_t wrong = { .text = "" };
	json_t *all = json_read(json, &wrong);
	const json_t *policies = json_object_get(all, "policies");
	const json_t *range = json_object_get(all, "date-range");

	if (all == NULL && json_bytes > JSON_BYTES_MAX / 2)
		return err_set(err, "a TLS report of more values than any has");
	if (all == NULL)
		return err_set(err, "a TLS report that cannot be read: line "
		    "%d: %.100s", wrong.line, wrong.text);
	report.values[0] = tls_text(all, "organization-name");
	report.values[1] = tls_text(all, "report-id");
	/* the day of "2026-11-26T00:00:00Z" */
	report.values[3] = slice_first(tls_text(range, "start-datetime"), 10);
	report.values[4] = slice_first(tls_text(range, "end-datetime"), 10);
	if (policies == NULL || report.values[0].n == 0) {
		json_decref(all);
		return err_set(err, "JSON that is no TLS report");
	}
	for (size_t i = 0; rows->kind == RECEIVED_TLS &&
	    i < json_array_size(policies); i++)
		tls_add_policy(&report, json_array_get(policies, i));
	json_decref(all);
	return 0;
}

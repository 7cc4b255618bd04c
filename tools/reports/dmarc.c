/* dmarc.c - a DMARC aggregate report as rows
 *
 * In     XML
 * Out    a row a record: reporter, name, domain, begin, end, source address,
 *        count, disposition, DKIM and SPF as they count, author's domain
 * Trusts nothing: no document type, so no entities; bounds in received.h
 * Spec   received.h; RFC 9990 section 3.1.1, appendix A
 *
 * SPDX-License-Identifier: ISC
 */
#include <expat.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "tools/reports/received.h"

#include "base/banned.h"

enum { DEPTH_MAX = 16, DMARC_VALUES = RECEIVED_FIELDS };

/* Where each value of a row stands; those before DMARC_RECORD are said once
 * for all records. */
static const char *const paths[DMARC_VALUES] = {
	"feedback/report_metadata/org_name",
	"feedback/report_metadata/report_id",
	"feedback/policy_published/domain",
	"feedback/report_metadata/date_range/begin",
	"feedback/report_metadata/date_range/end",
	"feedback/record/row/source_ip",
	"feedback/record/row/count",
	"feedback/record/row/policy_evaluated/disposition",
	"feedback/record/row/policy_evaluated/dkim",
	"feedback/record/row/policy_evaluated/spf",
	"feedback/record/identifiers/header_from",
};
enum { DMARC_RECORD = 5 };

struct dmarc_reading {
	XML_Parser	 parser;
	struct received_rows *rows;
	struct str	 path;		/* "feedback/record/row" */
	unsigned	 depth;
	int		 value;		/* that is being read; -1: none */
	struct str	 values[DMARC_VALUES];
	const char	*bad;		/* why it was stopped */
};

static void
dmarc_stop(struct dmarc_reading *reading, const char *why)
{
	reading->bad = why;
	(void)XML_StopParser(reading->parser, XML_FALSE);
}

/* Without the prefix of a name space. */
static const char *
dmarc_local(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon == NULL ? name : colon + 1;
}

static void
dmarc_on_start(void *context, const XML_Char *name, const XML_Char **others)
{
	struct dmarc_reading *reading = context;

	(void)others;
	if (reading->depth == DEPTH_MAX || strlen(name) > RECEIVED_VALUE_MAX) {
		dmarc_stop(reading, "elements too deep, or too long a name");
		return;
	}
	if (reading->depth++ > 0)
		str_addc(&reading->path, '/');
	str_adds(&reading->path, dmarc_local(name));
	reading->value = -1;
	for (int i = 0; i < DMARC_VALUES; i++)
		if (strcmp(reading->path.buf, paths[i]) == 0) {
			reading->value = i;
			str_reset(&reading->values[i]);
		}
	if (strcmp(reading->path.buf, "feedback/record") == 0)
		for (int i = DMARC_RECORD; i < DMARC_VALUES; i++)
			str_reset(&reading->values[i]);
}

/* The day (UTC) of a moment in seconds. */
static struct slice
dmarc_day(struct slice seconds, char out[CLOCK_TEXT_BYTES])
{
	uint64_t number;

	if (!slice_number(seconds, 0, UINT32_MAX, &number))
		return slice_of("?");
	clock_rfc3339((int64_t)number * 1000000, out);
	return slice_first(slice_of(out), 10);	/* of 2026-11-26T... */
}

static void
dmarc_row(struct dmarc_reading *reading)
{
	struct slice values[RECEIVED_FIELDS];
	char begin[CLOCK_TEXT_BYTES], end[CLOCK_TEXT_BYTES];

	for (int i = 0; i < DMARC_VALUES; i++)
		values[i] = slice_trim(str_slice(&reading->values[i]));
	if (values[0].n == 0 || values[2].n == 0) {
		dmarc_stop(reading, "records before it says who reports of "
		    "what");
		return;
	}
	values[3] = dmarc_day(values[3], begin);
	values[4] = dmarc_day(values[4], end);
	received_row_add(reading->rows, values);
}

static void
dmarc_on_end(void *context, const XML_Char *name)
{
	struct dmarc_reading *reading = context;
	size_t n = strlen(dmarc_local(name));

	if (strcmp(reading->path.buf, "feedback/record") == 0)
		dmarc_row(reading);
	reading->value = -1;
	reading->depth--;
	str_truncate(&reading->path, reading->path.len > n ?
	    reading->path.len - n - 1 : 0);
}

static void
dmarc_on_text(void *context, const XML_Char *text, int n)
{
	struct dmarc_reading *reading = context;
	struct str *value;

	if (reading->value < 0)
		return;
	value = &reading->values[reading->value];
	if (value->len + (size_t)n <= RECEIVED_VALUE_MAX)
		str_add(value, text, (size_t)n);
}

static void
dmarc_on_type(void *context, const XML_Char *name, const XML_Char *system,
    const XML_Char *public, int has_subset)
{
	(void)name, (void)system, (void)public, (void)has_subset;
	dmarc_stop(context, "a document type, which no report has");
}

static int
dmarc_parse(struct dmarc_reading *reading, struct slice xml, struct err *err)
{
	enum XML_Status status;

	XML_SetUserData(reading->parser, reading);
	XML_SetElementHandler(reading->parser, dmarc_on_start, dmarc_on_end);
	XML_SetCharacterDataHandler(reading->parser, dmarc_on_text);
	XML_SetStartDoctypeDeclHandler(reading->parser, dmarc_on_type);
	status = XML_Parse(reading->parser, xml.p, (int)xml.n, XML_TRUE);
	if (reading->bad != NULL)
		return err_set(err, "a DMARC report that cannot be read: %s",
		    reading->bad);
	if (status != XML_STATUS_OK)
		return err_set(err, "a DMARC report that cannot be read: line "
		    "%lu: %s", XML_GetCurrentLineNumber(reading->parser),
		    XML_ErrorString(XML_GetErrorCode(reading->parser)));
	if (reading->values[0].len == 0 || reading->values[2].len == 0)
		return err_set(err, "XML that is no DMARC report");
	return 0;
}

int
received_dmarc(struct received_rows *rows, struct slice xml, struct err *err)
{
	struct dmarc_reading reading = { .parser = XML_ParserCreate(NULL),
	    .rows = rows, .path = STR_INIT, .value = -1 };
	size_t len = rows->out.len, count = rows->count;
	int result;

	if (reading.parser == NULL || xml.n > RECEIVED_TEXT_MAX) {
		XML_ParserFree(reading.parser);
		return err_set(err, "a report that is too large");
	}
	for (int i = 0; i < DMARC_VALUES; i++)
		str_init(&reading.values[i]);
	result = dmarc_parse(&reading, xml, err);
	if (result != 0 || rows->kind != RECEIVED_DMARC) {
		str_truncate(&rows->out, len);
		rows->count = count;
	}
	for (int i = 0; i < DMARC_VALUES; i++)
		str_release(&reading.values[i]);
	str_release(&reading.path);
	XML_ParserFree(reading.parser);
	return result;
}

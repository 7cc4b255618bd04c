/* again_row.c - a line of the record as the facts of one decision
 *
 * In     a line of JSON
 * Out    a struct again_row
 * Holds  nothing
 * Trusts nothing: what has no client, no time or no stage is no line
 * Spec   session/records/record.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "grammar/message/date.h"
#include "smtpserver/rehearse/again.h"

#include "base/banned.h"

static const char *const again_keys[AGAIN_TEXTS] = {
	[AGAIN_STAGE] = "at", [AGAIN_CLIENT] = "client",
	[AGAIN_LISTENER] = "listener", [AGAIN_SESSION] = "session",
	[AGAIN_NAME] = "name", [AGAIN_HELO] = "helo", [AGAIN_USER] = "user",
	[AGAIN_MECHANISM] = "mech", [AGAIN_FROM] = "from", [AGAIN_TO] = "to",
	[AGAIN_CERT] = "cert", [AGAIN_ISSUER] = "issuer",
	[AGAIN_FINGERPRINT] = "fingerprint", [AGAIN_FACTS] = "facts",
	[AGAIN_SPF] = "spf", [AGAIN_DKIM] = "dkim", [AGAIN_DMARC] = "dmarc",
	[AGAIN_POLICY] = "policy", [AGAIN_SIGNERS] = "signers",
	[AGAIN_DKIM2] = "dkim2", [AGAIN_SEALER] = "sealer",
	[AGAIN_SPF_AT] = "spf-at", [AGAIN_DKIM_AT] = "dkim-at",
	[AGAIN_DMARC_AT] = "dmarc-at", [AGAIN_DKIM2_WHY] = "dkim2-why",
	[AGAIN_SAID] = "said", [AGAIN_BY] = "by", [AGAIN_STATUS] = "status",
	[AGAIN_REPLY] = "reply"
};

static bool *
again_flag(struct again_row *row, struct slice key)
{
	const struct { const char *key; bool *flag; } flags[] = {
		{ "submission", &row->is_submission },
		{ "esmtp", &row->is_esmtp }, { "tls", &row->is_encrypted },
		{ "verified", &row->is_verified },
		{ "discarded", &row->is_discarded },
		{ "binary", &row->is_binary },
		{ "headless", &row->is_headless },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (slice_is(key, flags[i].key))
			return flags[i].flag;
	return NULL;
}

static uint64_t *
again_number(struct again_row *row, struct slice key)
{
	const struct { const char *key; uint64_t *number; } numbers[] = {
		{ "size", &row->size_bytes }, { "rcpts", &row->rcpts },
		{ "messages", &row->messages }, { "code", &row->code },
		{ "bytes", &row->bytes }, { "header", &row->header_bytes },
		{ "received", &row->received }, { "line", &row->line_bytes },
		{ "odd", &row->odd },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (slice_is(key, numbers[i].key))
			return numbers[i].number;
	return NULL;
}

/* "2026-11-20T21:04:00.123Z" */
static int64_t
again_moment(struct slice text)
{
	struct str whole = STR_INIT;
	uint64_t ms = 0;
	int64_t at_s = 0;

	str_addf(&whole, SLICE_FMT "Z", SLICE_ARG(slice_first(text, 19)));
	if (date_parse(str_slice(&whole), &at_s, NULL) < 0)
		at_s = 0;
	str_release(&whole);
	(void)slice_number(slice_first(slice_from(text, 20), 3), 0, 999, &ms);
	return at_s * 1000 + (int64_t)ms;
}

static void
again_take(struct again_row *row, struct slice key, struct slice value)
{
	bool *flag = again_flag(row, key);
	uint64_t *number = again_number(row, key);

	for (int i = 0; i < AGAIN_TEXTS; i++)
		if (slice_is(key, again_keys[i])) {
			str_reset(&row->texts[i]);
			str_add_slice(&row->texts[i], value);
		}
	if (flag != NULL)
		*flag = slice_is(value, "yes");
	else if (number != NULL)
		(void)slice_number(value, 0, INT64_MAX, number);
	if (slice_is(key, "bytes"))
		row->has_content = true;
	else if (slice_is(key, "t"))
		row->at_ms = again_moment(value);
}

void
again_row_init(struct again_row *row)
{
	memset(row, 0, sizeof(*row));
	for (int i = 0; i < AGAIN_TEXTS; i++)
		str_init(&row->texts[i]);
}

void
again_row_release(struct again_row *row)
{
	for (int i = 0; i < AGAIN_TEXTS; i++)
		str_release(&row->texts[i]);
}

int
again_parse(struct slice line, struct again_row *row, struct err *err)
{
	struct str value = STR_INIT;
	struct slice key;
	size_t cursor = 0;

	again_row_release(row);
	again_row_init(row);
	while (json_next(line, &cursor, &key, &value))
		again_take(row, key, str_slice(&value));
	str_release(&value);
	if (row->at_ms <= 0 || row->texts[AGAIN_CLIENT].len == 0 ||
	    row->texts[AGAIN_STAGE].len == 0)
		return err_set(err, "this is no line of a record");
	return 0;
}

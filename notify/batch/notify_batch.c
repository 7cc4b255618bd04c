/* notify_batch.c - events of one request: the body, its name, its signature
 *
 * In     lines of the journal
 * Out    a JSON object
 * Holds  it
 * Trusts nothing in a line but that it is one
 * Spec   notify_batch.h; doc/NOTIFY.md; RFC 2104
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "notify/batch/notify_batch.h"
#include "past/line.h"
#include "tls/digest.h"

#include "base/banned.h"

static void
notify_batch_hex(const unsigned char *bytes, size_t count, char *out)
{
	for (size_t i = 0; i < count; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void
notify_batch_begin(struct notify_batch *batch, const char *host)
{
	*batch = (struct notify_batch){ .body = STR_INIT };
	json_open(&batch->body);
	json_text(&batch->body, "instance", slice_of(host));
	str_adds(&batch->body, ",\"events\":[");
}

void
notify_batch_release(struct notify_batch *batch)
{
	str_release(&batch->body);
}

/* A line that a full disk damaged would damage the whole body. */
static bool
line_is_object(struct slice line)
{
	struct str value = STR_INIT;
	struct slice key;
	size_t cursor = 0;

	while (json_next(line, &cursor, &key, &value))
		continue;
	str_release(&value);
	return cursor > 0 && slice_is(slice_trim(slice_from(line, cursor)),
	    "}");
}

bool
notify_batch_add(struct notify_batch *batch, struct slice line)
{
	size_t before = batch->body.len;

	if (!line_is_object(line))
		return true;
	if (batch->count == BATCH_EVENTS_MAX)
		return false;
	if (batch->count > 0)
		str_addc(&batch->body, ',');
	json_add_answer(&batch->body, line);
	while (batch->body.len > 0 &&
	    batch->body.buf[batch->body.len - 1] == '\n')
		str_truncate(&batch->body, batch->body.len - 1);
	if (batch->count > 0 && batch->body.len + 2 > BATCH_BYTES_MAX) {
		str_truncate(&batch->body, before);
		return false;
	}
	if (batch->count++ == 0)
		batch->oldest_ms = journal_line_ms(line);
	return true;
}

void
notify_batch_end(struct notify_batch *batch, const struct trail_place *from,
    const struct trail_place *to, const char *words)
{
	unsigned char sum[DIGEST_SHA256_BYTES];
	struct str text = STR_INIT;

	str_adds(&batch->body, "]}");
	trail_place_add(&text, from);
	str_addc(&text, '\n');
	trail_place_add(&text, to);
	str_addf(&text, "\n%s", words);
	if (digest(DIGEST_SHA256, str_slice(&text), sum) < 0)
		panic("this system has no SHA-256");
	str_release(&text);
	notify_batch_hex(sum, (BATCH_ID_BYTES - 1) / 2, batch->id);
}

void
notify_batch_sign(const struct notify_batch *batch, struct slice key,
    int64_t now_s, char out[BATCH_SIGN_BYTES])
{
	unsigned char sum[DIGEST_SHA256_BYTES];
	struct str text = STR_INIT;

	str_addf(&text, "%" PRId64 ".", now_s);
	str_add_slice(&text, str_slice(&batch->body));
	if (digest_hmac(DIGEST_SHA256, key, str_slice(&text), sum) < 0)
		panic("this system has no SHA-256");
	str_release(&text);
	notify_batch_hex(sum, sizeof(sum), out);
}

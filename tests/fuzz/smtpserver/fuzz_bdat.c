/* fuzz_bdat.c - a message in chunks, against a naive reading of it
 *
 * The first byte chooses text or binary, the second how the message is cut
 * into chunks.  Whatever is taken must be stored as a model says: CR LF as
 * LF, and in the body of a binary message every byte as it was.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/smtpserver/house.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct house house;

static void
begin(void)
{
	house_open_once(&house, "size 4096B\nlimit header 1K\n");
}

static void
add_chunks(struct str *out, struct slice message, size_t chunk)
{
	do {
		struct slice piece = slice_first(message, chunk);

		message = slice_from(message, chunk);
		str_addf(out, "BDAT %zu%s\r\n", piece.n,
		    message.n == 0 ? " LAST" : "");
		str_add_slice(out, piece);
	} while (message.n > 0);
}

/* What must be stored when the message is taken. */
static void
add_model(struct str *out, struct slice message, bool is_binary)
{
	bool is_in_body = false;

	for (size_t i = 0; i < message.n; i++) {
		char c = message.p[i];

		if (!is_in_body && c == '\r' && i + 1 < message.n &&
		    message.p[i + 1] == '\n')
			continue;
		str_addc(out, c);
		is_in_body = is_in_body || (is_binary && c == '\n' &&
		    (out->len == 1 || out->buf[out->len - 2] == '\n'));
	}
}

static void
check_stored(struct slice message, bool is_binary)
{
	struct str file = STR_INIT, want = STR_INIT;
	static const char mark[] = "\nenv-end\n";
	char *at;

	house_first(&house, "router", &file);
	add_model(&want, message, is_binary);
	at = file.len > 0 ? memmem(file.buf, file.len, mark,
	    sizeof(mark) - 1) : NULL;
	if (at == NULL)
		panic("nothing was stored");
	at += sizeof(mark) - 1;
	if ((size_t)(file.buf + file.len - at) != want.len ||
	    memcmp(at, want.buf, want.len) != 0)
		panic("stored otherwise than it came");
	str_release(&file);
	str_release(&want);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice message = { (const char *)data + 2, size - 2 };
	struct str in = STR_INIT, replies = STR_INIT;
	bool is_binary;
	int client;

	if (size < 2 || size > 8192)
		return 0;
	begin();
	is_binary = (data[0] & 1) != 0;
	str_addf(&in, "EHLO c1.test\r\nMAIL FROM:<a@src.test>%s\r\n"
	    "RCPT TO:<postmaster>\r\n", is_binary ? " BODY=BINARYMIME" : "");
	add_chunks(&in, message, data[1] ? data[1] * 7u : message.n + 1);
	client = house_connect(&house, "192.0.2.7:4711");
	house_send(&house, client, in.buf, in.len, in.len, &replies);
	(void)house_hear(&house, client, &replies);
	close(client);
	loop_turn(house.loop, 0);
	if (worker_session_count(house.worker) != 0)
		panic("a session is left");
	if (house_count(&house, "public") != 0)
		panic("a draft is left");
	if (house_count(&house, "router") == 1)
		check_stored(message, is_binary);
	house_empty(&house, "router");
	str_release(&in);
	str_release(&replies);
	return 0;
}

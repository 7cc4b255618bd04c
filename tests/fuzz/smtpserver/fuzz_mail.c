/* fuzz_mail.c - the parameters of MAIL
 *
 * Input: what stands after "MAIL FROM:".  What is taken must be written
 * into an envelope that reads back; what is refused must leave the session
 * as it was.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/smtpserver/house.h"
#include "mail/envelope.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct house house;

static void
begin(void)
{
	/* house_connect's listener, for FUTURERELEASE */
	house_open_once(&house, "listen 127.0.0.1:25 submission\n"
	    "trust 192.0.2.7 priority auth\n");
}

static void
check_stored(void)
{
	struct str file = STR_INIT;
	struct arena *arena = arena_new();
	struct envelope envelope;
	struct err err = { "" };

	house_first(&house, "router", &file);
	if (envelope_parse(arena, str_slice(&file), &envelope, &err) != 0 ||
	    envelope.rcpt_count != 1)
		panic("%s", err.text);
	arena_free(&arena);
	str_release(&file);
}

/* Codes of all replies after the one to EHLO. */
static bool
is_taken(const struct str *replies)
{
	struct str text = STR_INIT;
	bool result;

	replies_short(str_slice(replies), &text);
	result = strncmp(text.buf, "220 250 250/2.1.0 ", 18) == 0;
	if (!result && strstr(text.buf, " 503/5.5.1 503/5.5.1 500") == NULL &&
	    strstr(text.buf, " 421") == NULL)
		panic("not refused as it should: %s", text.buf);
	str_release(&text);
	return result;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = STR_INIT, replies = STR_INIT;
	int client;

	if (size > 2100 || memchr(data, '\n', size) != NULL)
		return 0;
	begin();
	str_adds(&in, "EHLO c1.test\r\nMAIL FROM:");
	str_add(&in, data, size);
	str_adds(&in, "\r\nRCPT TO:<postmaster>\r\nBDAT 2 LAST\r\n\r\n"
	    "HUGO\r\n");
	client = house_connect(&house, "192.0.2.7:4711");
	house_send(&house, client, in.buf, in.len, in.len, &replies);
	(void)house_hear(&house, client, &replies);
	close(client);
	loop_turn(house.loop, 0);
	if (worker_session_count(house.worker) != 0 ||
	    house_count(&house, "public") != 0)
		panic("something is left");
	if (is_taken(&replies))
		check_stored();
	else if (house_count(&house, "router") != 0)
		panic("a message without a sender");
	house_empty(&house, "router");
	str_release(&in);
	str_release(&replies);
	return 0;
}

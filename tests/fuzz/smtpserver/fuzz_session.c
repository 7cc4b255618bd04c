/* fuzz_session.c - one whole SMTP session on a descriptor
 *
 * The first two bytes choose how the rest is cut: the server's answers, and
 * what it stores, must not depend on that.  Each input is run cut and
 * uncut; a difference is a crash.  Nothing may be left in public/, and what
 * is in router/ must be complete and parse.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/smtpserver/house.h"
#include "mail/envelope.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char conf[] =
	"trust 192.0.2.7 xclient xforward priority auth\n"
	"limit recipients 5\nlimit errors 50\nsize 4096B\nlimit header 1K\n"
	"limit received 5\nlimit line 1000B\nfreeze sender @odd.test\n"
	"reject sender @bad.test\naccept from 192.0.2.0/24 to @else.test "
	"for any\n";

static struct house house;

static void
begin(void)
{
	house_open_once(&house, conf);
}

static void
check_stored(const char *area)
{
	struct str file = STR_INIT;
	struct arena *arena = arena_new();
	struct envelope envelope;
	struct err err;

	house_first(&house, area, &file);
	if (file.len > 0 &&
	    (envelope_parse(arena, str_slice(&file), &envelope, &err) != 0 ||
	    envelope.rcpt_count == 0))
		panic("%s: %s", area, err.text);
	arena_free(&arena);
	str_release(&file);
}

/* Ids and times differ from run to run: only codes are compared. */
static void
run(const uint8_t *data, size_t size, const uint8_t cuts[2], bool is_cut,
    struct str *out_replies)
{
	struct str replies = STR_INIT;
	int client = house_connect(&house, "192.0.2.7:4711");
	size_t at = 0, turn = 0;

	while (at < size) {
		size_t piece = is_cut ? 1u + cuts[turn++ % 2] % 61u : size;

		if (piece > size - at)
			piece = size - at;
		house_send(&house, client, (const char *)data + at, piece,
		    piece, &replies);
		at += piece;
	}
	(void)house_hear(&house, client, &replies);
	close(client);
	loop_turn(house.loop, 0);
	if (worker_session_count(house.worker) != 0)
		panic("a session is left");
	if (house_count(&house, "public") != 0)
		panic("a draft is left");
	check_stored("router");
	check_stored("freezer");
	replies_short(str_slice(&replies), out_replies);
	str_addf(out_replies, " %u %u", house_count(&house, "router"),
	    house_count(&house, "freezer"));
	house_empty(&house, "router");
	house_empty(&house, "freezer");
	str_release(&replies);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str whole = STR_INIT, cut = STR_INIT;

	if (size < 2 || size > 20000)
		return 0;
	begin();
	run(data + 2, size - 2, data, false, &whole);
	run(data + 2, size - 2, data, true, &cut);
	if (strcmp(whole.buf, cut.buf) != 0)
		panic("whole: %s\ncut: %s", whole.buf, cut.buf);
	str_release(&whole);
	str_release(&cut);
	return 0;
}

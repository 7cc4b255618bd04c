/* test_copy.c - a copy is made while the message becomes durable
 *
 * The test is the listener, and share that answers.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client_case.h"
#include "faults.h"

#include "base/banned.h"

#define CLUSTER "cluster mx { node mx1 mx2; self mx1; " \
	"postgres \"host=192.0.2.9\"; copies else "
#define BODY "DATA\r\nx\r\n.\r\n"

static struct house house;
static struct str lines = STR_INIT;	/* what the listener was told */
static int syncs_before;		/* the first question */
static int client;

static void
copy_take_lines(void *context)
{
	(void)context;
	worker_take_lines(house.worker, &lines);
	if (syncs_before < 0 && strstr(lines.buf, " copy copy ") != NULL)
		syncs_before = faults.calls;
}

static void
copy_need_cluster(void)
{
#ifndef HAVE_PGSQL
	cr_skip_test("built without PostgreSQL, where copies are");
#endif
}

static void
copy_open(const char *how, const char *more)
{
	char text[400];

	copy_need_cluster();
	snprintf(text, sizeof(text), CLUSTER "%s }\n%s", how, more);
	house_open(&house, text);
	worker_on_lines(house.worker, copy_take_lines, NULL);
	str_reset(&lines);
	syncs_before = -1;
	client = house_connect(&house, CLIENT);
}

/* A message is complete, with the disk held; returns at the moment in which it
 * waits for the disk. */
static void
copy_open_held(const char *how)
{
	copy_open(how, "");
	worker_sync_beside(house.worker, 0);
	client_say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n");
	client_expect(&house, client, true, STARTED);
	faults.is_held = true;
	cr_assert_eq(write(client, ".\r\n", 3), 3);
	while (faults.held == 0)
		loop_turn(house.loop, 10);
}

static void
copy_close(void)
{
	if (client >= 0)
		close(client);
	house_close(&house);
	str_release(&lines);
}

/* How often the listener was told so. */
static unsigned
copy_count(const char *words)
{
	unsigned count = 0;

	copy_take_lines(NULL);
	for (const char *at = lines.buf; (at = strstr(at, words)) != NULL;
	    at++)
		count++;
	return count;
}

static bool
copy_was_said(const char *words)
{
	return copy_count(words) > 0;
}

/* The token of its question; 0: it asked nothing. */
static uint64_t
copy_token(void)
{
	struct slice rest, line, word;
	uint64_t token = 0;

	copy_take_lines(NULL);
	rest = str_slice(&lines);
	while (slice_cut(&rest, '\n', &line)) {
		struct slice words = line, kind, verb;

		if (slice_word(&words, &word) && slice_is(word, "ask") &&
		    slice_word(&words, &word) && slice_word(&words, &kind) &&
		    slice_is(kind, "copy") && slice_word(&words, &verb) &&
		    slice_is(verb, "copy"))
			(void)slice_number(word, 2, UINT64_MAX, &token);
	}
	return token;
}

static void
copy_answer(const char *text)
{
	worker_answer(house.worker, copy_token(), ASK_ANSWERED,
	    slice_of(text));
	loop_turn(house.loop, 0);
}

static void
copy_let_go(void)
{
	faults.is_held = false;
	while (faults.held > 0)
		loop_turn(house.loop, 10);
	for (int i = 0; i < 3; i++)
		loop_turn(house.loop, 10);
}

/* Nobody's name but the draft's, or none. */
static void
copy_expect_files(unsigned router, unsigned public)
{
	cr_expect_eq(house_count(&house, "router"), router);
	cr_expect_eq(house_count(&house, "public"), public);
}

Test(copy, it_is_asked_for_before_the_disk_is, .timeout = 60)
{
	copy_open("defer", "");
	client_say(&house, client, HELLO ENVELOPE BODY);
	cr_expect_eq(syncs_before, 0, "%d syncs came first", syncs_before);
	cr_expect_eq(faults.calls, 1, "it is durable, and waits");
	copy_expect_files(0, 1);
	client_expect(&house, client, true, STARTED);
	copy_answer("ok");
	client_expect(&house, client, true, "250/2.0.0");
	copy_expect_files(1, 0);
	cr_expect_not(copy_was_said(" copy drop "));
	copy_close();
}

/* Not before its fsync has ended, whatever others have. */
Test(copy, an_answer_that_comes_first_waits_for_the_disk, .timeout = 60)
{
	copy_open_held("defer");
	copy_answer("ok");
	copy_expect_files(0, 1);
	client_expect(&house, client, true, "");
	copy_let_go();
	client_expect(&house, client, true, "250/2.0.0");
	copy_expect_files(1, 0);
	copy_close();
}

Test(copy, what_is_no_copy_is_as_the_cluster_says, .timeout = 60)
{
	static const struct {
		const char	*how, *answer, *want;
		unsigned	 router;
	} rows[] = {
		{ "defer", "away it is", "451/4.3.0", 0 },
		{ "defer", "nonsense", "451/4.3.0", 0 },
		{ "accept", "away it is", "250/2.0.0", 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int held = 0; held < 2; held++) {
			if (held) {
				copy_open_held(rows[i].how);
				copy_answer(rows[i].answer);
				copy_let_go();
			} else {
				copy_open(rows[i].how, "");
				client_say(&house, client, HELLO ENVELOPE
				    BODY);
				client_expect(&house, client, true, STARTED);
				copy_answer(rows[i].answer);
			}
			client_expect(&house, client, true, rows[i].want);
			copy_expect_files(rows[i].router, 0);
			cr_expect_eq(copy_was_said(" copy drop "),
			    rows[i].router == 0);
			copy_close();
		}
}

/* What may be copied by then is taken back.  The next message of that session,
 * which comes in the same turn, asks for itself. */
Test(copy, what_the_disk_refuses_has_none, .timeout = 60)
{
	copy_open("defer", "");
	faults.fsync_error = EIO;
	client_say(&house, client, HELLO ENVELOPE BODY ENVELOPE BODY);
	client_expect(&house, client, true, STARTED
	    " 451/4.3.0 250/2.1.0 250/2.1.5 354 451/4.3.0");
	cr_expect_eq(copy_count(" copy copy "), 2);
	cr_expect_eq(copy_count(" copy drop "), 2);
	copy_expect_files(0, 0);
	copy_answer("ok");
	faults.fsync_error = 0;
	client_say(&house, client, ENVELOPE BODY);
	client_expect(&house, client, true, "250/2.1.0 250/2.1.5 354");
	copy_answer("ok");
	client_expect(&house, client, true, "250/2.0.0");
	copy_expect_files(1, 0);
	copy_close();
}

Test(copy, what_cannot_be_renamed_has_none, .timeout = 60)
{
	copy_open("accept", "");
	faults.rename_error = EIO;
	client_say(&house, client, HELLO ENVELOPE BODY);
	copy_answer("ok");
	client_expect(&house, client, true, STARTED " 451/4.3.0");
	cr_expect(copy_was_said(" copy drop "));
	copy_expect_files(0, 0);
	copy_close();
}

/* It is durable and was not promised. */
Test(copy, who_leaves_meanwhile_has_none, .timeout = 60)
{
	copy_open("accept", "");
	client_say(&house, client, HELLO ENVELOPE BODY);
	copy_expect_files(0, 1);
	worker_stop(house.worker);
	worker_answer(house.worker, copy_token(), ASK_TROUBLE,
	    SLICE("no answer in time"));
	client_expect(&house, client, false, STARTED " 250/2.0.0 421/4.3.2");
	copy_close();
	copy_open("accept", "");
	client_say(&house, client, HELLO ENVELOPE BODY);
	worker_free(&house.worker);
	copy_expect_files(0, 0);
	copy_close();
}

Test(copy, nobody_waits_for_ever, .timeout = 60)
{
	char text[200];

	copy_need_cluster();
	snprintf(text, sizeof(text), CLUSTER "defer }\n");
	house_open_clocked(&house, text);
	worker_on_lines(house.worker, copy_take_lines, NULL);
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO ENVELOPE BODY);
	client_expect(&house, client, true, STARTED);
	*house.clock += 60;
	client_expect(&house, client, true, "451/4.3.0");
	copy_expect_files(0, 0);
	copy_close();
}

/* The next hop is asked once the message is here and elsewhere. */
Test(copy, a_client_that_waits_for_the_next_hop, .timeout = 60)
{
	copy_open("defer", "accept from 192.0.2.7 for any\n"
	    "route *t.test via mx cut-through");
	client_say(&house, client, HELLO "MAIL FROM:<a@src.test>\r\n"
	    "RCPT TO:<b@cut.test>\r\n" BODY);
	client_expect(&house, client, true, STARTED);
	cr_assert(copy_was_said(" verdict expect "));
	cr_expect_eq(copy_token(), 0, "one question after the other");
	worker_answer(house.worker, strtoull(strstr(lines.buf, "ask ") + 4,
	    NULL, 10), ASK_ANSWERED, SLICE("yes"));
	loop_turn(house.loop, 0);
	cr_expect_not(copy_was_said(" verdict wait "));
	copy_answer("away it is");
	client_expect(&house, client, true, "451/4.3.0");
	cr_expect(copy_was_said(" verdict gone "));
	copy_expect_files(0, 0);
	copy_close();
}

/* test_client_stream.c - a stream that is a client of a stream
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/tls/link_case.h"
#include "tls/outward/client_stream.h"

enum { BIG_BYTES = 3000000 };

struct ends {			/* both ends are streams of one loop */
	struct both		 both;
	struct made		 made;
	struct tls_client	*client;
	struct stream		*outward;
	struct str		 got;		/* by the client */
	bool			 is_over;
};

static void
outward_on_ready(void *context)
{
	struct ends *ends = context;
	enum stream_got got = stream_fill(ends->outward);

	str_add_slice(&ends->got, stream_input(ends->outward));
	stream_consume(ends->outward, stream_input(ends->outward).n);
	ends->is_over = ends->is_over || got == STREAM_EOF ||
	    got == STREAM_BROKEN;
	(void)stream_flush(ends->outward);
	stream_await(ends->outward, !ends->is_over);
}

/* name: whom the certificate must have, common and alternatives are what it
 * has; the client trusts it alone. */
static void
ends_open_named(struct ends *ends, const char *name, bool is_exact,
    const char *common, const char *alternatives)
{
	const struct tls_goal goal = { .key = "test", .sni = name,
	    .names = &name, .name_count = 1, .is_strict = true,
	    .is_exact = is_exact };
	struct tls_client_files files;
	size_t dropped;
	struct err err;

	*ends = (struct ends){ .got = STR_INIT };
	made_new(&ends->made, "P-256", common, alternatives, 30);
	both_init(&ends->both, NULL);
	both_add(&ends->both, &ends->made, NULL);
	both_open(&ends->both);
	cr_assert_eq(stream_start_tls(ends->both.stream, ends->both.server,
	    &dropped, &err), 0);
	stream_await(ends->both.stream, true);
	files = (struct tls_client_files){ .roots = ends->made.certificate };
	ends->client = tls_client_new(&files, &err);
	cr_assert_not_null(ends->client, "%s", err.text);
	ends->outward = stream_new(ends->both.loop, ends->both.peer,
	    outward_on_ready, ends);
	cr_assert_eq(stream_start_tls_client(ends->outward, ends->client,
	    &goal, &err), 0, "%s", err.text);
}

static void
ends_open(struct ends *ends, const char *name)
{
	ends_open_named(ends, name, false, "localhost", "DNS:localhost");
}

static void
ends_say(struct ends *ends, struct slice bytes)
{
	stream_say(ends->outward, bytes);
	(void)stream_flush(ends->outward);
	stream_await(ends->outward, true);
}

static void
ends_turn(struct ends *ends, size_t want)
{
	for (int i = 0; i < TURNS_MAX && !ends->is_over &&
	    ends->both.got.len < want; i++)
		loop_turn(ends->both.loop, 10);
}

static void
ends_close(struct ends *ends)
{
	stream_free(&ends->outward);
	for (int i = 0; i < 10; i++)
		loop_turn(ends->both.loop, 0);
	stream_free(&ends->both.stream);
	tls_client_free(&ends->client);
	str_release(&ends->got);
	made_free(&ends->made);
	both_free(&ends->both);
}

Test(client_stream, what_is_said_before_waits_for_the_handshake)
{
	struct ends ends;

	ends_open(&ends, "localhost");
	ends_say(&ends, SLICE("hello"));
	ends_turn(&ends, 5);
	cr_expect_str_eq(ends.both.got.buf, "hello");
	cr_expect_eq(stream_tls(ends.outward), STREAM_ENCRYPTED);
	stream_say(ends.both.stream, SLICE("world"));
	(void)stream_flush(ends.both.stream);
	for (int i = 0; i < TURNS_MAX && ends.got.len < 5; i++)
		loop_turn(ends.both.loop, 10);
	cr_expect_str_eq(ends.got.buf, "world");
	ends_close(&ends);
}

Test(client_stream, what_is_larger_than_the_socket_comes_whole)
{
	struct str big = STR_INIT;
	struct ends ends;

	for (size_t i = 0; i < BIG_BYTES; i++)
		str_addc(&big, (char)('a' + i % 26));
	ends_open(&ends, "localhost");
	ends_say(&ends, str_slice(&big));
	ends_turn(&ends, BIG_BYTES);
	cr_assert_eq(ends.both.got.len, big.len);
	cr_expect_eq(memcmp(ends.both.got.buf, big.buf, big.len), 0);
	str_release(&big);
	ends_close(&ends);
}

Test(client_stream, who_has_another_name_is_told_nothing)
{
	struct ends ends;

	ends_open(&ends, "other.test");
	ends_say(&ends, SLICE("secret"));
	ends_turn(&ends, 1);
	cr_expect(ends.is_over);
	cr_expect_eq(stream_tls(ends.outward), STREAM_TLS_FAILED);
	cr_expect_not_null(strstr(stream_tls_trouble(ends.outward),
	    "certificate: "), "%s", stream_tls_trouble(ends.outward));
	cr_expect_eq(ends.both.got.len, 0);
	ends_close(&ends);
}

Test(client_stream, who_goes_away_ends_it)
{
	struct ends ends;

	ends_open(&ends, "localhost");
	ends_say(&ends, SLICE("hello"));
	ends_turn(&ends, 5);
	stream_free(&ends.both.stream);
	for (int i = 0; i < TURNS_MAX && !ends.is_over; i++)
		loop_turn(ends.both.loop, 10);
	cr_expect(ends.is_over);
	ends_close(&ends);
}

/* A node must not be able to be another one of the same domain. */
Test(client_stream, a_name_that_is_wanted_exactly_has_no_star)
{
	static const struct {
		const char	*common, *alternatives;
		bool		 is_exact, is_good;
	} rows[] = {
		{ "x", "DNS:*.nodes.test", false, true },
		{ "x", "DNS:*.nodes.test", true, false },
		{ "mx1.nodes.test", NULL, true, false },
		{ "x", "DNS:mx1.nodes.test", true, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ends ends;

		ends_open_named(&ends, "mx1.nodes.test", rows[i].is_exact,
		    rows[i].common, rows[i].alternatives);
		ends_say(&ends, SLICE("hello"));
		ends_turn(&ends, 5);
		cr_expect_eq(stream_tls(ends.outward) == STREAM_ENCRYPTED,
		    rows[i].is_good, "row %zu", i);
		cr_expect_eq(ends.both.got.len, rows[i].is_good ? 5 : 0,
		    "row %zu", i);
		ends_close(&ends);
	}
}

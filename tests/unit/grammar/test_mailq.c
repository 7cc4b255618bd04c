/* test_mailq.c - lines of ZMailer's mailq protocol, version 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/mailq.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(mailq, commands)
{
	static const struct {
		const char	*in;
		enum mailq_verb	 verb;
		unsigned	 rights;
		const char	*first, *second;
	} rows[] = {
		{ "AUTH bob 00ff", MAILQ_VERB_AUTH, 0, "bob", "00ff" },
		{ "show snmp", MAILQ_VERB_SNMP, MAILQ_SNMP, "", "" },
		{ "SHOW COUNTERS", MAILQ_VERB_COUNTERS, MAILQ_ANY, "", "" },
		{ "SHOW  QUEUE\tSHORT ", MAILQ_VERB_SHORT, MAILQ_QQ, "", "" },
		{ "SHOW QUEUE THREADS", MAILQ_VERB_THREADS, MAILQ_TT, "", "" },
		{ "SHOW QUEUE THREADS2", MAILQ_VERB_THREADS2, MAILQ_TT, "",
		    "" },
		{ "SHOW THREAD smtp far.test", MAILQ_VERB_THREAD, MAILQ_TT,
		    "smtp", "far.test" },
		{ "ETRN far.test", MAILQ_VERB_ETRN, MAILQ_ETRN, "far.test",
		    "" },
		{ "KILL MSG 361gxyz", MAILQ_VERB_KILL_MSG, MAILQ_KILL,
		    "361gxyz", "" },
		{ "KILL THREAD smtp x", MAILQ_VERB_KILL_THREAD, MAILQ_KILL,
		    "smtp", "x" },
		{ "RESCHEDULE MSG 1", MAILQ_VERB_RESCHEDULE_MSG, MAILQ_ETRN,
		    "1", "" },
		{ "REROUTE THREAD a b", MAILQ_VERB_REROUTE_THREAD, MAILQ_KILL,
		    "a", "b" },
		{ "quit", MAILQ_VERB_QUIT, 0, "", "" },
		{ "EXIT", MAILQ_VERB_QUIT, 0, "", "" },
		{ "", MAILQ_VERB_UNKNOWN, 0, "", "" },
		{ "SHOW", MAILQ_VERB_UNKNOWN, 0, "", "" },
		{ "SHOW QUEUE", MAILQ_VERB_UNKNOWN, 0, "", "" },
		{ "SHOW SNMP all", MAILQ_VERB_UNKNOWN, 0, "", "" },
		{ "SHOW THREAD smtp", MAILQ_VERB_UNKNOWN, 0, "", "" },
		{ "ETRN", MAILQ_VERB_UNKNOWN, 0, "", "" },
		{ "AUTH a b c", MAILQ_VERB_UNKNOWN, 0, "", "" },
		{ "KILL THREAD a b c d e f", MAILQ_VERB_UNKNOWN, 0, "", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct mailq_command out;

		mailq_command_parse(slice_of(rows[i].in), &out);
		cr_expect_eq(out.verb, rows[i].verb, "%s", rows[i].in);
		cr_expect_eq(out.rights, rows[i].rights, "%s", rows[i].in);
		cr_expect(slice_is(out.args[0], rows[i].first), "%s",
		    rows[i].in);
		cr_expect(slice_is(out.args[1], rows[i].second), "%s",
		    rows[i].in);
	}
}

Test(mailq, a_word_has_an_end)
{
	char line[MAILQ_WORD_BYTES_MAX + 20] = "ETRN ";
	struct mailq_command out;

	memset(line + 5, 'x', MAILQ_WORD_BYTES_MAX);
	mailq_command_parse(slice_of(line), &out);
	cr_expect_eq(out.verb, MAILQ_VERB_ETRN);
	line[5 + MAILQ_WORD_BYTES_MAX] = 'x';
	mailq_command_parse(slice_of(line), &out);
	cr_expect_eq(out.verb, MAILQ_VERB_UNKNOWN);
}

Test(mailq, users)
{
	static const struct {
		const char	*in;
		int		 rc;
		unsigned	 rights;
		const char	*password;
	} rows[] = {
		{ "", 0, 0, "" }, { "  # a remark", 0, 0, "" },
		{ "a:b:ALL", 1, MAILQ_ANY, "b" },
		{ "a:b c:NONE", 1, 0, "b c" },
		{ "a:b:snmp QQ", 1, MAILQ_SNMP | MAILQ_QQ, "b" },
		{ "a:b:TT ETRN KILL:", 1, MAILQ_TT | MAILQ_ETRN | MAILQ_KILL,
		    "b" },
		{ "a:b:ALL:[192.0.2.0]/24 ![::1]/128", 1, MAILQ_ANY, "b" },
		{ "a", -1, 0, "" }, { "a:b", -1, 0, "" },
		{ ":b:ALL", -1, 0, "" }, { "a::ALL", -1, 0, "" },
		{ "a:b:EVERYTHING", -1, 0, "" },
		{ "a:b:ALL:[192.0.2.1]/24", -1, 0, "" },
		{ "a:b:ALL:somewhere", -1, 0, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct mailq_user out = { .rights = 0 };
		struct err err = { "" };

		cr_expect_eq(mailq_user_parse(slice_of(rows[i].in), &out,
		    &err), rows[i].rc, "%s: %s", rows[i].in, err.text);
		cr_expect_eq(rows[i].rc < 0, err.text[0] != '\0', "%s",
		    rows[i].in);
		if (rows[i].rc != 1)
			continue;
		cr_expect_eq(out.rights, rows[i].rights, "%s", rows[i].in);
		cr_expect(slice_is(out.password, rows[i].password), "%s",
		    rows[i].in);
	}
}

Test(mailq, networks)
{
	static const struct {
		const char	*networks, *address;
		bool		 want;
	} rows[] = {
		{ "", "192.0.2.1", true },
		{ "[192.0.2.0]/24", "192.0.2.1", true },
		{ "[192.0.2.0]/24", "198.51.100.1", false },
		{ "![192.0.2.1]/32 [192.0.2.0]/24", "192.0.2.1", false },
		{ "![192.0.2.1]/32 [192.0.2.0]/24", "192.0.2.2", true },
		{ "[2001:db8::]/32", "2001:db8::7", true },
		{ "[2001:db8::]/32", "192.0.2.2", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct mailq_user user = {
		    .networks = slice_of(rows[i].networks) };
		struct net address;

		cr_assert_eq(net_parse(slice_of(rows[i].address), &address,
		    NULL), 0);
		cr_expect_eq(mailq_user_admits(&user, &address),
		    rows[i].want, "row %zu", i);
	}
}

Test(mailq, digests)
{
	unsigned char out[2];

	cr_expect_eq(mailq_digest_parse(SLICE("00fF"), out, 2), 0);
	cr_expect_eq(out[0], 0);
	cr_expect_eq(out[1], 255);
	cr_expect_eq(mailq_digest_parse(SLICE("00f"), out, 2), -1);
	cr_expect_eq(mailq_digest_parse(SLICE("00fg"), out, 2), -1);
	cr_expect_eq(mailq_digest_parse(SLICE("00ff00"), out, 2), -1);
}

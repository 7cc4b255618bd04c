/* test_dovecot_lines.c - what is said to Dovecot, and what it says
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "daemon/auth/dovecot_lines.h"

#include "base/banned.h"

Test(dovecot, lines)
{
	struct str out = STR_INIT;
	struct dovecot_reply reply;

	cr_expect(dovecot_add_auth(&out, 3, SLICE("PLAIN 127.0.0.1:587 "
	    "[2001:db8::1]:4711 tls AGI=")));
	cr_expect_str_eq(out.buf, "AUTH\t3\tPLAIN\tservice=smtp\tsecured"
	    "\tlip=127.0.0.1\tlport=587\trip=2001:db8::1\trport=4711"
	    "\tresp=AGI=\n");
	str_reset(&out);
	cr_expect(dovecot_add_auth(&out, 4, SLICE("LOGIN a:1 b:2 clear -")));
	cr_expect_null(strstr(out.buf, "resp"));
	cr_expect_null(strstr(out.buf, "secured"));
	str_reset(&out);
	cr_expect_not(dovecot_add_auth(&out, 5, SLICE("LOGIN a:1 b:2")));
	cr_expect_not(dovecot_add_auth(&out, 5,
	    SLICE("LO\001GIN a:1 b:2 tls -")));
	cr_expect(dovecot_reply_parse(SLICE("OK\t3\tuser=bob\tx"), &reply));
	cr_expect(reply.verb == DOVECOT_OK && reply.id == 3 &&
	    slice_is(reply.user, "bob"));
	cr_expect(dovecot_reply_parse(SLICE("FAIL\t3\tuser=bob\ttemp"),
	    &reply));
	cr_expect(reply.verb == DOVECOT_FAIL && reply.is_temporary);
	cr_expect(dovecot_reply_parse(SLICE("CONT\t3\tYWJj"), &reply));
	cr_expect(reply.verb == DOVECOT_CONT && slice_is(reply.data, "YWJj"));
	cr_expect(dovecot_reply_parse(SLICE("MECH\tPLAIN\tplaintext"),
	    &reply));
	cr_expect_eq(reply.verb, DOVECOT_OTHER);
	cr_expect_not(dovecot_reply_parse(SLICE("OK"), &reply));
	cr_expect_not(dovecot_reply_parse(SLICE("OK\tx"), &reply));
	str_release(&out);
}

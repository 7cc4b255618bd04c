/* test_mailq_show.c - the scheduler's lines in the words of ZMailer's mailq
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/mailq_show.h"

#define THREAD "{\"channel\":\"smtp\",\"host\":\"x.test\",\"zone\":\"\"," \
	"\"ready\":2,\"waiting\":1,\"flight\":3,\"agents\":2,\"limit\":5," \
	"\"troubles\":0,\"suspended\":false,\"held_until\":0,"

static const struct {
	show_fn *fn;
	const char *in, *want;
} rows[] = {
	/* agents at work: pids, and what each did last */
	{ show_thread, THREAD "\"pids\":\"41,42\",\"hungry_s\":\"0,-1\","
	    "\"fed_s\":\"7,12\",\"oldest_s\":90}",
	    "smtp/x.test/ R=6 A=0 P={41,42} HA={0s,-} FA={7s,12s} OF=3 UF=2 "
	    "S=active W=0s QA=90s\n" },
	/* nobody at it, for a reason */
	{ show_thread, "{\"channel\":\"smtp\",\"host\":\"y.test\","
	    "\"zone\":\"slow\",\"ready\":1,\"troubles\":4,"
	    "\"held_until\":1060,\"pids\":\"\",\"hungry_s\":\"\","
	    "\"fed_s\":\"\",\"oldest_s\":5}",
	    "smtp/y.test/slow R=1 A=4 P={} HA={} FA={} OF=0 UF=1 S=stopped "
	    "W=60s pend=host-down QA=5s\n" },
	/* an older scheduler, that tells less */
	{ show_thread, THREAD "\"reason\":\"\"}",
	    "smtp/x.test/ R=6 A=0 P={} HA={} FA={} OF=3 UF=2 S=active W=0s "
	    "QA=0s\n" },
	{ show_thread, "{\"messages\":3,\"up_s\":9}", "" },
	{ show_thread2, THREAD "\"pids\":\"41,42\",\"hungry_s\":\"0,-1\","
	    "\"fed_s\":\"7,12\",\"oldest_s\":90}",
	    "smtp\tx.test\t\t6\t0\t2\t3\t2\t0\t\t41,42\t0,-1\t7,12\t90\n" },
	{ show_totals, "{\"done\":true,\"op\":\"queue\",\"messages\":3,"
	    "\"agents\":5,\"busy\":2,\"up_s\":9}",
	    "Kids: 5  Idle: 3  Msgs: 3  Thrds: 0  Rcpnts: 0  Uptime: 9s\n" },
	{ show_totals, THREAD "\"pids\":\"\"}", "" },
	/* hostile: no digit, no end of the line */
	{ show_thread, "{\"channel\":\"smtp\",\"host\":\"a\\nb\",\"zone\":"
	    "\"\",\"pids\":\"1,x\\n\"}",
	    "smtp/a b/ R=0 A=0 P={1,-} HA={} FA={} OF=0 UF=0 S=idle W=0s "
	    "QA=0s\n" },
	{ show_thread, "{\"channel\":\".\",\"host\":\"x\",\"zone\":\"\"}",
	    "../x/ R=0 A=0 P={} HA={} FA={} OF=0 UF=0 S=idle W=0s QA=0s\n" },
};

Test(mailq_show, lines_in_words_of_old)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct show show = { .now_s = 1000 };
		struct str out = STR_INIT;

		str_adds(&out, "");
		rows[i].fn(&show, slice_of(rows[i].in), &out);
		cr_expect_str_eq(out.buf, rows[i].want, "row %zu: %s", i,
		    out.buf);
		str_release(&out);
	}
}

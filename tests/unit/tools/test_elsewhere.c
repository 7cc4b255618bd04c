/* test_elsewhere.c - a victim is not flooded with others' reports
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "tools/zmailer/report/send/elsewhere.h"

Test(elsewhere, a_host_gets_so_many_reports_about_others)
{
	struct elsewhere elsewhere = { .arena = arena_new() };
	struct rua_address to[RUA_MAX];
	size_t sent = 0, own = 0;
	char domain[40];

	for (int i = 0; i < 500; i++) {
		snprintf(domain, sizeof(domain), "d%d.evil.test", i);
		snprintf(to[0].text, sizeof(to[0].text), "a@Victim.test");
		snprintf(to[1].text, sizeof(to[1].text), "b@%s", domain);
		snprintf(to[2].text, sizeof(to[2].text), "c%d@victim.test",
		    i);
		snprintf(to[3].text, sizeof(to[3].text), "d@evil.test");
		for (size_t k = elsewhere_keep(&elsewhere, domain, to, 4);
		    k-- > 0;) {
			sent += slice_ends(slice_of(to[k].text),
			    "ictim.test");
			own += slice_ends(slice_of(to[k].text), "evil.test");
		}
	}
	cr_expect_eq(sent, ELSEWHERE_MAX);
	cr_expect_eq(own, 1000);
	/* another host has room of its own; a like name is another */
	snprintf(to[0].text, sizeof(to[0].text), "a@other.test");
	cr_expect_eq(elsewhere_keep(&elsewhere, "x.test", to, 1), 1);
	snprintf(to[0].text, sizeof(to[0].text), "a@victim.test");
	cr_expect_eq(elsewhere_keep(&elsewhere, "notvictim.test", to, 1), 0);
	cr_expect_eq(elsewhere_keep(&elsewhere, "a.victim.test", to, 1), 1);
	arena_free(&elsewhere.arena);
}

/* What was sent is in the journal: another run for that day goes on with it. */
Test(elsewhere, runs_of_a_day_are_counted_together)
{
	struct elsewhere elsewhere = { .arena = arena_new() };
	struct rua_address to[RUA_MAX];
	struct str hosts = STR_INIT, line = STR_INIT;

	snprintf(to[0].text, sizeof(to[0].text), "a@victim.test");
	snprintf(to[1].text, sizeof(to[1].text), "b@d.test");
	snprintf(to[2].text, sizeof(to[2].text), "c@Victim.test");
	elsewhere_add_hosts(&hosts, "d.test", to, 3);
	cr_expect_str_eq(hosts.buf, "victim.test Victim.test");
	str_addf(&line, "{\"ev\":\"report.sent\",\"kind\":\"tls\",\"domain\":"
	    "\"d.test\",\"day\":\"2026-11-20\",\"elsewhere\":\"%s\"}",
	    hosts.buf);
	for (int i = 0; i < ELSEWHERE_MAX / 2; i++)
		elsewhere_take_line(&elsewhere, "2026-11-21",
		    str_slice(&line));
	cr_expect_eq(elsewhere_keep(&elsewhere, "d.test", to, 3), 3);
	for (int i = 0; i < ELSEWHERE_MAX / 2; i++)
		elsewhere_take_line(&elsewhere, "2026-11-20",
		    str_slice(&line));
	cr_expect_eq(elsewhere_keep(&elsewhere, "e.test", to, 1), 0);
	cr_expect_eq(elsewhere_keep(&elsewhere, "d.test", to, 3), 1);
	cr_expect_str_eq(to[0].text, "b@d.test");
	str_release(&hosts);
	str_release(&line);
	arena_free(&elsewhere.arena);
}

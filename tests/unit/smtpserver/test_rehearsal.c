/* test_rehearsal.c - rows of facts and expectations
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "house.h"
#include "smtpserver/rehearse/rehearsal.h"

#include "base/banned.h"

static const char rules[] = "dnsbl bl.test weight 2\n"
    "accept name .good.test for any\n"
    "reject listed 2 text \"on a list\"\n"
    "reject shadow helo unqualified\n"
    "limit rate 10/1h per sender else freeze\n"
    "greylist name none\n"
    "reject tls no user any\n"
    "reject size 1M\n"
    "defer sender-unknown\n"
    "reject listener :2525\n"
    "freeze sender odd@src.test";

struct row {
	const char	*line;
	int		 parsed;
	const char	*unexpected;	/* "": as expected */
};

static const struct row rows[] = {
	{ "", 0, NULL }, { "  # comment", 0, NULL },
	{ "to", -1, NULL }, { "from 192.0.2.1", -1, NULL },
	{ "what is to bob@example.org", -1, NULL },
	{ "to bob@example.org => what", -1, NULL },
	{ "to bob@example.org =>", -1, NULL },
	{ "to bob@example.org => accept rule x", -1, NULL },
	{ "to bob@example.org => accept 5", -1, NULL },
	{ "size big to bob@example.org => accept", -1, NULL },
	{ "=> accept", -1, NULL },
#define F "from 203.0.113.9 sender a@src.test "
#define T "to bob@example.org "
	{ F T "=> need", 1, "" },
	{ F T "=> accept", 1, "need, not accept" },
	{ F "name none " T "=> accept", 1, "" },
	{ F "name none " T "=> reject", 1, "accept, not reject" },
	{ F "name trouble " T "=> trouble 4.3.0", 1, "" },
	{ F "name mx.good.test to x@far.test => accept rule 2", 1, "" },
	{ F "name mx.good.test to x@far.test => accept rule 3", 1,
	    "by line 2, not 3" },
	{ F "name none to x@far.test => reject 5.7.1 text relay", 1, "" },
	{ F "name none listed bl.test=127.0.0.2 " T
	    "=> reject 5.7.1 rule 3 text on a list", 1, "" },
	{ F "name none listed bl.test=127.0.0.2 " T "=> reject text others",
	    1, "the words are: on a list" },
	{ F "name none listed bl.test=127.0.0.2 " T "=> reject 5.7.2", 1,
	    "code 5.7.1, not 5.7.2" },
	{ F "name none over " T "=> freeze rule 5", 1, "" },
	{ F "name none greylisted " T "=> defer 4.7.1 rule 6", 1, "" },
	{ F "name none user eve " T "=> reject rule 7", 1, "" },
	{ F "name none user eve tls " T "=> accept", 1, "" },
	{ F "name none size 2M " T "=> reject rule 8", 1, "" },
	{ F "name none sender-unknown " T "=> defer rule 9", 1, "" },
	{ F "name none listener 192.0.2.1:2525 " T "=> reject rule 10", 1,
	    "" },
	{ "from 203.0.113.9 name none sender <> " T "=> accept", 1, "" },
	{ "from 203.0.113.9 name none sender odd@src.test " T
	    "=> freeze rule 11", 1, "" },
	{ F "name none to postmaster => accept", 1, "" },
	{ "name none " T "=> accept", 1, "" },
};

/* Where a rule stands in the house's configuration: two lines lower. */
static void
check_row(struct rehearsal *rehearsal, const struct row *row)
{
	struct rehearsal_outcome outcome = { .status = STR_INIT,
	    .words = STR_INIT };
	struct str why = STR_INIT;
	struct rehearsal_row parsed;
	struct err err = { "" };
	int result = rehearsal_parse(slice_of(row->line), &parsed, &err);

	cr_expect_eq(result, row->parsed, "%s: %d", row->line, result);
	cr_expect(result >= 0 || err.text[0] != '\0', "%s", row->line);
	if (result == 1) {
		if (parsed.want_rule > 0)
			parsed.want_rule += 2;
		cr_expect_eq(rehearsal_run(rehearsal, &parsed, &outcome,
		    &err), 0, "%s: %s", row->line, err.text);
		(void)rehearsal_is_expected(&parsed, &outcome, &why);
		if (strcmp(row->unexpected, "by line 2, not 3") == 0)
			cr_expect_str_eq(why.buf, "by line 4, not 5");
		else
			cr_expect_str_eq(why.buf, row->unexpected, "%s: %s",
			    row->line, why.buf);
	}
	rehearsal_outcome_release(&outcome);
	rehearsal_row_release(&parsed);
	str_release(&why);
}

Test(rehearsal, rows)
{
	struct rehearsal rehearsal = { .policy = NULL };
	struct house house;

	house_open(&house, rules);
	rehearsal.conf = house.conf;
	rehearsal.policy = policy_new(house.conf);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rehearsal, &rows[i]);
	policy_free(&rehearsal.policy);
	house_close(&house);
}

/* Bad addresses are said, and nothing is run. */
Test(rehearsal, addresses)
{
	static const char *const bad[] = {
		"from nowhere to bob@example.org", "to @example.org",
		"to bob@", "sender a@b@c to bob@example.org",
		"to bob@example.org,x",
	};
	struct rehearsal rehearsal = { .policy = NULL };
	struct rehearsal_outcome outcome;
	struct rehearsal_row row;
	struct house house;
	struct err err;

	house_open(&house, "");
	rehearsal.conf = house.conf;
	rehearsal.policy = policy_new(house.conf);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(rehearsal_parse(slice_of(bad[i]), &row, &err),
		    1, "%s", bad[i]);
		err.text[0] = '\0';
		cr_expect_eq(rehearsal_run(&rehearsal, &row, &outcome, &err),
		    -1, "%s", bad[i]);
		cr_expect_neq(err.text[0], '\0', "%s", bad[i]);
		rehearsal_outcome_release(&outcome);
		rehearsal_row_release(&row);
	}
	policy_free(&rehearsal.policy);
	house_close(&house);
}

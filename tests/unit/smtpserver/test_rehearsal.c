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
	enum rehearsal_line parsed;
	const char	*unexpected;	/* "": as expected */
};

static const struct row rows[] = {
	{ "", REHEARSAL_LINE_EMPTY, NULL }, { "  # comment",
	    REHEARSAL_LINE_EMPTY, NULL },
	{ "to", REHEARSAL_LINE_BAD, NULL }, { "from 192.0.2.1",
	    REHEARSAL_LINE_BAD, NULL },
	{ "what is to bob@example.org", REHEARSAL_LINE_BAD, NULL },
	{ "to bob@example.org => what", REHEARSAL_LINE_BAD, NULL },
	{ "to bob@example.org =>", REHEARSAL_LINE_BAD, NULL },
	{ "to bob@example.org => accept rule x", REHEARSAL_LINE_BAD, NULL },
	{ "to bob@example.org => accept 5", REHEARSAL_LINE_BAD, NULL },
	{ "size big to bob@example.org => accept", REHEARSAL_LINE_BAD, NULL },
	{ "=> accept", REHEARSAL_LINE_BAD, NULL },
#define F "from 203.0.113.9 sender a@src.test "
#define T "to bob@example.org "
	{ F T "=> need", REHEARSAL_LINE_ROW, "" },
	{ F T "=> accept", REHEARSAL_LINE_ROW, "need, not accept" },
	{ F "name none " T "=> accept", REHEARSAL_LINE_ROW, "" },
	{ F "name none " T "=> reject", REHEARSAL_LINE_ROW,
	    "accept, not reject" },
	{ F "name trouble " T "=> trouble 4.3.0", REHEARSAL_LINE_ROW, "" },
	{ F "name mx.good.test to x@far.test => accept rule 2",
	    REHEARSAL_LINE_ROW, "" },
	{ F "name mx.good.test to x@far.test => accept rule 3",
	    REHEARSAL_LINE_ROW,
	    "by line 2, not 3" },
	{ F "name none to x@far.test => reject 5.7.1 text relay",
	    REHEARSAL_LINE_ROW, "" },
	{ F "name none listed bl.test=127.0.0.2 " T
	    "=> reject 5.7.1 rule 3 text on a list", REHEARSAL_LINE_ROW, "" },
	{ F "name none listed bl.test=127.0.0.2 " T "=> reject text others",
	    REHEARSAL_LINE_ROW, "the words are: on a list" },
	{ F "name none listed bl.test=127.0.0.2 " T "=> reject 5.7.2",
	    REHEARSAL_LINE_ROW,
	    "code 5.7.1, not 5.7.2" },
	{ F "name none over " T "=> freeze rule 5", REHEARSAL_LINE_ROW, "" },
	{ F "name none greylisted " T "=> defer 4.7.1 rule 6",
	    REHEARSAL_LINE_ROW, "" },
	{ F "name none user eve " T "=> reject rule 7", REHEARSAL_LINE_ROW,
	    "" },
	{ F "name none user eve tls " T "=> accept", REHEARSAL_LINE_ROW, "" },
	{ F "name none size 2M " T "=> reject rule 8", REHEARSAL_LINE_ROW, "" },
	{ F "name none sender-unknown " T "=> defer rule 9",
	    REHEARSAL_LINE_ROW, "" },
	{ F "name none listener 192.0.2.1:2525 " T "=> reject rule 10",
	    REHEARSAL_LINE_ROW,
	    "" },
	{ "from 203.0.113.9 name none sender <> " T "=> accept",
	    REHEARSAL_LINE_ROW, "" },
	{ "from 203.0.113.9 name none sender odd@src.test " T
	    "=> freeze rule 11", REHEARSAL_LINE_ROW, "" },
	{ F "name none to postmaster => accept", REHEARSAL_LINE_ROW, "" },
	{ "name none " T "=> accept", REHEARSAL_LINE_ROW, "" },
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
	enum rehearsal_line result = rehearsal_parse(slice_of(row->line),
	    &parsed, &err);

	cr_expect_eq(result, row->parsed, "%s: %d", row->line, result);
	cr_expect(result != REHEARSAL_LINE_BAD || err.text[0] != '\0', "%s",
	    row->line);
	if (result == REHEARSAL_LINE_ROW) {
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
		    REHEARSAL_LINE_ROW, "%s", bad[i]);
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

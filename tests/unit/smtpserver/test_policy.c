/* test_policy.c - rules and relaying, by rows
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "house.h"

#include "base/banned.h"

enum { BUILT_IN = 1000 };	/* a rule that stands in no file */

struct row {
	const char	*rules, *client, *sender, *rcpt;
	enum policy_result want;
	unsigned	 rule;		/* line in rules, 0: none */
	unsigned	 freeze;
};

static const struct row rows[] = {
	/* nothing said: ours yes, others no */
	{ "", "203.0.113.9", "<a@src.test>", "<bob@example.org>",
	    POLICY_ACCEPT, 0, 0 },
	{ "", "203.0.113.9", "<a@src.test>", "<bob@EXAMPLE.org>",
	    POLICY_ACCEPT, 0, 0 },
	{ "", "203.0.113.9", "<a@src.test>", "<x@else.test>",
	    POLICY_NO_RELAY, 0, 0 },
	{ "", "203.0.113.9", "<a@src.test>", "<x@sub.example.org>",
	    POLICY_NO_RELAY, 0, 0 },
	{ "", "203.0.113.9", "<bob@example.org>", "<x@else.test>",
	    POLICY_NO_RELAY, 0, 0 },
	/* the machine itself may relay, unless a rule says no */
	{ "", "127.0.0.1", "<a@src.test>", "<x@else.test>",
	    POLICY_ACCEPT, BUILT_IN, 0 },
	{ "reject from 127.0.0.1", "127.0.0.1", "<a@src.test>",
	    "<x@else.test>", POLICY_REJECT, 1, 0 },
	{ "", "203.0.113.9", "<>", "<postmaster>", POLICY_ACCEPT, 0, 0 },
	/* relaying for networks */
	{ "accept from 192.0.2.0/24 for any", "192.0.2.7", "<a@src.test>",
	    "<x@else.test>", POLICY_ACCEPT, 1, 0 },
	{ "accept from 192.0.2.0/24 for any", "192.0.3.7", "<a@src.test>",
	    "<x@else.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept from 2001:db8::/32 for any", "[2001:db8::1]",
	    "<a@src.test>", "<x@else.test>", POLICY_ACCEPT, 1, 0 },
	{ "accept from 192.0.2.0/24", "192.0.2.7", "<a@src.test>",
	    "<x@else.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept from 192.0.2.0/24", "192.0.2.7", "<a@src.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 1, 0 },
	/* relaying for a domain */
	{ "accept to @backup.test for any", "203.0.113.9", "<a@src.test>",
	    "<x@Backup.TEST>", POLICY_ACCEPT, 1, 0 },
	{ "accept to @backup.test", "203.0.113.9", "<a@src.test>",
	    "<x@backup.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept to @backup.test for any", "203.0.113.9", "<a@src.test>",
	    "<x@sub.backup.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept to @backup.test for any", "203.0.113.9", "<a@src.test>",
	    "<\"x@backup.test\"@else.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept to @backup.test for any", "203.0.113.9", "<a@src.test>",
	    "<@backup.test:x@else.test>", POLICY_NO_RELAY, 0, 0 },
	/* refusing */
	{ "reject sender @spam.test", "203.0.113.9", "<x@SPAM.test>",
	    "<bob@example.org>", POLICY_REJECT, 1, 0 },
	{ "reject sender @spam.test", "203.0.113.9", "<x@ham.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender @spam.test", "203.0.113.9", "<x@spam.test>",
	    "<postmaster@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender @spam.test", "203.0.113.9", "<x@spam.test>",
	    "<Postmaster>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender @spam.test", "203.0.113.9", "<>",
	    "<bob@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender <>", "203.0.113.9", "<>", "<bob@example.org>",
	    POLICY_REJECT, 1, 0 },
	{ "reject sender <>", "203.0.113.9", "<a@src.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject to bob@example.org", "203.0.113.9", "<a@src.test>",
	    "<\"bob\"@example.org>", POLICY_REJECT, 1, 0 },
	{ "reject from 203.0.113.9", "203.0.113.9", "<a@src.test>",
	    "<bob@example.org>", POLICY_REJECT, 1, 0 },
	{ "reject from 203.0.113.9", "203.0.113.8", "<a@src.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender *@*.spam.test", "203.0.113.9", "<x@a.spam.test>",
	    "<bob@example.org>", POLICY_REJECT, 1, 0 },
	/* the first that fits */
	{ "accept sender good@spam.test\nreject sender @spam.test",
	    "203.0.113.9", "<good@spam.test>", "<bob@example.org>",
	    POLICY_ACCEPT, 1, 0 },
	{ "accept sender good@spam.test\nreject sender @spam.test",
	    "203.0.113.9", "<bad@spam.test>", "<bob@example.org>",
	    POLICY_REJECT, 2, 0 },
	{ "reject sender @spam.test\naccept for any", "203.0.113.9",
	    "<x@spam.test>", "<x@else.test>", POLICY_REJECT, 1, 0 },
	/* freezing does not open the door */
	{ "freeze sender @odd.test", "203.0.113.9", "<x@odd.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 1, 1 },
	{ "freeze sender @odd.test", "203.0.113.9", "<x@odd.test>",
	    "<x@else.test>", POLICY_NO_RELAY, 0, 1 },
	{ "freeze sender @odd.test\nreject sender *", "203.0.113.9",
	    "<x@odd.test>", "<bob@example.org>", POLICY_ACCEPT, 1, 1 },
	{ "freeze sender @odd.test\nreject sender *", "203.0.113.9",
	    "<x@odd.test>", "<x@else.test>", POLICY_REJECT, 2, 1 },
	{ "reject sender *\nfreeze sender @odd.test", "203.0.113.9",
	    "<x@odd.test>", "<bob@example.org>", POLICY_REJECT, 1, 0 },
	{ "freeze sender @odd.test\naccept from 203.0.113.9 for any",
	    "203.0.113.9", "<x@odd.test>", "<x@else.test>",
	    POLICY_ACCEPT, 2, 1 },
	{ "freeze sender @odd.test", "203.0.113.9", "<x@odd.test>",
	    "<postmaster>", POLICY_ACCEPT, 0, 0 },
};

/* The line of a rule in the row's own text. */
static unsigned
line_of(const struct conf_rule *rule)
{
	if (rule == NULL)
		return 0;
	return rule->at.file == NULL ? BUILT_IN : rule->at.line - 2;
}

static void
check_row(const struct row *row, size_t number)
{
	struct policy_question question;
	struct policy_verdict verdict;
	struct house house;
	struct slice rest;
	struct err err;

	house_open(&house, row->rules);
	cr_assert_eq(net_parse(slice_of(row->client), &question.client, &err),
	    1);
	cr_assert_eq(path_parse(slice_of(row->sender), PATH_NULL_OK,
	    &question.sender, &rest, &err), 1);
	cr_assert_eq(path_parse(slice_of(row->rcpt), PATH_POSTMASTER_OK,
	    &question.rcpt, &rest, &err), 1);
	struct policy *policy = policy_new(house.conf);

	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, row->want, "row %zu: %d", number,
	    (int)verdict.result);
	cr_expect_eq(line_of(verdict.rule), row->rule, "row %zu: rule", number);
	cr_expect_eq(line_of(verdict.freeze), row->freeze, "row %zu: freeze",
	    number);
	policy_free(&policy);
	house_close(&house);
}

Test(policy, rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i], i);
}

/* `from <table>`: networks in a file, and a file that is not there. */
Test(policy, tables)
{
	struct policy_question question = { .sender = { SLICE("a"),
	    SLICE("src.test") }, .rcpt = { SLICE("x"), SLICE("else.test") } };
	struct policy_verdict verdict;
	char conf[600], path[160];
	struct policy *policy;
	struct house outer, house;
	struct err err;
	FILE *file;

	house_open(&outer, "");
	snprintf(path, sizeof(path), "%s/nets", outer.dir);
	file = fopen(path, "w");
	cr_assert(file != NULL);
	fputs("192.0.2.0/24\n", file);
	fclose(file);
	snprintf(conf, sizeof(conf), "table nets file:%s\n"
	    "table gone file:%s.gone\naccept from <nets> for any\n"
	    "reject sender @b.test\naccept from <gone> for any", path, path);
	house_open(&house, conf);
	policy = policy_new(house.conf);
	net_parse(SLICE("192.0.2.9"), &question.client, &err);
	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, POLICY_ACCEPT);
	net_parse(SLICE("192.0.3.9"), &question.client, &err);
	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, POLICY_TROUBLE);
	cr_expect(verdict.err.text[0] != '\0');
	question.sender.domain = SLICE("b.test");
	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, POLICY_REJECT);
	policy_free(&policy);
	house_close(&house);
	house_close(&outer);
}

/* test_blocks.c - whom all machines of a cluster refuse
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "house.h"
#include "smtpserver/auth/blocks.h"

#include "base/banned.h"

static bool
client_is_blocked(const char *address)
{
	struct block block;
	struct net net;

	cr_assert_eq(net_parse(slice_of(address), &net, NULL), 0);
	return blocks_find_client(&net, &block);
}

static void
blocks_fill(const char *const *lines, size_t count)
{
	struct err err;

	cr_assert_eq(blocks_open(&err), 0);
	blocks_begin();
	for (size_t i = 0; i < count; i++)
		cr_expect(blocks_add(slice_of(lines[i])), "%s", lines[i]);
	blocks_commit();
}

Test(blocks, there_are_none_before_they_are_opened)
{
	struct block block;

	cr_expect(!blocks_has(BLOCKS_USERS));
	cr_expect(!blocks_find(BLOCKS_USERS, SLICE("a"), &block));
	cr_expect(!client_is_blocked("192.0.2.1"));
	cr_expect(!blocks_add(SLICE("0 users a by=x")));
	blocks_commit();
}

Test(blocks, are_found_until_they_end)
{
	static const char *const lines[] = { "0 users Bob by=root why",
		"0 clients 192.0.2.0/24 by=x", "0 clients 2001:db8::/32 by=x",
		"1 clients 198.51.100.7 by=x", "1 users eve by=x",
		"4000000000 senders @a.test by=x", "0 senders b@c.test" };
	struct block block;

	blocks_fill(lines, sizeof(lines) / sizeof(lines[0]));
	cr_expect(blocks_find(BLOCKS_USERS, SLICE("bob"), &block));
	cr_expect_str_eq(block.about, "by=root why");
	cr_expect(blocks_find(BLOCKS_USERS, SLICE("BOB"), &block));
	cr_expect(!blocks_find(BLOCKS_USERS, SLICE("eve"), &block));
	cr_expect(!blocks_find(BLOCKS_SENDERS, SLICE("bob"), &block));
	cr_expect(blocks_find(BLOCKS_SENDERS, SLICE("@a.test"), &block));
	cr_expect(client_is_blocked("192.0.2.77"));
	cr_expect(client_is_blocked("2001:db8::1"));
	cr_expect(!client_is_blocked("192.0.3.1"));
	cr_expect(!client_is_blocked("198.51.100.7"));
	/* others take their place, all at once */
	blocks_begin();
	cr_expect(blocks_add(SLICE("0 users ann by=x")));
	cr_expect(blocks_find(BLOCKS_USERS, SLICE("bob"), &block));
	blocks_commit();
	cr_expect(!blocks_find(BLOCKS_USERS, SLICE("bob"), &block));
	cr_expect(blocks_find(BLOCKS_USERS, SLICE("ann"), &block));
	cr_expect(!client_is_blocked("192.0.2.77"));
	blocks_close();
}

Test(blocks, what_bars_all_or_is_none_is_not_taken)
{
	static const char *const lines[] = { "", "0", "0 users", "x users a b",
		"0 others a b", "-1 users a b", "0 clients x b",
		"0 clients 0.0.0.0/0 b", "0 clients 10.0.0.0/7 b",
		"0 clients ::/0 b", "0 clients 2001::/15 b",
		"0 clients 127.0.0.1 b", "0 clients 127.0.0.0/8 b",
		"0 clients ::1 b", "4294967296 users a b" };
	struct str line = STR_INIT;
	struct err err;

	cr_assert_eq(blocks_open(&err), 0);
	blocks_begin();
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		cr_expect(!blocks_add(slice_of(lines[i])), "%s", lines[i]);
	str_adds(&line, "0 users ");
	for (int i = 0; i < BLOCKS_KEY_BYTES; i++)
		str_addc(&line, 'a');
	cr_expect(!blocks_add(str_slice(&line)));
	for (int i = 0; i < BLOCKS_MAX; i++) {
		str_reset(&line);
		str_addf(&line, "0 users u%d by=x", i);
		cr_expect(blocks_add(str_slice(&line)));
	}
	cr_expect(!blocks_add(SLICE("0 users more by=x")));
	blocks_commit();
	cr_expect(!blocks_has(BLOCKS_CLIENTS));
	str_release(&line);
	blocks_close();
}

/* The memory in which both lists are, as a worker has it. */
static void
shared_fill(unsigned char byte)
{
	char line[512], shared[2] = "";
	unsigned long from, end;
	FILE *maps = fopen("/proc/self/maps", "r");
	int count = 0;

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%lx-%lx rw-%1[s]", &from, &end, shared) ==
		    3 && end - from > 2 * BLOCKS_MAX * sizeof(struct block)) {
			memset((void *)from, byte, end - from);
			count++;
		}
	fclose(maps);
	cr_assert_gt(count, 0);
}

/* One of them is in wrong hands: neither the listener nor another worker reads
 * or writes elsewhere for it. */
Test(blocks, a_worker_may_write_what_it_will)
{
	struct block block;
	struct err err;

	for (int byte = 0; byte < 256; byte += 51) {
		cr_assert_eq(blocks_open(&err), 0);
		blocks_begin();
		cr_expect(blocks_add(SLICE("0 users bob by=root")));
		shared_fill((unsigned char)byte);
		cr_expect(blocks_add(SLICE("0 users ann by=root")));
		(void)client_is_blocked("192.0.2.77");
		if (blocks_find(BLOCKS_USERS, SLICE("x"), &block)) {
			cr_expect_eq(block.kind, BLOCKS_USERS);
			cr_expect_lt(strlen(block.key), sizeof(block.key));
			cr_expect_lt(strlen(block.about), sizeof(block.about));
		}
		blocks_commit();
		cr_expect(blocks_find(BLOCKS_USERS, SLICE("bob"), &block));
		cr_expect(blocks_find(BLOCKS_USERS, SLICE("ann"), &block));
		blocks_close();
	}
}

/* Before all rules, in the words of those that zmailer block writes. */
static const struct {		/* words NULL: taken */
	const char	*user, *sender, *client, *words;
} refused_rows[] = {
	{ "", "x@src.test", "203.0.113.1", NULL },
	{ "", "x@src.test", "192.0.2.9",
	    "mail from your address is blocked here" },
	{ "", "b@C.test", "203.0.113.1",
	    "mail from this sender is blocked here" },
	{ "", "c@c.test", "203.0.113.1", NULL },
	{ "", "x@a.test", "203.0.113.1",
	    "mail from this sender is blocked here" },
	{ "", "x@deep.d.test", "203.0.113.1",
	    "mail from this sender is blocked here" },
	{ "", "x@d.test", "203.0.113.1", NULL },
	{ "", "news@any.test", "203.0.113.1",
	    "mail from this sender is blocked here" },
	{ "bob", "x@src.test", "203.0.113.1", "this account is blocked here" },
	{ "ann", "x@src.test", "203.0.113.1", NULL },
};

Test(blocks, refuse_before_all_rules)
{
	static const char *const lines[] = { "0 clients 192.0.2.0/24 by=x",
		"0 senders b@c.test by=x", "0 senders @a.test by=x",
		"0 senders .d.test by=x", "0 senders news@ by=x",
		"0 users bob by=x" };

	blocks_fill(lines, sizeof(lines) / sizeof(lines[0]));
	for (size_t i = 0; i < sizeof(refused_rows) / sizeof(refused_rows[0]);
	    i++) {
		struct policy_question question = {
		    .user = slice_of(refused_rows[i].user) };
		struct policy_verdict verdict;
		struct policy_reply reply;
		struct policy *policy;
		struct slice rest;
		struct house house;
		const char *words = NULL;

		house_open(&house, "accept from 0.0.0.0/0 for any");
		policy = policy_new(house.conf);
		net_parse(slice_of(refused_rows[i].client), &question.client,
		    NULL);
		cr_assert_eq(path_parse(slice_of(refused_rows[i].sender),
		    PATH_BARE_OK, &question.sender, &rest, NULL), 0);
		cr_assert_eq(path_parse(SLICE("r@far.test"), PATH_BARE_OK,
		    &question.rcpt, &rest, NULL), 0);
		policy_ask(policy, &question, &verdict);
		policy_reply(&verdict, &reply);
		cr_expect_str_eq(reply.words, refused_rows[i].words != NULL ?
		    refused_rows[i].words : "recipient ok", "row %zu", i);
		policy_ask_early(policy, &question, POLICY_AT_MAIL, &verdict);
		cr_expect_eq(verdict.result == POLICY_REJECT,
		    refused_rows[i].words != NULL, "row %zu", i);
		cr_expect_eq(policy_bars_user(policy, &question, &words) !=
		    NULL, strcmp(refused_rows[i].user, "bob") == 0);
		policy_free(&policy);
		house_close(&house);
	}
	blocks_close();
}

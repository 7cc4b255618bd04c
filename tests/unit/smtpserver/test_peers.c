/* test_peers.c - clients that are told less, or believed more
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "house.h"
#include "smtpserver/command/keywords.h"
#include "smtpserver/policy/peers.h"

#include "base/banned.h"

static const char text[] =
	"table front { 192.0.2.8\n198.51.100.0/24\n}\n"
	"table broken file:/nonexistent/table\n"
	"trust 192.0.2.7 proxy xclient\n"
	"trust 192.0.2.0/24 priority\n"
	"trust <front> xforward\n"
	"trust <broken> auth etrn\n"
	"ehlo without CHUNKING BINARYMIME for 192.0.2.7\n"
	"ehlo without DSN\n"
	"ehlo without HELP for <broken>\n";

Test(peers, rows)
{
	enum { P = 1 << TRUST_PRIORITY, F = 1 << TRUST_XFORWARD,
	    X = 1 << TRUST_XCLIENT | 1 << TRUST_PROXY,
	    D = 1 << EHLO_DSN | 1 << EHLO_HELP,
	    C = 1 << EHLO_CHUNKING | 1 << EHLO_BINARYMIME };
	static const struct {
		const char	*client;
		unsigned	 trust, withheld;
	} rows[] = {
		{ "192.0.2.7", P | X, D | C }, { "192.0.2.8", P | F, D },
		{ "198.51.100.9", F, D }, { "203.0.113.1", 0, D },
		{ "2001:db8::1", 0, D },
	};
	struct house house;
	struct peers *peers;

	house_open(&house, text);
	peers = peers_new(house.conf);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct net net;

		cr_assert_eq(net_parse(slice_of(rows[i].client), &net, NULL),
		    0);
		cr_expect_eq(peers_trust(peers, &net), rows[i].trust, "%s: %x",
		    rows[i].client, peers_trust(peers, &net));
		cr_expect_eq(peers_withheld(peers, &net), rows[i].withheld,
		    "%s: %x", rows[i].client, peers_withheld(peers, &net));
	}
	peers_free(&peers);
	house_close(&house);
}

/* What is withheld is neither announced nor taken. */
Test(peers, withheld_keywords_are_refused)
{
	static const struct {
		const char	*without, *command, *want;
	} rows[] = {
		{ "SIZE", "MAIL FROM:<a@src.test> SIZE=1", "555" },
		{ "8BITMIME", "MAIL FROM:<a@src.test> BODY=8BITMIME", "555" },
		{ "8BITMIME", "MAIL FROM:<a@src.test> SMTPUTF8", "555" },
		{ "SMTPUTF8", "MAIL FROM:<a@src.test> SMTPUTF8", "555" },
		{ "DSN", "MAIL FROM:<a@src.test> RET=FULL", "555" },
		{ "DELIVERBY", "MAIL FROM:<a@src.test> BY=1;N", "555" },
		{ "MT-PRIORITY", "MAIL FROM:<a@src.test> MT-PRIORITY=1",
		    "555" },
		{ "HELP", "MAIL FROM:<a@src.test> RET=FULL", "250" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str conf = STR_INIT, in = STR_INIT, out = STR_INIT;
		struct house house;
		int client;

		str_addf(&conf, "ehlo without %s for 192.0.2.7\n",
		    rows[i].without);
		house_open(&house, conf.buf);
		client = house_connect(&house, "192.0.2.7:4711");
		str_addf(&in, "EHLO c1.test\r\n%s\r\n", rows[i].command);
		house_send(&house, client, in.buf, in.len, in.len, &out);
		(void)house_hear(&house, client, &out);
		str_reset(&in);
		str_addf(&in, "-%s", rows[i].without);
		cr_expect_null(strstr(out.buf, in.buf), "%s", out.buf);
		str_reset(&in);
		str_addf(&in, "\r\n%s ", rows[i].want);
		cr_expect_not_null(strstr(out.buf, in.buf), "%s %s",
		    rows[i].command, out.buf);
		close(client);
		house_close(&house);
		str_release(&conf);
		str_release(&in);
		str_release(&out);
	}
}

/* Each name that the statement takes is the keyword of that name. */
Test(peers, every_keyword_can_be_withheld)
{
	for (unsigned i = 0; i < EHLO_COUNT; i++) {
		struct str conf = STR_INIT;
		struct house house;

		str_addf(&conf, "ehlo without %s\n", ehlo_names[i]);
		house_open(&house, conf.buf);
		cr_expect_eq(house.conf->withouts[0].words, 1u << i, "%s",
		    ehlo_names[i]);
		house_close(&house);
		str_release(&conf);
	}
}

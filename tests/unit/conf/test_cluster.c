/* test_cluster.c - the machines that share numbers
 *
 * SPDX-License-Identifier: ISC
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf_case.h"
#include "conf/part/part.h"

Test(conf_cluster, all_of_it)
{
	struct conf_case c;

	case_good(&c, "cluster mx { node mx1 mx2; node mx-3; self mx2;"
	    " redis 192.0.2.1 redis.test:7000; password /etc/pw;"
	    " patience 1s }\nlimit rate 5/1h shared\nlimit rate 5/1h\n");
	cr_expect_str_eq(c.conf->cluster.name, "mx");
	cr_expect_eq(c.conf->cluster.node_count, 3);
	cr_expect_str_eq(c.conf->cluster.nodes[2], "mx-3");
	cr_expect_str_eq(c.conf->cluster.self, "mx2");
	cr_expect_eq(c.conf->cluster.server_count, 2);
	cr_expect_str_eq(c.conf->cluster.password_path, "/etc/pw");
	cr_expect_eq(c.conf->cluster.patience_ms, 1000);
	cr_expect(c.conf->rules[0].count.is_shared);
	cr_expect(!c.conf->rules[1].count.is_shared);
	cr_expect(conf_asks_share(c.conf));
	case_close(&c);
}

/* It is shown in these words, which are read the same. */
static void
is_shown_as(const struct conf_case *c, const char *want)
{
	struct str first = STR_INIT, second = STR_INIT;
	struct conf_case again;

	str_adds(&first, "cluster ");
	conf_cluster_add(&first, &c->conf->cluster);
	cr_expect_str_eq(first.buf, want);
	case_good(&again, first.buf);
	str_adds(&second, "cluster ");
	conf_cluster_add(&second, &again.conf->cluster);
	cr_expect_str_eq(first.buf, second.buf);
	str_release(&first);
	str_release(&second);
	case_close(&again);
}

Test(conf_cluster, what_is_shown_is_read_the_same)
{
	struct conf_case c;

	case_good(&c, "cluster mx { node mx1 mx2; self mx1; redis ::1 a:1;"
	    " password \"/etc/a b\"; tls key /k ca \"/c d\" "
	    "certificate /c }\n");
	is_shown_as(&c, "cluster mx { node mx1 mx2; self mx1; "
	    "redis ::1 a:1; password \"/etc/a b\"; tls ca \"/c d\" "
	    "certificate /c key /k; patience 200ms }");
	case_close(&c);
}

/* Nodes n0 to nN-1, this one is `self`; backwards when it is odd. */
static void
digits_of(unsigned self, unsigned count, char out[SPOOL_NODE_BYTES])
{
	struct str text = STR_INIT;
	struct conf_case c;

	str_adds(&text, "cluster mx { node");
	for (unsigned i = 0; i < count; i++)
		str_addf(&text, " n%u", self % 2 ? count - 1 - i : i);
	str_addf(&text, "; self n%u }\n", self);
	case_good(&c, text.buf);
	snprintf(out, SPOOL_NODE_BYTES, "%s", c.conf->cluster.node_digits);
	case_close(&c);
	str_release(&text);
}

Test(conf_cluster, no_two_nodes_have_the_same_digits)
{
	enum { COUNT = CLUSTER_NODES_MAX };
	char digits[COUNT][SPOOL_NODE_BYTES], alone[SPOOL_NODE_BYTES];

	for (unsigned i = 0; i < COUNT; i++) {
		digits_of(i, COUNT, digits[i]);
		cr_assert_eq(strlen(digits[i]), 2);
		for (unsigned k = 0; k < i; k++)
			cr_assert_str_neq(digits[i], digits[k], "n%u n%u", i,
			    k);
	}
	/* other nodes do not matter, unless they have the same */
	digits_of(7, 8, alone);
	digits_of(7, 9, digits[0]);
	cr_expect_str_eq(alone, digits[0]);
}

Test(conf_cluster, a_desk_is_shown_as_it_is_read)
{
	struct sockaddr_storage address;
	struct conf_case c;
	unsigned length;
	struct err err;

	case_good(&c, "cluster mx { node mx1 at 192.0.2.11; node mx2 at "
	    "[2001:db8::2]:99; self mx2; desk ca /c certificate \"/a b\" "
	    "key /k }\n");
	cr_expect(conf_asks_nodes(c.conf) && !conf_asks_share(c.conf));
	cr_expect_eq(conf_cluster_find(&c.conf->cluster, SLICE("mx2")), 1);
	cr_expect_eq(conf_cluster_find(&c.conf->cluster, SLICE("mx3")), 2);
	cr_expect_eq(conf_node_address(&c.conf->cluster, 0, &address, &length,
	    &err), 0);
	cr_expect_eq(length, sizeof(struct sockaddr_in));
	cr_expect_eq(ntohs(((struct sockaddr_in *)&address)->sin_port), 9025);
	is_shown_as(&c, "cluster mx { node mx1 at 192.0.2.11; "
	    "node mx2 at [2001:db8::2]:99; self mx2; desk ca /c certificate "
	    "\"/a b\" key /k; patience 200ms }");
	case_close(&c);
}

Test(conf_cluster, who_may_publish_is_shown_as_it_is_read)
{
	struct conf_case c;

	case_good(&c, "cluster mx { node mx1 at 192.0.2.11; node mx2 at "
	    "192.0.2.12; node mx3 at 192.0.2.13; self mx2; desk ca /c "
	    "certificate /d; publish from mx1; publish from mx3 }\n");
	cr_expect(conf_cluster_publishes(&c.conf->cluster, SLICE("mx1")));
	cr_expect(conf_cluster_publishes(&c.conf->cluster, SLICE("mx3")));
	cr_expect_not(conf_cluster_publishes(&c.conf->cluster, SLICE("mx2")));
	cr_expect_not(conf_cluster_publishes(&c.conf->cluster, SLICE("mx")));
	is_shown_as(&c, "cluster mx { node mx1 at 192.0.2.11; "
	    "node mx2 at 192.0.2.12; node mx3 at 192.0.2.13; self mx2; "
	    "desk ca /c certificate /d; publish from mx1 mx3; "
	    "patience 200ms }");
	case_close(&c);
}

Test(conf_cluster, sentinels_are_shown_as_they_are_read)
{
	struct conf_case c;

	case_good(&c, "cluster mx { node mx1; self mx1; sentinel keeper ::1 "
	    "a:1; sentinel-password /s; password /p }\n"
	    "limit rate 5/1h shared\n");
	cr_expect(conf_asks_share(c.conf));
	cr_expect(conf_cluster_has_redis(&c.conf->cluster));
	cr_expect_eq(c.conf->cluster.sentinel_count, 2);
	is_shown_as(&c, "cluster mx { node mx1; self mx1; "
	    "sentinel keeper ::1 a:1; sentinel-password /s; password /p; "
	    "patience 200ms }");
	case_close(&c);
}

#ifdef HAVE_PGSQL
Test(conf_cluster, copies_are_shown_as_they_are_read)
{
	struct conf_case c;

	case_good(&c, "cluster mx { node mx1; self mx1; postgres "
	    "\"host=a dbname=b\" password /p; copies lease go-on "
	    "size 1M else defer }\n");
	cr_expect_str_eq(c.conf->cluster.postgres, "host=a dbname=b");
	cr_expect(c.conf->cluster.copies_defer);
	cr_expect(c.conf->cluster.delivers_alone);
	cr_expect_eq(c.conf->cluster.copy_bytes_max, 1 << 20);
	cr_expect(conf_keeps_copies(c.conf) && conf_asks_share(c.conf));
	is_shown_as(&c, "cluster mx { node mx1; self mx1; postgres \"host=a "
	    "dbname=b\" password /p; copies else defer size 1M lease go-on; "
	    "patience 200ms }");
	case_close(&c);
}

Test(conf_cluster, a_takeover_is_shown_as_it_is_read)
{
	struct conf_case c;

	case_good(&c, "cluster mx { node mx1; self mx1; postgres "
	    "\"host=a\"; takeover after 5m }\n");
	cr_expect_eq(c.conf->cluster.takeover_after_ms, 300000);
	is_shown_as(&c, "cluster mx { node mx1; self mx1; postgres host=a; "
	    "copies else accept size 25M lease wait; takeover after 5m; "
	    "patience 200ms }");
	case_close(&c);
}
#endif

Test(conf_cluster, twice_is_said_in_words)
{
	static const struct { const char *text, *words; } rows[] = {
		{ "cluster a { node x; self x }\n"
		    "cluster b { node x; self x }\n",
		    "'cluster' is said twice" },
		{ "cluster a { node x; self x; self x }\n",
		    "'self' is said twice" },
		{ "cluster a { node x; self x; copies else defer }\n",
		    "copies are kept where?" },
		{ "cluster a { node x; self x; takeover after 5m }\n",
		    "no copies are kept" },
		{ "cluster a { node x; self x; takeover after 59s }\n",
		    "from 1m to 30d" },
		{ "zone a { warm-up 2026-11-21 50 shared }\n",
		    "shared with whom?" },
#ifdef HAVE_PGSQL
		{ "cluster a { node x; self x; postgres a; postgres b }\n",
		    "'postgres' is said twice" },
		{ "cluster a { node x; self x; postgres a; copies lease "
		    "go-on; takeover after 5m }\n",
		    "delivers what another one has taken over" },
#endif
		{ "cluster a { node x; self x; sentinel m a; sentinel m b }\n",
		    "'sentinel' is said twice" },
		{ "cluster a { node x; self x; sentinel m a; redis b }\n",
		    "redis and sentinel are said both" },
		{ "cluster a { node x; self x; sentinel 192.0.2.1 "
		    "192.0.2.2 }\n", "the name of the master is missing" },
		{ "cluster a { node x; self x; sentinel ::1 ::2 }\n",
		    "the name of the master is missing" },
		{ "cluster a { node x; self x; sentinel m }\n",
		    "where are the sentinels of 'm'?" },
		{ "cluster a { node x; self x; sentinel m a:0 }\n",
		    "'a:0' is not where a sentinel is" },
		{ "cluster a { node x; self x; copies else maybe }\n",
		    "maybe" },
		{ "cluster a { node x; self x; copies size 1K }\n", "1K" },
		{ "cluster a { node x at 192.0.2.1; node y; self x; "
		    "desk ca /c certificate /d }\n", "where is y?" },
		{ "cluster a { node x y at 192.0.2.1; self x }\n",
		    "'at' is the address of one node" },
		{ "cluster a { node x at mx.example; self x }\n",
		    "'mx.example' is no address" },
		{ "cluster a { node x at 25; self x }\n",
		    "'25' is no address" },
		{ "cluster a { node x at 192.0.2.1; self x; desk ca /c }\n",
		    "certificate" },
		{ "cluster a { node x at 192.0.2.1; self x; desk ca /c "
		    "certificate /d; desk ca /c certificate /d }\n",
		    "'desk' is said twice" },
		{ "cluster a { node x at 192.0.2.1; self x; desk ca /c "
		    "certificate /d; publish from y }\n",
		    "'y' is no node of the cluster" },
		{ "cluster a { node x at 192.0.2.1; self x; publish from x }\n",
		    "a publish comes by the desk, and there is none" },
		{ "cluster a { node x at 192.0.2.1; self x; desk ca /c "
		    "certificate /d; publish from }\n",
		    "'publish' needs a word" },
		{ "cluster a { node x at 192.0.2.1; self x; desk ca /c "
		    "certificate /d; publish x }\n", "from" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		case_refused(rows[i].text, rows[i].words);
}

Test(conf_cluster, this_machine_is_found_by_its_name)
{
	char name[256] = "", text[600];
	struct conf_case c;

	cr_assert_eq(gethostname(name, sizeof(name) - 1), 0);
	for (char *p = name; *p != '\0'; p++)
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
	snprintf(text, sizeof(text), "cluster mx { node other %s }", name);
	case_good(&c, text);
	cr_expect_str_eq(c.conf->cluster.self, name);
	case_close(&c);
	name[strcspn(name, ".")] = '\0';
	snprintf(text, sizeof(text), "cluster mx { node other %s }", name);
	case_good(&c, text);
	cr_expect_str_eq(c.conf->cluster.self, name);
	case_close(&c);
}

Test(conf_cluster, rules_that_say_the_same_are_one_limit)
{
	struct conf_case c;

	case_good(&c, "cluster mx { node mx1; self mx1; redis 192.0.2.1 }\n"
	    "limit rate 5/1h per user auth shared\n"
	    "limit rate 5/1h shared per user   auth\n"
	    "limit rate 5/1h per sender auth shared\n"
	    "limit rate 5/60m per user auth shared\n");
	cr_expect_eq(c.conf->rules[0].count.shared_id,
	    c.conf->rules[1].count.shared_id);
	cr_expect_neq(c.conf->rules[0].count.shared_id,
	    c.conf->rules[2].count.shared_id);
	cr_expect_eq(c.conf->rules[0].count.shared_id,
	    c.conf->rules[3].count.shared_id);
	case_close(&c);
}

Test(conf_cluster, where_a_redis_is)
{
	static const struct {
		const char *text, *host;
		unsigned port;
	} rows[] = {
		{ "192.0.2.1", "192.0.2.1", 6379 },
		{ "192.0.2.1:1", "192.0.2.1", 1 },
		{ "redis.example.org:65535", "redis.example.org", 65535 },
		{ "::1", "::1", 6379 },
		{ "[::1]", "::1", 6379 },
		{ "[::1]:7", "::1", 7 },
		{ "", NULL, 0 }, { ":1", NULL, 0 }, { "a:", NULL, 0 },
		{ "a:0", NULL, 0 }, { "a:65536", NULL, 0 }, { "[", NULL, 0 },
		{ "[]", NULL, 0 }, { "[::1", NULL, 0 }, { "::1]", NULL, 0 },
		{ "[::1]7", NULL, 0 }, { "a/b", NULL, 0 }, { "a b", NULL, 0 },
	};
	struct slice host;
	unsigned port;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_one;

		port = CLUSTER_PORT;
		is_one = conf_cluster_server(slice_of(rows[i].text), &host,
		    &port);
		cr_expect_eq(is_one, rows[i].host != NULL, "%s",
		    rows[i].text);
		if (is_one && rows[i].host != NULL) {
			cr_expect(slice_is(host, rows[i].host), "%s",
			    rows[i].text);
			cr_expect_eq(port, rows[i].port, "%s", rows[i].text);
		}
	}
}

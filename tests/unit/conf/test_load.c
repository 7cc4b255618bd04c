/* test_load.c - good configurations and the settings they make
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf_case.h"
#include "conf/read/read.h"

Test(conf, empty_is_valid)
{
	struct conf_case c;

	case_good(&c, "");
	cr_expect(c.conf->host[0] != '\0');
	cr_expect_str_eq(c.conf->postmaster, "postmaster");
	cr_expect_str_eq(c.conf->spool_dir, ZM_SPOOLDIR);
	cr_expect_str_eq(c.conf->run_dir, ZM_RUNDIR);
	cr_expect_str_eq(c.conf->log_dir, ZM_LOGDIR);
	cr_expect_eq(c.conf->hash_levels, 0);
	cr_expect_eq(c.conf->sync, SYNC_GROUP);
	cr_expect_not(c.conf->bare_lf_ok);
	cr_expect_not(c.conf->verifies_origin);
	cr_expect_null(c.conf->dns_server);
	cr_expect_str_eq(c.conf->accounts[ROLE_SCHEDULER], "zmsched");
	cr_expect_eq(c.conf->smtpserver_workers, 2);
	cr_expect_eq(c.conf->group_ms, 1000);
	cr_expect_eq(c.conf->mailbox_kind, MAILBOX_MBOX);
	cr_expect_str_eq(c.conf->mailbox_path, "/var/mail/{user}");
	cr_assert_eq(c.conf->listen_count, 1);
	cr_expect_str_eq(c.conf->listens[0].text, "127.0.0.1:25");
	cr_expect_not_null(conf_domain_find(c.conf, SLICE("localhost")));
	cr_expect_not_null(conf_domain_find(c.conf,
	    slice_of(c.conf->host)));
	cr_expect_eq(c.conf->limits.size_bytes, 50u << 20);
	cr_expect_eq(c.conf->limits.recipients, 1000);
	cr_expect_eq(c.conf->limits.sessions_per_client, 50);
	cr_expect_eq(c.conf->limits.command_bytes, 2048);
	cr_expect_eq(c.conf->limits.line_bytes, 1000000);
	cr_expect_eq(c.conf->limits.header_bytes, 256u << 10);
	cr_expect_eq(c.conf->timeouts.command_ms, 300000);
	cr_expect_eq(c.conf->timeouts.data_end_ms, 600000);
	cr_assert_eq(c.conf->rule_count, 3);
	cr_expect(c.conf->rules[0].for_any && c.conf->rules[0].has_from_net);
	cr_expect_null(c.conf->rules[0].at.file);
	case_close(&c);
}

/* Nobody answers at its socket: that is trouble, not somebody else's name. */
Test(conf, domains_of_a_database_are_asked_for)
{
	const struct conf_domain *domain;
	struct conf_case c;
	struct err err;

	case_good(&c, "run /nowhere-at-all\n"
	    "table names socketmap:/nowhere\ndomain a.example\n"
	    "domain <names> b.example { users any }\n");
	cr_expect_str_eq(conf_domain_table(c.conf, 0, &domain), "names");
	cr_expect_eq(domain->users, USERS_ANY);
	cr_expect_null(conf_domain_table(c.conf, 1, &domain));
	cr_expect_null(conf_domain_find(c.conf, SLICE("other.example")));
	cr_expect_eq(conf_domain_ask(c.conf, SLICE("a.example"), &domain,
	    &err), TABLE_FOUND);
	cr_expect_eq(domain->users, USERS_PASSWD);
	cr_expect_eq(conf_domain_ask(c.conf, SLICE("b.example"), &domain,
	    &err), TABLE_FOUND);
	cr_expect_eq(domain->users, USERS_ANY);
	cr_expect_eq(conf_domain_ask(c.conf, SLICE("other.example"), &domain,
	    &err), TABLE_TROUBLE);
	cr_expect_null(domain);
	cr_expect_not_null(strstr(err.text, "names"), "%s", err.text);
	cr_expect_eq(conf_domain_ask(c.conf, SLICE("[192.0.2.1]"), &domain,
	    &err), TABLE_NONE);
	case_close(&c);
	case_good(&c, "domain a.example\n");
	cr_expect_null(conf_domain_table(c.conf, 0, NULL));
	cr_expect_eq(conf_domain_ask(c.conf, SLICE("other.example"), &domain,
	    &err), TABLE_NONE);
	case_close(&c);
}

Test(conf, mailname_is_told_when_host_differs)
{
	struct conf_case c;

	case_good(&c, "host mx.example.org\ndomain example.org\n");
	cr_expect_null(conf_mailname_note(c.conf, NULL, c.arena));
	cr_expect_null(conf_mailname_note(c.conf, "mx.example.org", c.arena));
	cr_expect_str_eq(conf_mailname_note(c.conf, "example.org", c.arena),
	    "/etc/mailname has example.org, and host is mx.example.org: host "
	    "counts, mail of local programs is from user@mx.example.org");
	cr_expect_not_null(strstr(conf_mailname_note(c.conf, "other.test",
	    c.arena), "; other.test is no domain of ours"));
	case_close(&c);
}

Test(conf, no_setting_is_left_at_zero)
{
	struct conf_case c;

	case_good(&c, "");
	for (size_t i = 0; i < conf_setting_count; i++) {
		const struct conf_setting *setting = &conf_settings[i];
		const char *field = (const char *)c.conf + setting->offset;
		bool is_zero = true;

		for (size_t k = 0; k < setting->width; k++)
			is_zero &= field[k] == 0;
		cr_expect(!is_zero || strcmp(setting->preset, "0") == 0 ||
		    strncmp(setting->type, "choice", 6) == 0 ||
		    strcmp(setting->statement, "dns") == 0 ||
		    strcmp(setting->statement, "classes") == 0 ||
		    strcmp(setting->statement, "tls-reports") == 0 ||
		    strcmp(setting->statement, "dmarc-reports") == 0 ||
		    strcmp(setting->key, "ca") == 0, "%s %s",
		    setting->statement, setting->key);
	}
	case_close(&c);
}

Test(conf, plain_settings)
{
	struct conf_case c;

	case_good(&c,
	    "host MX.Example.ORG; size 25M; hash 2\n"
	    "postmaster alice@example.org\n"
	    "sync unsafe\nbare-newline accept\nverify-origin yes\n"
	    "dns 127.0.0.1:5353\n"
	    "group 250ms\nworkers router 7\nuser agent nobody\n"
	    "limit received 30\nlimit dsn 10K\ntimeout quit 1m30s\n"
	    "spool \"/with blank/spool\"   # a comment\n");
	cr_expect_str_eq(c.conf->host, "mx.example.org");
	cr_expect_eq(c.conf->limits.size_bytes, 25u << 20);
	cr_expect_eq(c.conf->hash_levels, 2);
	cr_expect_str_eq(c.conf->postmaster, "alice@example.org");
	cr_expect_eq(c.conf->sync, SYNC_UNSAFE);
	cr_expect(c.conf->bare_lf_ok);
	cr_expect(c.conf->verifies_origin);
	cr_expect_str_eq(c.conf->dns_server, "127.0.0.1:5353");
	cr_expect_eq(c.conf->group_ms, 250);
	cr_expect_eq(c.conf->router_workers, 7);
	cr_expect_str_eq(c.conf->accounts[ROLE_AGENT], "nobody");
	cr_expect_eq(c.conf->limits.received, 30);
	cr_expect_eq(c.conf->limits.dsn_bytes, 10240);
	cr_expect_eq(c.conf->timeouts.quit_ms, 90000);
	cr_expect_str_eq(c.conf->spool_dir, "/with blank/spool");
	case_close(&c);
}

Test(conf, listen_on_a_port_alone_is_both_families)
{
	struct conf_case c;

	case_good(&c, "listen 25\nlisten 127.0.0.1:587 submission\n"
	    "listen [::1]:2525\n");
	cr_assert_eq(c.conf->listen_count, 4);
	cr_expect_str_eq(c.conf->listens[0].text, "0.0.0.0:25");
	cr_expect_str_eq(c.conf->listens[1].text, "[::]:25");
	cr_expect(c.conf->listens[1].is_optional);
	cr_expect_str_eq(c.conf->listens[2].text, "127.0.0.1:587");
	cr_expect(c.conf->listens[2].is_submission);
	cr_expect_str_eq(c.conf->listens[3].text, "[::1]:2525");
	cr_expect_eq(c.conf->listens[3].at.line, 3);
	case_close(&c);
}

Test(conf, domains_and_how_they_are_found)
{
	struct conf_case c;
	const struct conf_domain *domain;
	static const struct { const char *name; int line; } finds[] = {
		{ "example.org", 2 }, { "example.net", 2 },
		{ "EXAMPLE.net", 2 }, { "x.example.net", 0 },
		{ "lists.example.org", 3 }, { "a.b.example", 4 },
		{ "x.a.b.example", 4 }, { "b.example", 0 },
		{ "deep.b.example", 5 }, { "x.deep.b.example", 4 },
		{ "ample.org", 0 }, { "", 0 }, { ".b.example", 0 },
		{ "org", 0 },
	};

	case_good(&c,
	    "table people { alice; bob }; table aliases { x: y }\n"
	    "domain example.org example.net { users <people> }\n"
	    "domain lists.example.org { users any; deliver lmtp "
	    "inet:127.0.0.1:8024 }\n"
	    "domain .b.example\n"
	    "domain deep.b.example { deliver smtp in.example:2525 }\n");
	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		domain = conf_domain_find(c.conf, slice_of(finds[i].name));
		cr_expect_eq(domain ? (int)domain->at.line : 0, finds[i].line,
		    "%s", finds[i].name);
	}
	domain = conf_domain_find(c.conf, SLICE("example.org"));
	cr_expect_eq(domain->users, USERS_TABLE);
	cr_expect_str_eq(domain->users_table, "people");
	cr_assert_eq(domain->alias_count, 1);
	cr_expect_str_eq(domain->aliases[0], "aliases");
	cr_expect_str_eq(domain->deliver.channel, "local");
	cr_expect_str_eq(domain->deliver.host, "-");
	domain = conf_domain_find(c.conf, SLICE("lists.example.org"));
	cr_expect_eq(domain->users, USERS_ANY);
	cr_expect_str_eq(domain->deliver.channel, "lmtp");
	cr_expect_str_eq(domain->deliver.host, "inet:127.0.0.1:8024");
	domain = conf_domain_find(c.conf, SLICE("deep.b.example"));
	cr_expect_str_eq(domain->deliver.host, "[in.example]:2525");
	case_close(&c);
}

Test(conf, our_own_name_is_a_domain_unless_spoken_for)
{
	struct conf_case c;

	case_good(&c, "host mx.a.example\ndomain a.example\n");
	cr_expect_not_null(conf_domain_find(c.conf, SLICE("mx.a.example")));
	cr_expect_not_null(conf_domain_find(c.conf, SLICE("localhost")));
	case_close(&c);
	case_good(&c, "host mx.a.example\nroute mx.a.example via mx\n"
	    "domain localhost { users any }\n");
	cr_expect_null(conf_domain_find(c.conf, SLICE("mx.a.example")));
	cr_expect_eq(conf_domain_find(c.conf, SLICE("localhost"))->users,
	    USERS_ANY);
	case_close(&c);
}

Test(conf, ten_thousand_domains)
{
	struct str text = STR_INIT;
	struct conf_case c;

	for (int i = 0; i < 10000; i++)
		str_addf(&text, "domain d%d.example { users any }\n", i);
	case_good(&c, text.buf);
	cr_expect_eq(conf_domain_find(c.conf, SLICE("d9999.example"))->at.line,
	    10000);
	case_close(&c);
	str_release(&text);
}

Test(conf, route_targets)
{
	static const struct { const char *via, *channel, *host; } targets[] = {
		{ "mx", "smtp", "" },
		{ "smtp.isp.example:587", "smtp", "[smtp.isp.example]:587" },
		{ "smtp.isp.example", "smtp", "[smtp.isp.example]:25" },
		{ "127.0.0.1:2526", "smtp", "[127.0.0.1]:2526" },
		{ "[127.0.0.1]", "smtp", "[127.0.0.1]:25" },
		{ "[2001:db8::1]:26", "smtp", "[2001:db8::1]:26" },
		{ "[mx]:26", "smtp", "[mx]:26" },
		{ "local", "local", "-" }, { "hold", "hold", "-" },
		{ "error \"5.1.2 gone away\"", "error", "5.1.2 gone away" },
		{ "lmtp unix:/run/lmtp", "lmtp", "unix:/run/lmtp" },
		{ "lmtp inet:[::1]:24", "lmtp", "inet:[::1]:24" },
		{ "", NULL, NULL }, { "a b", NULL, NULL },
		{ "h:99999", NULL, NULL }, { "[1.2.3.4", NULL, NULL },
		{ "[1.2.3.4]25", NULL, NULL }, { "lmtp", NULL, NULL },
		{ "lmtp h", "lmtp", "inet:[h]:24" },
		{ "lmtp inet:h", NULL, NULL },
		{ "lmtp mail.h:2400", "lmtp", "inet:[mail.h]:2400" },
		{ "lmtp unix", NULL, NULL }, { "lmtp run/s", NULL, NULL },
		{ "10.0.0.0/8", NULL, NULL }, { "h!", NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct str text = STR_INIT;
		struct conf_case c;

		str_addf(&text, "route a.example via %s\n", targets[i].via);
		case_open(&c, text.buf);
		cr_expect_eq(c.conf != NULL, targets[i].channel != NULL,
		    "%s: %s", targets[i].via, c.shown.buf);
		if (c.conf != NULL) {
			cr_expect_str_eq(c.conf->routes[0].channel,
			    targets[i].channel);
			cr_expect_str_eq(c.conf->routes[0].host,
			    targets[i].host);
		}
		case_close(&c);
		str_release(&text);
	}
}

Test(conf, route_patterns)
{
	static const struct { const char *pattern, *domain; bool want; }
	    patterns[] = {
		{ "a.example", "a.example", true },
		{ "a.example", "A.EXAMPLE", true },
		{ "a.example", "b.a.example", false },
		{ ".a.example", "b.a.example", true },
		{ ".a.example", "c.b.a.example", true },
		{ ".a.example", "a.example", false },
		{ ".a.example", "ba.example", false },
		{ "*", "x", true }, { "*.example", "a.b.example", true },
		{ "m?.example", "mx.example", true },
		{ "m?.example", "mxx.example", false },
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		cr_expect_eq(conf_route_covers(patterns[i].pattern,
		    slice_of(patterns[i].domain)), patterns[i].want, "%s %s",
		    patterns[i].pattern, patterns[i].domain);
}

Test(conf, rules)
{
	struct conf_case c;
	const struct conf_rule *rules;

	case_good(&c,
	    "table ours { 10.0.0.0/8 }\n"
	    "reject sender <> to *@lists.example text \"no \\\"bounces\\\"\"\n"
	    "freeze from 192.0.2.0/24\n"
	    "accept from <ours> for any\n"
	    "accept from any to bob@b.example\n");
	rules = c.conf->rules;
	cr_assert_eq(c.conf->rule_count, 7);
	cr_expect_eq(rules[0].action, ACTION_REJECT);
	cr_expect_str_eq(rules[0].patterns[PATTERN_SENDER], "<>");
	cr_expect_str_eq(rules[0].patterns[PATTERN_RCPT], "*@lists.example");
	cr_expect_str_eq(rules[0].text, "no \"bounces\"");
	cr_expect_not(rules[0].has_from_net);
	cr_expect_eq(rules[1].action, ACTION_FREEZE);
	cr_expect(rules[1].has_from_net);
	cr_expect_eq(rules[1].from_net.bits, 96 + 24);
	cr_expect_null(rules[1].text);
	cr_expect_str_eq(rules[2].from_table, "ours");
	cr_expect(rules[2].for_any);
	cr_expect_not(rules[3].has_from_net);
	cr_expect_null(rules[3].from_table);
	cr_expect_not(rules[3].for_any);
	case_close(&c);
}

Test(conf, schedules_inherit_downwards)
{
	struct conf_case c;
	const struct conf_schedule *s;

	case_good(&c,
	    "schedule smtp/*.slow.example { parallel 2; retry 10m 1h }\n"
	    "schedule smtp/* { parallel 9; expire 3d; warn 0 }\n"
	    "schedule fax/* { command \"/bin/fax -q\"; idle 5s }\n");
	s = conf_schedule_for(c.conf, SLICE("smtp"), SLICE("a.SLOW.example"));
	cr_expect_eq(s->parallel, 2);
	cr_expect_eq(s->retry_count, 2);
	cr_expect_eq(s->retry_s[0], 600);
	cr_expect_eq(s->retry_s[1], 3600);
	cr_expect_eq(s->expire_s, 3 * 86400);	/* from the clause below */
	cr_expect_eq(s->warn_count, 0);
	cr_expect_eq(s->agents, 50);		/* from the preset */
	cr_expect_null(s->command);
	s = conf_schedule_for(c.conf, SLICE("smtp"), SLICE("fast.example"));
	cr_expect_eq(s->parallel, 9);
	cr_expect_eq(s->retry_count, 5);
	cr_expect_eq(s->retry_s[0], 60);
	s = conf_schedule_for(c.conf, SLICE("fax"), SLICE("x"));
	cr_expect_str_eq(s->command, "/bin/fax -q");
	cr_expect_eq(s->idle_ms, 5000);
	cr_expect_eq(s->parallel, 20);
	s = conf_schedule_for(c.conf, SLICE("local"), SLICE("-"));
	cr_expect_eq(s->parallel, 4);
	cr_expect_eq(s->overfeed, 50);
	s = conf_schedule_for(c.conf, SLICE("never-heard-of"), SLICE(""));
	cr_expect_eq(s->expire_s, 5 * 86400);
	case_close(&c);
}

/* A smart host may have more sessions; what the file says goes before. */
Test(conf, a_smart_host_has_a_schedule_of_its_own)
{
	struct conf_case c;
	const struct conf_schedule *s;

	case_good(&c, "route * via smtp.isp.example:587\n"
	    "route a.example via mx.example\n");
	s = conf_schedule_for(c.conf, SLICE("smtp"),
	    SLICE("[smtp.isp.example]:587"));
	cr_expect_eq(s->parallel, 100);
	cr_expect_eq(s->agents, 100);
	cr_expect_eq(s->overfeed, 20);		/* as any other of smtp */
	s = conf_schedule_for(c.conf, SLICE("smtp"), SLICE("[mx.example]:25"));
	cr_expect_eq(s->parallel, 20);
	s = conf_schedule_for(c.conf, SLICE("smtp"), SLICE("b.example"));
	cr_expect_eq(s->parallel, 20);
	case_close(&c);
	case_good(&c, "route * via smtp.isp.example\n"
	    "schedule smtp/* { parallel 3 }\n");
	s = conf_schedule_for(c.conf, SLICE("smtp"),
	    SLICE("[smtp.isp.example]:25"));
	cr_expect_eq(s->parallel, 3);
	case_close(&c);
}

/* A smart host that answers nobody leaves half of all agents to others. */
Test(conf, smart_hosts_have_half_of_all_agents_at_most)
{
	static const struct {
		const char	*text;
		unsigned	 sessions;
	} rows[] = {
		{ "route * via a.example\n", 100 },
		{ "limit agents 100\nroute * via a.example\n", 50 },
		{ "limit agents 7\nroute * via a.example\n", 3 },
		{ "limit agents 1\nroute * via a.example\n", 1 },
		{ "limit agents 1000\nroute * via a.example\n", 100 },
		{ "route * via a.example from @b.example\n"
		    "route * via c.example\n", 50 },
		/* so many are hosts like others, which share agents 50 */
		{ "limit agents 60\nroute * via a.example from @b.example\n"
		    "route * via c.example\n", 20 },
	};
	const struct conf_schedule *s;
	struct conf_case c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		case_good(&c, rows[i].text);
		s = conf_schedule_for(c.conf, SLICE("smtp"),
		    SLICE("[a.example]:25"));
		cr_expect_eq(s->parallel, rows[i].sessions, "%s: %u",
		    rows[i].text, s->parallel);
		case_close(&c);
	}
}

Test(conf, tables_in_the_file)
{
	struct conf_case c;
	const struct conf_table *table;

	case_good(&c,
	    "table nets {\n\t192.0.2.0/24   # a comment\n"
	    "\t2001:db8::/32; }\n"
	    "table a file:/etc/a\n");
	table = conf_table_find(c.conf, "nets");
	cr_expect_str_eq(table->spec, "inline:\n192.0.2.0/24\n2001:db8::/32\n");
	cr_expect_str_eq(conf_table_find(c.conf, "a")->spec, "file:/etc/a");
	cr_expect_null(conf_table_find(c.conf, "b"));
	case_close(&c);
}

Test(conf, placeholders_are_no_blocks)
{
	struct conf_case c;

	case_good(&c, "mailbox maildir {home}/Maildir\n");
	cr_expect_str_eq(c.conf->mailbox_path, "{home}/Maildir");
	case_close(&c);
	case_good(&c, "mailbox mbox /m/{domain}/{user}.mbox\n");
	cr_expect_str_eq(c.conf->mailbox_path, "/m/{domain}/{user}.mbox");
	case_close(&c);
}

Test(conf, settings_of_old)
{
	struct conf_case c;

	case_good(&c,
	    "# the zmailer.conf of an old system\n"
	    "ZCONFIG=/etc/zmailer/zmailer.conf\n"
	    "MAILBIN=/usr/lib/zmailer\n"
	    "POSTOFFICE=/var/spool/postoffice\n"
	    "LOGDIR=\"$POSTOFFICE/log\"\n"
	    "SMTPOPTIONS=\"-sve -l ${LOGDIR}/smtpserver\"\n"
	    "SCHEDULERDIRHASH=1\t# levels\n"
	    "MAILBOX=/var/spool/mail\n"
	    "LOGLEVEL='$x address: file:'; NOBODY=nobody\n");
	cr_expect_str_eq(c.conf->spool_dir, "/var/spool/postoffice");
	cr_expect_str_eq(c.conf->log_dir, "/var/spool/postoffice/log");
	cr_expect_eq(c.conf->hash_levels, 1);
	cr_expect_str_eq(c.conf->mailbox_path, "/var/spool/mail/{user}");
	cr_expect_str_empty(c.shown.buf);
	case_close(&c);
}

Test(conf, statements_win_over_settings_of_old)
{
	struct conf_case c;

	case_good(&c, "spool /a\nPOSTOFFICE=/b\nLOGDIR=/c\nlog /d\n");
	cr_expect_str_eq(c.conf->spool_dir, "/a");
	cr_expect_str_eq(c.conf->log_dir, "/d");
	case_close(&c);
}

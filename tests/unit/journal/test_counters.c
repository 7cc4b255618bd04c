/* test_counters.c - numbers that processes share
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journal/counters.h"

static char dir[64];
static int fd = -1;

static void
setup(void)
{
	strcpy(dir, "/tmp/zmcountersXXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
}

static void
teardown(void)
{
	char command[100];

	close(fd);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

TestSuite(counters, .init = setup, .fini = teardown);

static void
look_for(const char *line, bool is_wanted)
{
	struct str out = STR_INIT;

	counters_print(&out);
	cr_expect_eq(strstr(out.buf, line) != NULL, is_wanted,
	    "'%s': wanted %d in\n%s", line, is_wanted, out.buf);
	str_release(&out);
}

static void
expect(const char *line)
{
	look_for(line, true);
}

/* An event with up to three pairs; no key ends them. */
static void
happens(enum event_kind kind, const char *key1, const char *value1,
    const char *key2, const char *value2)
{
	const struct counters_pair pairs[] = {
		{ key1, slice_of(value1) }, { key2, slice_of(value2) }
	};

	counters_event(kind, pairs, (key1 != NULL) + (key2 != NULL));
}

Test(counters, nothing_is_counted_without_a_file)
{
	happens(EV_DSN_DROPPED, NULL, NULL, NULL, NULL);
	cr_expect_eq(counters_read(fd), -1);
	expect("zmailer_dsn_dropped_total 0\n");
	look_for("zmailer_dsn_total{", false);
}

/* What happens, and the line that says so. */
Test(counters, events_have_their_numbers)
{
	static const struct {
		enum event_kind	 kind;
		const char	*key1, *value1, *key2, *value2, *line;
	} rows[] = {
		{ EV_DSN_DROPPED, NULL, NULL, NULL, NULL,
		    "zmailer_dsn_dropped_total 1\n" },
		{ EV_DSN_SENT, "code", "5.1.1", NULL, NULL,
		    "zmailer_dsn_total{class=\"5\",subject=\"1\"} 1\n" },
		{ EV_DSN_SENT, "code", "5.1.2", NULL, NULL,
		    "zmailer_dsn_total{class=\"5\",subject=\"1\"} 2\n" },
		{ EV_DSN_SENT, "code", "nonsense", NULL, NULL,
		    "zmailer_dsn_total{class=\"other\",subject=\"other\"} "
		    "1\n" },
		{ EV_MESSAGE_REFUSED, "listener", "127.0.0.1:25", "code",
		    "5.6.0", "zmailer_smtpserver_messages_total{"
		    "result=\"refused\",listener=\"127.0.0.1:25\"} 1\n" },
		{ EV_MESSAGE_REFUSED, "listener", "127.0.0.1:25", "code",
		    "5.6.0", "zmailer_smtpserver_rejects_total{"
		    "stage=\"content\",reason=\"content\"} 2\n" },
		{ EV_MESSAGE_ACCEPTED, "size", "1000", NULL, NULL,
		    "zmailer_smtpserver_messages_total{result=\"accepted\","
		    "listener=\"local\"} 1\n" },
		{ EV_MESSAGE_ACCEPTED, "size", "24", NULL, NULL,
		    "zmailer_smtpserver_bytes_total 1024\n" },
		{ EV_COMMAND_REFUSED, "command", "rcpt to:<a>", "code",
		    "5.7.1", "zmailer_smtpserver_rejects_total{"
		    "stage=\"rcpt\",reason=\"policy\"} 1\n" },
		{ EV_COMMAND_REFUSED, "command", "LHLO", "code", "",
		    "zmailer_smtpserver_rejects_total{"
		    "stage=\"helo\",reason=\"other\"} 1\n" },
		{ EV_AUTH_OK, "mech", "SCRAM-SHA-256", NULL, NULL,
		    "zmailer_smtpserver_auth_total{result=\"ok\","
		    "mechanism=\"SCRAM-SHA-256\"} 1\n" },
		{ EV_TLS_OPEN, "version", "TLSv1.3", NULL, NULL,
		    "zmailer_smtpserver_tls_total{version=\"TLSv1.3\"} 1\n" },
		{ EV_MILTER_FAILED, "milter", "unix:/m", "fail", "accept",
		    "zmailer_milter_failures_total{milter=\"unix:/m\","
		    "action=\"accept\"} 1\n" },
		{ EV_RCPT_OK, "channel", "lmtp", "delay", "5",
		    "zmailer_deliveries_total{result=\"ok\","
		    "channel=\"lmtp\"} 1\n" },
		{ EV_RCPT_OK, "channel", "carrier pigeon", "delay", "100000",
		    "zmailer_deliveries_total{result=\"ok\","
		    "channel=\"other\"} 1\n" },
		{ EV_MESSAGE_DEFERRED, "why", "table-routes", NULL, NULL,
		    "zmailer_router_deferred_total{reason=\"table\"} 1\n" },
		{ EV_MESSAGE_DEFERRED, "why", "tables", NULL, NULL,
		    "zmailer_router_deferred_total{reason=\"other\"} 1\n" },
		{ EV_MESSAGE_ROUTED, "rcpts", "100000", "ms", "7",
		    "zmailer_router_recipients_total 100000\n" },
		{ EV_DAEMON_EXIT, "name", "scheduler", NULL, NULL,
		    "zmailer_router_worker_restarts_total 0\n" },
		{ EV_DAEMON_EXIT, "name", "router worker", NULL, NULL,
		    "zmailer_router_worker_restarts_total 1\n" },
		{ EV_CONF_RELOAD, "file", "/etc/zmailer.conf", NULL, NULL,
		    "zmailer_config_reload_success 1\n" },
		{ EV_CONF_REFUSED, "file", "/etc/zmailer.conf", NULL, NULL,
		    "zmailer_config_reload_success 0\n" },
		{ EV_CONF_RELOAD, "file", "tables of domains", NULL, NULL,
		    "zmailer_config_reload_success 0\n" },
	};

	counters_open(fd);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		happens(rows[i].kind, rows[i].key1, rows[i].value1,
		    rows[i].key2, rows[i].value2);
		expect(rows[i].line);
	}
	expect("delay_seconds_bucket{channel=\"lmtp\",le=\"1.0\"} 0\n");
	expect("delay_seconds_bucket{channel=\"lmtp\",le=\"5.0\"} 1\n");
	expect("delay_seconds_bucket{channel=\"other\",le=\"86400.0\"} 0\n");
	expect("delay_seconds_bucket{channel=\"other\",le=\"+Inf\"} 1\n");
	expect("router_duration_seconds_bucket{le=\"0.005\"} 0\n");
	expect("router_duration_seconds_bucket{le=\"0.025\"} 1\n");
}

/* The sum of a histogram is collected, and added when the turn ends. */
Test(counters, sums_come_with_the_flush)
{
	counters_open(fd);
	happens(EV_RCPT_OK, "channel", "lmtp", "delay", "5");
	happens(EV_RCPT_OK, "channel", "lmtp", "delay", "7");
	happens(EV_RCPT_OK, "channel", "smtp", "delay", "soon");
	counters_tell(TALLY_COMMAND, SLICE(""), 1500);
	expect("delay_seconds_count{channel=\"lmtp\"} 2\n");
	expect("delay_seconds_count{channel=\"smtp\"} 0\n");
	expect("delay_seconds_sum{channel=\"lmtp\"} 0.0\n");
	counters_flush();
	counters_flush();
	expect("delay_seconds_sum{channel=\"lmtp\"} 12.0\n");
	expect("zmailer_smtpserver_command_duration_seconds_sum 0.0015\n");
}

Test(counters, what_no_event_stands_for)
{
	counters_open(fd);
	counters_tally(TALLY_LOOKUP_FOUND);
	counters_tally(TALLY_LOOKUP_TROUBLE);
	counters_limit("recipients");
	counters_limit("a limit that has no name");
	counters_tell(TALLY_SESSIONS, SLICE(""), 12);
	counters_tell(TALLY_SESSIONS, SLICE(""), 3);
	counters_tell(TALLY_MILTER, SLICE("inet:127.0.0.1:1"), 2000000);
	cr_assert_eq(counters_read(fd), 0);
	expect("zmailer_table_lookups_total{result=\"found\"} 1\n");
	expect("zmailer_table_lookups_total{result=\"none\"} 0\n");
	expect("zmailer_table_lookups_total{result=\"trouble\"} 1\n");
	expect("zmailer_limit_hits_total{limit=\"recipients\"} 1\n");
	expect("zmailer_limit_hits_total{limit=\"other\"} 1\n");
	expect("zmailer_smtpserver_sessions 3\n");
	expect("zmailer_milter_duration_seconds_bucket{"
	    "milter=\"inet:127.0.0.1:1\",le=\"5.0\"} 1\n");
}

/* Names are learned up to a bound; those that are too many share a number,
 * and hostile bytes do not leave their label. */
Test(counters, names_that_are_learned_are_bounded)
{
	char name[80];

	counters_open(fd);
	happens(EV_SESSION_OPEN, "listener", "a\"b\\c\nd\x1b", NULL, NULL);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "127.0.0.%d:25", i);
		happens(EV_SESSION_OPEN, "listener", name, NULL, NULL);
	}
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	happens(EV_SESSION_OPEN, "listener", name, NULL, NULL);
	expect("zmailer_smtpserver_connections_total{result=\"accepted\","
	    "listener=\"a\\\"b\\\\c?d?\"} 1\n");
	expect("{result=\"accepted\",listener=\"127.0.0.12:25\"} 1\n");
	look_for("127.0.0.13:25", false);
	expect("{result=\"accepted\",listener=\"other\"} 88\n");
}

/* Every metric has a type and a word of help, and each name comes once. */
Test(counters, the_table_is_whole)
{
	struct counters_about about, other;
	unsigned count = 0;

	for (; counters_about(count, &about); count++) {
		cr_expect(about.text[0] != '\0', "%s", about.name);
		cr_expect(about.type[0] != '\0', "%s", about.name);
		for (unsigned i = 0; i < count; i++) {
			cr_assert(counters_about(i, &other));
			cr_expect_str_neq(other.name, about.name);
		}
		cr_assert(counters_about(count, &about));
	}
	cr_expect_gt(count, 40);
}

Test(counters, processes_add_to_the_same_numbers)
{
	pid_t pid;
	int status;

	counters_open(fd);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 1000; i++)
			happens(EV_SESSION_OPEN, "listener", "here:25", NULL,
			    NULL);
		_exit(0);
	}
	for (int i = 0; i < 1000; i++)
		happens(EV_SESSION_OPEN, "listener", "here:25", NULL, NULL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	expect("{result=\"accepted\",listener=\"here:25\"} 2000\n");
	counters_open(-1);
	counters_open(fd);		/* a restart goes on */
	expect("{result=\"accepted\",listener=\"here:25\"} 2000\n");
}

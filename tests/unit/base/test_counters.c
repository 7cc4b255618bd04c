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

#include "base/counters.h"

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
expect(const char *line)
{
	struct str out = STR_INIT;

	counters_print(&out);
	cr_expect_not_null(strstr(out.buf, line), "no '%s' in\n%s", line,
	    out.buf);
	str_release(&out);
}

Test(counters, nothing_is_counted_without_a_file)
{
	counters_event(EV_DSN_SENT);
	cr_expect_eq(counters_read(fd), -1);
	expect("zmailer_dsn_total{class=\"sent\"} 0\n");
}

Test(counters, kinds_channels_sums_and_spans)
{
	counters_open(fd);
	counters_event(EV_DSN_SENT);
	counters_event(EV_MESSAGE_REFUSED);	/* two rows */
	counters_pair(EV_RCPT_OK, "channel", SLICE("lmtp"));
	counters_pair(EV_RCPT_OK, "channel", SLICE("carrier pigeon"));
	counters_pair(EV_RCPT_OK, "delay", SLICE("5"));
	counters_pair(EV_RCPT_OK, "delay", SLICE("100000"));
	counters_pair(EV_RCPT_OK, "delay", SLICE("soon"));
	counters_pair(EV_MESSAGE_ACCEPTED, "size", SLICE("1000"));
	counters_pair(EV_MESSAGE_ACCEPTED, "size", SLICE("24"));
	counters_event(EV_MESSAGE_DEFERRED);
	counters_pair(EV_MESSAGE_DEFERRED, "why", SLICE("table-routes"));
	counters_pair(EV_MESSAGE_DEFERRED, "why", SLICE("tables"));
	counters_pair(EV_MESSAGE_ROUTED, "rcpts", SLICE("100000"));
	counters_pair(EV_DAEMON_EXIT, "name", SLICE("scheduler"));
	counters_tally(TALLY_LOOKUP_FOUND);
	counters_tally(TALLY_LOOKUP_TROUBLE);
	cr_assert_eq(counters_read(fd), 0);
	expect("zmailer_dsn_total{class=\"sent\"} 1\n");
	expect("zmailer_smtpserver_messages_total{result=\"refused\"} 1\n");
	expect("zmailer_smtpserver_rejects_total{stage=\"content\"} 1\n");
	expect("zmailer_deliveries_total{result=\"ok\",channel=\"lmtp\"} 1");
	expect("zmailer_deliveries_total{result=\"ok\",channel=\"other\"} 1");
	expect("delay_seconds_bucket{le=\"1.0\"} 0\n");
	expect("delay_seconds_bucket{le=\"5.0\"} 1\n");
	expect("delay_seconds_bucket{le=\"+Inf\"} 2\n");
	expect("zmailer_delivery_delay_seconds_sum 100005\n");
	expect("zmailer_smtpserver_bytes_total 1024\n");
	expect("zmailer_router_deferred_total 1\n");
	expect("zmailer_router_deferred_why_total{why=\"table\"} 1\n");
	expect("zmailer_router_deferred_why_total{why=\"hook\"} 0\n");
	expect("zmailer_router_recipients_total 100000\n");
	expect("zmailer_router_worker_restarts_total 0\n");
	expect("zmailer_table_lookups_total{result=\"found\"} 1\n");
	expect("zmailer_table_lookups_total{result=\"none\"} 0\n");
	expect("zmailer_table_lookups_total{result=\"trouble\"} 1\n");
}

Test(counters, processes_add_to_the_same_numbers)
{
	pid_t pid;
	int status;

	counters_open(fd);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 1000; i++)
			counters_event(EV_DSN_SENT);
		_exit(0);
	}
	for (int i = 0; i < 1000; i++)
		counters_event(EV_DSN_SENT);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	expect("zmailer_dsn_total{class=\"sent\"} 2000\n");
	counters_open(-1);
	counters_open(fd);		/* a restart goes on */
	expect("zmailer_dsn_total{class=\"sent\"} 2000\n");
}

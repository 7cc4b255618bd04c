/* test_verbs.c - start, status, reload, stop: words and exit statuses
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "instance.h"

#define PRIVATE "user smtpserver -\nuser router -\nuser scheduler -\n" \
	"user agent -\n"
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static struct instance in;
static struct str out = STR_INIT;
static bool is_running;

static void
setup(void)
{
	instance_make(&in);
}

static void
teardown(void)
{
	if (is_running)
		instance_zmailer(&in, WORDS("stop"), &out);
	str_release(&out);
	instance_remove(&in);
}

TestSuite(verbs, .init = setup, .fini = teardown, .timeout = 60);

static void
expect(const char *const words[], int status, const char *text)
{
	instance_says(&in, words, &out, status, text);
}

static void
start(void)
{
	is_running = true;
	expect(WORDS("start"), EX_OK, "zmailer runs, pid ");
}

Test(verbs, a_day_of_an_instance)
{
	expect(WORDS("status"), 3, "does not run");
	expect(WORDS("stop"), EX_OK, "does not run");
	expect(WORDS("reload"), EX_UNAVAILABLE, "does not run");
	start();
	expect(WORDS("start"), EX_TEMPFAIL, "is in use (pid ");
	expect(WORDS("run"), EX_TEMPFAIL, "is in use (pid ");
	expect(WORDS("status"), EX_OK, "smtpserver  ready");
	expect(WORDS("status", "--json"), EX_OK, "{\"v\":1,\"status\":\"ok\"");
	expect(WORDS("restart"), EX_OK, "zmailer runs, pid ");
	expect(WORDS("stop"), EX_OK, "");
	expect(WORDS("status", "--json"), 3, "{\"v\":1,\"status\":\"down\"");
	expect(WORDS("events", "-n", "1"), EX_OK, "daemon.stop");
}

Test(verbs, start_says_why_it_failed)
{
	setenv("TESTD_FAIL", "router", 1);
	expect(WORDS("start"), EX_UNAVAILABLE, "told to fail");
	expect(WORDS("status"), 3, "does not run");
}

Test(verbs, reload_refuses_a_bad_file_without_a_signal)
{
	start();
	instance_configure(&in, "two.test", PRIVATE "nonsense\n");
	expect(WORDS("reload"), EX_CONFIG, "unknown statement");
	instance_configure(&in, "two.test", PRIVATE "hash 1\n");
	expect(WORDS("reload"), EX_CONFIG, "hash changed");
	expect(WORDS("status"), 1, "hash changed");
	instance_configure(&in, "two.test", PRIVATE);
	expect(WORDS("reload"), EX_OK, "reloaded");
	instance_expect(&in, "run/facts", "reload two.test", 3);
	instance_expect(&in, "run/facts", "reload", 3);
}

Test(verbs, status_warns_of_what_waits_for_a_person)
{
	static const struct {
		const char *file;
		int status;
		const char *text;
	} rows[] = {
		{ "router/1234", 0, "router 1 " },
		{ "router.3/1236", 0, "router 2 " },
		{ "queue/1235", 0, "queue 1 " },
		{ "deferred/1234.dns", 1, "deferred 1 " },
		{ "postman/9.broken", 1, "postman 1 " },
	};
	char path[400];

	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", in.spool, rows[i].file);
		file = fopen(path, "w");
		cr_assert_not_null(file, "%s", path);
		fclose(file);
		expect(WORDS("status"), rows[i].status, rows[i].text);
	}
}

Test(verbs, status_is_critical_while_a_daemon_is_away)
{
	start();
	setenv("TESTD_FAIL", "router", 1);
	expect(WORDS("restart"), EX_UNAVAILABLE, "told to fail");
	unsetenv("TESTD_FAIL");
	start();
	kill(instance_child(&in, "scheduler"), SIGKILL);
	instance_expect(&in, "run/zmailer.state", "\"restarts\":1", 1);
	instance_child(&in, "scheduler");
	expect(WORDS("status"), 1, "scheduler was restarted");
}

Test(verbs, what_is_not_understood_is_a_usage_error)
{
	expect(WORDS("start", "now"), EX_USAGE, "zmailer help start");
	expect(WORDS("trace"), EX_USAGE, "zmailer help trace");
	expect(WORDS("trace", "bob"), EX_USAGE, "neither a spool id");
	expect(WORDS("trace", "bob@x.test"), EX_NOINPUT, "log");
	expect(WORDS("status", "-x"), EX_USAGE, "zmailer help status");
	expect(WORDS("events", "-n"), EX_USAGE, "zmailer help events");
}

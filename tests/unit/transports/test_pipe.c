/* test_pipe.c - what a program's end means, and what it is given
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "transports/error/reason.h"
#include "transports/pipe/command.h"
#include "transports/pipe/deliver.h"
#include "transports/pipe/program.h"

static const struct {
	const char	*text;
	const char	*words[5];	/* words[0] NULL: refused */
} split_rows[] = {
	{ "/bin/cat", { "/bin/cat" } },
	{ "|/bin/cat", { "/bin/cat" } },
	{ "| /bin/cat -u  x ", { "/bin/cat", "-u", "x" } },
	{ "a 'b c' \"d e\"", { "a", "b c", "d e" } },
	{ "a b'c'\"d\"e", { "a", "bcde" } },
	{ "a ''", { "a", "" } },
	{ "a \\'b \\\\", { "a", "'b", "\\" } },
	{ "a \"x\\\"y\\\\z\\n\"", { "a", "x\"y\\z\\n" } },
	{ "a $HOME `id` >x ;b", { "a", "$HOME", "`id`", ">x", ";b" } },
	{ "", { NULL } }, { "|", { NULL } }, { "  ", { NULL } },
	{ "''", { NULL } }, { "a 'b", { NULL } }, { "a \"b\\\"", { NULL } },
	{ "a \\", { NULL } }, { "a\nb", { NULL } }, { "a\x01", { NULL } },
};

Test(command, splits_without_a_shell)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(split_rows) / sizeof(split_rows[0]);
	    i++) {
		char **words;
		struct err err;
		int got = command_split(arena, slice_of(split_rows[i].text),
		    &words, &err);
		size_t k = 0;

		cr_expect_eq(got, split_rows[i].words[0] ? 0 : -1, "%s",
		    split_rows[i].text);
		if (got < 0)
			continue;
		for (; k < 5 && split_rows[i].words[k] != NULL; k++) {
			cr_assert(words[k] != NULL);
			cr_expect_str_eq(words[k], split_rows[i].words[k]);
		}
		cr_expect(k == 5 || words[k] == NULL, "%s",
		    split_rows[i].text);
	}
	arena_free(&arena);
}

Test(command, bounds)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	char **words;
	struct err err;

	for (int i = 0; i < COMMAND_WORDS_MAX; i++)
		str_adds(&text, "x ");
	cr_expect_eq(command_split(arena, str_slice(&text), &words, &err), 0);
	str_adds(&text, "x");
	cr_expect_eq(command_split(arena, str_slice(&text), &words, &err),
	    -1);
	str_reset(&text);
	while (text.len <= COMMAND_BYTES_MAX)
		str_addc(&text, 'x');
	cr_expect_eq(command_split(arena, str_slice(&text), &words, &err),
	    -1);
	str_release(&text);
	arena_free(&arena);
}

/* Every exit status has one meaning. */
Test(program, each_status_has_its_verdict)
{
	for (int number = 0; number < 256; number++) {
		struct program_end end = { .how = PROGRAM_EXITED,
		    .number = number, .line = "words" };
		enum verdict_kind want = number == 0 ? VERDICT_DELIVERED :
		    number == EX_TEMPFAIL ? VERDICT_DEFERRED : VERDICT_FAILED;
		static const char class[] = { [VERDICT_DELIVERED] = '2',
		    [VERDICT_DEFERRED] = '4', [VERDICT_FAILED] = '5' };
		struct verdict verdict;

		program_verdict(&end, &verdict);
		cr_expect_eq(verdict.kind, want, "status %d", number);
		cr_expect_eq(verdict.status[0], class[want], "status %d",
		    number);
		cr_expect(strstr(verdict.text, "words"));
	}
}

/* ---- a job, with real programs ----------------------------------------- */

static struct conf conf = { .host = "me.test",
	.timeouts.job_ms = 20000 };
static struct agent_run run;
static struct control_rcpt rcpt;
static struct control_job job;
static struct verdict verdict;
static const char *sender = "a\x1b@src.test", *host = "-";

static void
deliver(const char *command)
{
	char path[] = "/tmp/zm-pipe-XXXXXX";
	int body_fd = mkstemp(path);
	struct err err;

	unlink(path);
	cr_assert_eq(write(body_fd, "hello\n", 6), 6);
	run.conf = &conf;
	run.arena = arena_new();
	rcpt = (struct control_rcpt){ .user = slice_of(command), .uid = -2,
	    .orcpt = SLICE("rfc822;orig+2Binal@x.test") };
	job = (struct control_job){ .id = "0123456789abcd",
	    .sender = slice_of(sender), .host = slice_of(host),
	    .header = SLICE("Subject: s\n"), .rcpts = &rcpt,
	    .rcpt_count = 1, .size_bytes = 17 };
	cr_assert_eq(pipe_start(&run, &err), 0);
	pipe_job(&run, &job, body_fd, &verdict);
	pipe_finish(&run);
	arena_free(&run.arena);
	close(body_fd);
}

static const struct {
	const char		*command;
	enum verdict_kind	 kind;
	const char		*status, *words;
} job_rows[] = {
	{ "|cat", VERDICT_DELIVERED, "2.0.0", "From a_@src.test" },
	{ "/bin/sh -c 'exit 0'", VERDICT_DELIVERED, "2.0.0", "delivered" },
	{ "/bin/sh -c 'cat >/dev/null; echo; echo two words; exit 67'",
	    VERDICT_FAILED, "5.1.1", "status 67: two words" },
	{ "/bin/sh -c 'exit 75'", VERDICT_DEFERRED, "4.3.0", "later" },
	{ "/bin/sh -c 'exit 1'", VERDICT_FAILED, "5.3.0", "status 1" },
	{ "/bin/sh -c 'kill -9 $$'", VERDICT_DEFERRED, "4.3.0", "signal 9" },
	{ "/no/such/program", VERDICT_FAILED, "5.3.5",
	    "/no/such/program: No such file" },
	{ "no-such-program-either", VERDICT_FAILED, "5.3.5", "No such file" },
	{ "'", VERDICT_FAILED, "5.3.5", "open '" },
	{ "/bin/sh -c 'echo $SENDER $RECIPIENT $ZMAILER_ID'",
	    VERDICT_DELIVERED, "2.0.0",
	    "a_@src.test orig+inal@x.test 0123456789abcd" },
	{ "/bin/sh -c 'echo $PATH $SHELL ${PWD:+in} $HOSTILE'",
	    VERDICT_DELIVERED, "2.0.0",
	    "/usr/local/bin:/usr/bin:/bin /bin/sh in" },
	{ "/bin/sh -c 'echo /proc/self/fd/*'", VERDICT_DELIVERED, "2.0.0",
	    "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2" },
	{ "/bin/sh -c 'echo zone $TZ'", VERDICT_DELIVERED, "2.0.0",
	    "zone Europe/Paris" },
	{ "/bin/grep ^Delivered-To", VERDICT_DELIVERED, "2.0.0",
	    "Delivered-To: orig+inal@x.test" },
	{ "/bin/sh -c 'umask'", VERDICT_DELIVERED, "2.0.0", "0077" },
	{ "/bin/sh -c 'head -c 10000000 /dev/zero'", VERDICT_DELIVERED,
	    "2.0.0", "" },
	{ "/bin/sh -c 'kill -PIPE $$; echo ignored'", VERDICT_DEFERRED,
	    "4.3.0", "signal 13" },
	/* a grandchild that keeps the pipe open does not hold us */
	{ "/bin/sh -c 'sleep 600 & echo started $!; exit 0'",
	    VERDICT_DELIVERED, "2.0.0", "started" },
};

Test(pipe, programs_and_their_ends)
{
	setenv("HOSTILE", "seen", 1);
	setenv("TZ", "Europe/Paris", 1);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(job_rows) / sizeof(job_rows[0]); i++) {
		const char *started;

		deliver(job_rows[i].command);
		cr_expect_eq(verdict.kind, job_rows[i].kind, "%s: %s",
		    job_rows[i].command, verdict.text);
		cr_expect_str_eq(verdict.status, job_rows[i].status, "%s",
		    job_rows[i].command);
		cr_expect(strstr(verdict.text, job_rows[i].words), "%s: %s",
		    job_rows[i].command, verdict.text);
		cr_expect(strstr(verdict.text, "seen") == NULL);
		started = strstr(verdict.text, "started ");
		if (started != NULL)
			kill((pid_t)strtol(started + 8, NULL, 10), SIGKILL);
	}
}

/* Run a script that moves the clock by 10,000 s when it has said what it has
 * to say, and then waits. */
static void
deliver_late(const char *script)
{
	char clock[] = "/tmp/zm-clock-XXXXXX", command[400];
	int fd = mkstemp(clock);

	cr_assert_eq(ftruncate(fd, sizeof(int64_t)), 0);
	cr_assert_eq(fchmod(fd, 0666), 0);	/* the program is nobody's */
	close(fd);
	setenv("ZMAILER_TEST_CLOCK", clock, 1);
	snprintf(command, sizeof(command), "/bin/sh -c \"%s; printf "
	    "'\\\\020\\\\047' | dd of=%s conv=notrunc 2>/dev/null; wait; "
	    "sleep 600; echo after\"", script, clock);
	deliver(command);
	unlink(clock);
}

Test(pipe, the_time_is_limited, .timeout = 60)
{
	deliver_late("echo before");
	cr_expect_eq(verdict.kind, VERDICT_DEFERRED);
	cr_expect(strstr(verdict.text, "too long: before"), "%s",
	    verdict.text);
}

Test(pipe, memory_output_and_cores_are_limited)
{
	struct rlimit cores = { 1 << 20, 1 << 20 };

	(void)setrlimit(RLIMIT_CORE, &cores);
	conf.limits.program_memory_bytes = 512 << 20;
	deliver("/bin/sh -c 'echo $(ulimit -v) $(ulimit -c)'");
	/* qemu keeps a limit on memory from the programs that it runs */
	cr_expect(strstr(verdict.text, getenv("EMULATOR") == NULL ?
	    ": 524288 0" : ": unlimited 0"), "%s", verdict.text);
	conf.limits.program_memory_bytes = 0;
	conf.limits.program_output_bytes = 1000;
	deliver("/bin/sh -c 'echo words; head -c 100000 /dev/zero; "
	    "exec sleep 600'");
	cr_expect_eq(verdict.kind, VERDICT_DEFERRED);
	cr_expect(strstr(verdict.text, "wrote too much: words"), "%s",
	    verdict.text);
	deliver("/bin/sh -c 'head -c 900 /dev/zero'");
	cr_expect_eq(verdict.kind, VERDICT_DELIVERED, "%s", verdict.text);
}

/* Is it there, and no zombie that waits for its new parent? */
static bool
is_running(pid_t pid)
{
	char path[60], text[200] = "";
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	return n > 0 && strstr(text, ") Z") == NULL;
}

Test(pipe, what_it_started_ends_with_it, .timeout = 60)
{
	int64_t until_ms;
	const char *said;
	pid_t pid;

	deliver_late("sleep 600 & echo started $!");
	said = strstr(verdict.text, "started ");
	cr_assert(said != NULL, "%s", verdict.text);
	pid = (pid_t)strtol(said + 8, NULL, 10);
	until_ms = clock_steady_ms() + 20000;
	while (is_running(pid) && clock_steady_ms() < until_ms)
		usleep(10000);
	cr_expect(!is_running(pid), "%ld runs on", (long)pid);
	if (is_running(pid))
		kill(pid, SIGKILL);
}

Test(pipe, the_null_sender_has_a_name)
{
	sender = "";
	deliver("/bin/sh -c 'echo $SENDER'");
	cr_expect(strstr(verdict.text, ": MAILER-DAEMON"), "%s",
	    verdict.text);
}

/* `deliver pipe ... as root` cannot be meant. */
Test(pipe, root_runs_nothing_for_strangers)
{
	struct conf_domain domain = { .deliver = { .host = "=d",
	    .command = "/bin/echo it ran", .account = "root" } };

	if (geteuid() != 0)
		cr_skip("not root");
	conf.domains = &domain;
	conf.domain_count = 1;
	host = "=d";
	deliver("x@d.test");
	cr_expect_eq(verdict.kind, VERDICT_DEFERRED);
	cr_expect(strstr(verdict.text, "root runs no programs"), "%s",
	    verdict.text);
}

Test(pipe, root_becomes_nobody)
{
	if (geteuid() != 0)
		cr_skip("not root");
	deliver("/bin/sh -c 'id -u; id -G; exit 1'");
	cr_expect_eq(verdict.kind, VERDICT_FAILED);
	cr_expect(strstr(verdict.text, ": 65534"), "%s", verdict.text);
	cr_expect_eq(geteuid(), 0);
}

/* ---- error ------------------------------------------------------------- */

static const struct { const char *host, *status, *words; } reason_rows[] = {
	{ "nouser", "5.1.1", "no such user here: bob" },
	{ "loopexceeded", "5.4.6", "too many Received fields" },
	{ "norecipients", "5.5.1", "no recipients" },
	{ "gone+20for+20good", "5.7.1", "gone for good" },
	{ "5.1.6+20moved+20away", "5.1.6", "moved away" },
	{ "5.1.6", "5.1.6", "refused by a route" },
	{ "5.x.y+20z", "5.7.1", "5.x.y z" },
	{ "4.1.1+20z", "5.7.1", "4.1.1 z" },
	{ "", "5.7.1", "refused by a route" },
	{ "bad+0Axtext", "5.7.1", "bad+0Axtext" },
};

Test(error, the_host_is_the_reason)
{
	for (size_t i = 0; i < sizeof(reason_rows) / sizeof(reason_rows[0]);
	    i++) {
		reason_verdict(slice_of(reason_rows[i].host), SLICE("bob"),
		    &verdict);
		cr_expect_eq(verdict.kind, VERDICT_FAILED);
		cr_expect_str_eq(verdict.status, reason_rows[i].status, "%s",
		    reason_rows[i].host);
		cr_expect(slice_starts(slice_of(verdict.text),
		    reason_rows[i].words), "%s: %s", reason_rows[i].host,
		    verdict.text);
	}
}

/* router.c - what the router costs without its disk: lookups, plans, lists
 *
 * Rates are by CPU time of the process: others on the machine do not count.
 *
 * usage: router tables|plan|headers|hooks|list [COUNT]
 *
 *	tables	a table of COUNT (1,000,000) lines in each type: time to open
 *		it, lookups a second, memory of the process
 *	plan	COUNT (200,000) small messages planned in memory: to another
 *		system, to a mailbox, by an alias
 *	headers	COUNT messages (100,000) with a header as lists and services
 *		write it (24 fields, 2.3 KB), by what header-check says
 *	hooks	COUNT messages (20,000) asked of scripts
 *	list	one message to an alias that includes a file of COUNT
 *		(1,000,000) members: members a second, memory
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mail/table/build.h"
#include "mail/table/table.h"
#include "router/message/message.h"

static char dir[] = "/tmp/zm-bench-XXXXXX";

static const char *
at(const char *name)
{
	static char text[4][256];
	static unsigned turn;
	char *out = text[turn++ % 4];

	snprintf(out, sizeof(text[0]), "%s/%s", dir, name);
	return out;
}

static double
cpu_s(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	    (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static double
seconds_since(double from)
{
	double s = cpu_s() - from;

	return s > 0 ? s : 0.000001;
}

/* A line of /proc/self/status in MB. */
static double
memory_mb(const char *key)
{
	char line[256];
	double kb = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			kb = atof(line + strlen(key) + 1);
	if (file != NULL)
		fclose(file);
	return kb / 1024;
}

static void
write_lines(const char *name, const char *format, unsigned long count)
{
	struct timespec times[2] = { { .tv_sec = 1700000000 },
		{ .tv_sec = 1700000000 } };
	FILE *file = fopen(at(name), "w");

	if (file == NULL) {
		perror(name);
		exit(1);
	}
	for (unsigned long i = 0; i < count; i++)
		fprintf(file, format, i, i);
	fclose(file);
	utimensat(AT_FDCWD, at(name), times, 0);
	chmod(at(name), 0644);
}

/* ---- tables ---------------------------------------------------------- */

static void
ask_all(const char *label, const char *spec, unsigned long count)
{
	struct table *table = table_new("bench", spec);
	double before = memory_mb("RssAnon:"), map = memory_mb("RssFile:");
	double from = cpu_s();
	unsigned long asked = 0, found = 0;
	uint32_t x = 1;
	struct err err;
	double opened;

	if (table_lookup(table, SLICE("user1@d.test"), NULL, NULL, &err) < 0)
		fprintf(stderr, "%s: %s\n", label, err.text);
	opened = seconds_since(from);
	from = cpu_s();
	while (asked < 2000000) {
		char key[32];
		int n;

		x = x * 1664525u + 1013904223u;
		n = snprintf(key, sizeof(key), "user%lu@d.test",
		    (unsigned long)x % (count * 2));
		found += table_lookup(table, (struct slice){ key, (size_t)n },
		    NULL, NULL, &err) == TABLE_FOUND;
		asked++;
	}
	printf("%-22s open %6.3f s  %9.0f lookups/s  %6.1f MB own, "
	    "%6.1f MB mapped  (%.0f%% found)\n", label, opened,
	    (double)asked / seconds_since(from), memory_mb("RssAnon:") -
	    before, memory_mb("RssFile:") - map, 100.0 * (double)found /
	    (double)asked);
	table_free(&table);
}

/* In a process of its own: what one left in memory is not the next's. */
static void
ask_alone(const char *label, const char *spec, unsigned long count)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		ask_all(label, spec, count);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void
bench_tables(unsigned long count)
{
	static const char *const types[] = { "cdb", "lmdb" };
	char spec[300], target[64];
	size_t entries;
	double from;
	struct err err;

	write_lines("people", "user%lu@d.test: box%lu@inside.example.org\n",
	    count);
	snprintf(spec, sizeof(spec), "file:%s", at("people"));
	ask_alone("file, in memory", spec, count);
	table_share(dir, 1);
	ask_alone("file, first to share", spec, count);
	ask_alone("file, shared", spec, count);
	table_share(NULL, 0);
	for (size_t i = 0; i < 2; i++) {
		snprintf(target, sizeof(target), "people.%s", types[i]);
		snprintf(spec, sizeof(spec), "%s:%s", types[i], at(target));
		from = cpu_s();
		if (table_build(spec, NULL, &entries, &err) !=
		    TABLE_BUILD_DONE) {
			printf("%s: %s\n", types[i], err.text);
			continue;
		}
		printf("%s: built in %.2f s\n", types[i],
		    seconds_since(from));
		ask_alone(types[i], spec, count);
	}
}

/* ---- plans ----------------------------------------------------------- */

static struct conf *
conf_of(const char *text)
{
	struct arena *arena = arena_new();
	struct str shown = STR_INIT;
	struct conf_report report;
	struct conf *conf = conf_parse("bench", slice_of(text), arena,
	    &report);

	if (conf == NULL) {
		conf_report_print(&report, "bench", &shown);
		fputs(shown.buf, stderr);
		exit(1);
	}
	return conf;
}

static void
message_to(struct str *out, const char *rcpt)
{
	str_reset(out);
	str_addf(out, "id 01jd3x8k2mc4n7\nrcvdfrom c1.test ([192.0.2.1])\n"
	    "bodytype 8BITMIME\nwith ESMTP\nfrom <alice@src.test>\n"
	    "to <%s>\nenv-end\nFrom: alice@src.test\nTo: <%s>\n"
	    "Subject: bench\nMessage-Id: <1@src.test>\n"
	    "Date: Fri, 21 Nov 2026 06:00:00 +0000\n\n", rcpt, rcpt);
	for (int i = 0; i < 50; i++)
		str_adds(out, "all work and no play makes a dull message, "
		    "and a line of seventy-six\n");
}

static void
plan_file(const char *label, struct router *router, struct slice file,
    unsigned long count)
{
	struct message message;
	unsigned long planned = 0;
	struct err err = { "" };
	double from, s;

	message_init(&message);
	from = cpu_s();
	for (unsigned long i = 0; i < count; i++) {
		planned += message_route(&message, router, file, 4711, NULL,
		    &err) == MESSAGE_ROUTED;
		message_reset(&message);
	}
	s = seconds_since(from);
	printf("%-22s %9.0f messages/s  %6.2f us%s%s\n", label,
	    (double)count / s, s * 1e6 / (double)count, planned == count ?
	    "" : " NOT ALL PLANNED ", err.text);
	message_release(&message);
}

static void
plan(const char *label, struct router *router, const char *rcpt,
    unsigned long count)
{
	struct str file = STR_INIT;

	message_to(&file, rcpt);
	plan_file(label, router, str_slice(&file), count);
	str_release(&file);
}

static void
bench_plan(unsigned long count)
{
	struct str text = STR_INIT;
	struct router *router;

	write_lines("aliases", "user%lu: box%lu, second@far.test\n", 10000);
	str_addf(&text, "host mx.test\ntable aliases file:%s\n"
	    "domain mx.test { users any }\n", at("aliases"));
	router = router_new(conf_of(text.buf));
	plan("to another system", router, "bob@far.test", count);
	plan("to a mailbox", router, "bob@mx.test", count);
	plan("by an alias", router, "user77@mx.test", count);
	plan("user+detail", router, "bob+list@mx.test", count);
	router_free(&router);
	str_release(&text);
}

/* ---- headers --------------------------------------------------------- */

/* A header as mailing lists and services write it. */
static void
message_with_fields(struct str *out, const char *date)
{
	str_adds(out, "id 01jd3x8k2mc4n7\nrcvdfrom c1.test ([192.0.2.1])\n"
	    "bodytype 8BITMIME\nwith ESMTP\nfrom <alice@src.test>\n"
	    "to <bob@far.test>\nenv-end\n");
	for (int i = 0; i < 5; i++)
		str_addf(out, "Received: from host%d.example.org "
		    "(host%d.example.org [192.0.2.%d])\n"
		    "\tby mx%d.example.net (Service) with ESMTPS id 4bXyZ%d\n"
		    "\tfor <bob@far.test>; Fri, 21 Nov 2026 06:00:0%d +0000\n",
		    i, i, i, i, i, i);
	for (int i = 0; i < 8; i++)
		str_addf(out, "X-Service-Field-%d: all work and no play makes"
		    "\n\ta dull field, and a line more of it\n", i);
	str_addf(out, "From: \"Alice, of the service\" <alice@src.test>\n"
	    "To: Bob <bob@far.test>, \"C. D.\" <c@far.test>,\n"
	    "\tteam: e@far.test, f@far.test;\nCc: g@far.test (G)\n"
	    "Reply-To: <list@src.test>\nSubject: =?utf-8?q?bench?=\n"
	    "Date: %s\nMessage-Id: <1.2.3@src.test>\n"
	    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
	    "List-Id: <list.src.test>\nList-Unsubscribe: "
	    "<https://src.test/u?x=1>\n\nhello\n", date);
}

static void
bench_headers(unsigned long count)
{
	static const struct { const char *label, *words, *date; } rows[] = {
		{ "header-check off", "header-check off\n",
		    "Fri, 21 Nov 2026 06:00:00 +0000" },
		{ "header-check note", "header-check note\n",
		    "Fri, 21 Nov 2026 06:00:00 +0000" },
		{ "a date that is wrong", "header-check note\n",
		    "21. November 2026" },
	};

	for (size_t turn = 0; turn < 3 * sizeof(rows) / sizeof(rows[0]);
	    turn++) {
		size_t i = turn % (sizeof(rows) / sizeof(rows[0]));
		struct str text = STR_INIT, file = STR_INIT;
		struct router *router;

		str_addf(&text, "host mx.test\ndomain mx.test { users any }\n"
		    "%s", rows[i].words);
		message_with_fields(&file, rows[i].date);
		router = router_new(conf_of(text.buf));
		plan_file(rows[i].label, router, str_slice(&file), count);
		router_free(&router);
		str_release(&text);
		str_release(&file);
	}
}

/* ---- a script ---------------------------------------------------------- */

static const struct { const char *label, *text; } scripts[] = {
	{ "no function", "-- nothing\n" },
	{ "route", "function route(addr, msg)\n"
	    "\tif addr:match('@other.test$') then return zm.via('x') end\n"
	    "end\n" },
	{ "route with a lookup", "function route(addr, msg)\n"
	    "\tif zm.lookup('vips', addr) then return zm.via('x') end\n"
	    "end\n" },
	{ "on_header that adds", "function on_header(header, msg)\n"
	    "\tif header:get('Subject') == 'bench' then "
	    "header:add('X-A', 'b') end\n"
	    "end\n" },
};

static double
cpu_of(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* The script's process counts, too: it has ended when the router is gone. */
static void
plan_hooked(const char *label, const char *script, unsigned long count)
{
	struct str text = STR_INIT;
	struct router *router;
	double before = cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);

	str_adds(&text, "host mx.test\ndomain mx.test { users any }\n"
	    "table vips { boss@far.test gold }\n");
	if (script != NULL) {
		write_lines("hooks.lua", script, 1);
		str_addf(&text, "hooks %s\n", at("hooks.lua"));
	}
	router = router_new(conf_of(text.buf));
	plan(label, router, "bob@far.test", count);
	router_free(&router);
	printf("%-22s %9.1f us of CPU a message, both processes\n", "",
	    (cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN) - before) * 1e6 /
	    (double)count);
	str_release(&text);
}

static void
bench_hooks(unsigned long count)
{
	plan_hooked("no script", NULL, count);
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		plan_hooked(scripts[i].label, scripts[i].text, count);
}

/* ---- a list ------------------------------------------------------------ */

static int
sink_write(void *context, struct slice bytes, struct err *err)
{
	return write(*(int *)context, bytes.p, bytes.n) == (ssize_t)bytes.n ?
	    0 : err_sys(err, "write");
}

static int
sink_back(void *context, uint64_t bytes, struct err *err)
{
	return ftruncate(*(int *)context, (off_t)bytes) == 0 &&
	    lseek(*(int *)context, (off_t)bytes, SEEK_SET) >= 0 ? 0 :
	    err_sys(err, "shorten");
}

static int
sink_first(void *context, struct slice line, struct err *err)
{
	return pwrite(*(int *)context, line.p, line.n, 0) ==
	    (ssize_t)line.n ? 0 : err_sys(err, "write");
}

static void
bench_list(unsigned long count)
{
	int fd = open(at("plan"), O_RDWR | O_CREAT, 0600);
	const struct control_sink sink = { &fd, sink_write, sink_back,
		sink_first };
	struct stat st;
	struct message message;
	struct str text = STR_INIT, file = STR_INIT;
	struct router *router;
	struct err err = { "" };
	enum message_fate fate;
	double from;
	double s;

	write_lines("members", "member%lu@domain%lu.example.org\n", count);
	str_addf(&text, "list: :include:%s\nowner-list: alice\n"
	    "# %%lu %%lu\n", at("members"));
	write_lines("aliases", text.buf, 1);
	str_reset(&text);
	str_addf(&text, "host mx.test\ntable aliases file:%s\n"
	    "domain mx.test { users any }\nlimit expansion %lu\n",
	    at("aliases"), count + 10);
	router = router_new(conf_of(text.buf));
	message_init(&message);
	message_to(&file, "list@mx.test");
	from = cpu_s();
	fate = message_route(&message, router, str_slice(&file), 4711, &sink,
	    &err);
	s = seconds_since(from);
	fstat(fd, &st);
	printf("list of %lu: %s %s %.2f s, %.0f members/s, peak %.0f MB, "
	    "control file %.0f MB\n", count, fate == MESSAGE_ROUTED ?
	    "planned" : "NOT PLANNED", err.text, s, (double)count / s,
	    memory_mb("VmHWM:"), (double)st.st_size / 1e6);
	close(fd);
	message_release(&message);
	router_free(&router);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	char command[64];
	int status = 0;

	if (mkdtemp(dir) == NULL)
		return 1;
	if (strcmp(what, "tables") == 0)
		bench_tables(count ? count : 1000000);
	else if (strcmp(what, "plan") == 0)
		bench_plan(count ? count : 200000);
	else if (strcmp(what, "headers") == 0)
		bench_headers(count ? count : 100000);
	else if (strcmp(what, "hooks") == 0)
		bench_hooks(count ? count : 20000);
	else if (strcmp(what, "list") == 0)
		bench_list(count ? count : 1000000);
	else
		status = 64;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command) != 0 ? 1 : status;
}

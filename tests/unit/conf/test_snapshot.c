/* test_snapshot.c - what was taken over, and who is believed about it
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/read/read.h"
#include "conf/snapshot/snapshot.h"
#include "conf_case.h"

#define HEAD "{\"zmailer-snapshot\":1,\"pid\":12,\"started\":3,\"t\":4," \
    "\"conf\":\"/e/z\"}\n"
#define FILE_Z "{\"file\":\"/e/z\",\"bytes\":7}\nhost a\n\n"

static char snapshot_path[128], conf_path[128];

/* An instance's directory: zmailer.conf includes more.conf, both taken over;
 * then the first is broken. */
static void
taken_over(struct conf_case *c)
{
	struct str text = STR_INIT;
	struct err err = { "" };

	*c = (struct conf_case){ .shown = STR_INIT };
	case_directory();
	snprintf(snapshot_path, sizeof(snapshot_path), "%s/" SNAPSHOT_NAME,
	    case_dir);
	case_file("more.conf", "size 7M\n");
	str_addf(&text, "run %s\nspool %s/spool\nhost taken.example\n"
	    "cluster mx { node mx1; self mx1 }\n"
	    "include more.conf\n", case_dir, case_dir);
	snprintf(conf_path, sizeof(conf_path), "%s",
	    case_file("zmailer.conf", text.buf));
	c->arena = arena_new();
	c->conf = conf_load(conf_path, c->arena, &c->report);
	cr_assert_not_null(c->conf);
	cr_assert_eq(conf_snapshot_write(c->conf, &err), 0, "%s", err.text);
	case_file("more.conf", "size 8M\n");
	str_adds(&text, "host edited.example\nfrobnicate\n");
	case_file("zmailer.conf", text.buf);
	str_release(&text);
}

static void
taken_away(struct conf_case *c)
{
	case_close(c);
	case_directory_remove();
}

/* "taken", "edited" (the file was mended), or "" for an error. */
static const char *
host_in_force(const struct conf_case *c)
{
	static char host[64];
	struct conf_report report;
	struct conf *conf = conf_load_in_force(conf_path, c->arena, &report);

	snprintf(host, sizeof(host), "%s", conf == NULL ? "" : conf->host);
	conf_free(&conf);
	return host;
}

Test(snapshot, what_was_taken_over_is_in_force_whatever_the_files_hold)
{
	struct conf_case c;
	struct conf *conf;
	struct conf_report report;
	char name[160];

	taken_over(&c);
	cr_expect_null(conf_load(conf_path, c.arena, &report));
	conf = conf_load_in_force(conf_path, c.arena, &report);
	cr_assert_not_null(conf);
	cr_expect_str_eq(conf->host, "taken.example");
	cr_expect_eq(conf->limits.size_bytes, 7u << 20);
	cr_expect_str_eq(conf->path, conf_path);
	cr_expect_str_eq(conf->read_from, snapshot_path);
	cr_expect_eq(conf_files_look(conf), CONF_FILES_BROKEN);
	conf_free(&conf);
	/* daemons are given the snapshot itself */
	conf = conf_load(snapshot_path, c.arena, &report);
	cr_assert_not_null(conf);
	cr_expect_str_eq(conf->path, conf_path);
	snprintf(name, sizeof(name), "%s/more.conf", case_dir);
	cr_expect_str_eq(conf_path_of(c.arena, snapshot_path), conf_path);
	cr_expect_eq(unlink(name), 0);
	conf_free(&conf);
	conf = conf_load(snapshot_path, c.arena, &report);
	cr_assert_not_null(conf);
	conf_free(&conf);
	taken_away(&c);
}

/* What one message needs is told as it is, from the first line alone. */
Test(snapshot, one_message_reads_its_first_line)
{
	struct conf_brief brief = { .path = NULL };
	struct conf_case c;

	taken_over(&c);
	cr_assert(conf_brief_in_force(conf_path, c.arena, &brief));
	cr_expect_str_eq(brief.path, conf_path);
	cr_expect_str_eq(brief.host, "taken.example");
	cr_expect_str_eq(brief.spool_dir, c.conf->spool_dir);
	cr_expect_str_eq(brief.run_dir, c.conf->run_dir);
	cr_expect_str_eq(brief.log_dir, c.conf->log_dir);
	cr_expect_eq(brief.hash_levels, c.conf->hash_levels);
	cr_expect_eq(brief.sync, (unsigned)c.conf->sync);
	cr_expect_eq(brief.size_bytes, 7u << 20);
	cr_expect_eq(brief.header_bytes, c.conf->limits.header_bytes);
	cr_expect_eq(brief.received, c.conf->limits.received);
	cr_expect_str_eq(brief.node, c.conf->cluster.node_digits);
	cr_expect_eq(strlen(brief.node), 2);
	/* daemons' children are given the snapshot itself */
	cr_expect(conf_brief_in_force(snapshot_path, c.arena, &brief));
	/* not ours to believe */
	cr_assert_eq(chmod(snapshot_path, 0666), 0);
	cr_expect_not(conf_brief_in_force(conf_path, c.arena, &brief));
	taken_away(&c);
}

/* All of it or nothing; and the word about RUN in the file is no more than a
 * place to look at. */
Test(snapshot, what_one_message_needs_is_whole_or_not_there)
{
	static const struct { const char *from, *to; bool is_there; } rows[] = {
		{ "", "", true },
		{ "\"host\"", "\"hose\"", false },
		{ "\"spool\":\"/", "\"spool\":\"", false },
		{ "\"log\"", "\"lag\"", false },
		{ "\"hash\":", "\"hash\":7", false },
		{ "\"sync\":", "\"sync\":9", false },
		{ "\"size\"", "\"sizes\"", false },
		{ "\"header\":", "\"header\":x", false },
		{ "\"received\":", "\"received\":-", false },
		{ "\"conf\":\"/", "\"conf\":\"/no", false },
		{ "\n", "\r", false },
	};
	struct conf_brief brief;
	struct conf_case c;
	struct str text = STR_INIT, fresh = STR_INIT;

	taken_over(&c);
	cr_assert_eq(conf_read_file(snapshot_path, &text, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *at = strstr(text.buf, rows[i].from);
		int fd = open(snapshot_path, O_WRONLY | O_TRUNC);
		bool is_cut = rows[i].to[0] == '\r';

		cr_assert_not_null(at);
		str_reset(&fresh);
		str_add(&fresh, text.buf, (size_t)(at - text.buf));
		str_adds(&fresh, rows[i].to);
		if (!is_cut)
			str_adds(&fresh, at + strlen(rows[i].from));
		cr_assert_eq(write(fd, fresh.buf, fresh.len),
		    (ssize_t)fresh.len);
		close(fd);
		cr_expect_eq(conf_brief_in_force(conf_path, c.arena, &brief),
		    rows[i].is_there, "row %zu", i);
	}
	str_release(&text);
	str_release(&fresh);
	taken_away(&c);
}

/* /etc/aliases, which is there or not where the tests run: what was taken
 * over counts, and not what is there by now. */
Test(snapshot, it_says_whether_there_was_a_file_of_aliases)
{
	static const struct { const char *said, *spec; } rows[] = {
		{ ",\"aliases\":1", "file:/etc/aliases" },
		{ ",\"aliases\":2", "?file:/etc/aliases" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct str text = STR_INIT;
		const struct conf_table *table;
		struct conf_report report;
		struct conf *conf;

		str_addf(&text, "{\"zmailer-snapshot\":1,\"pid\":1%s,"
		    "\"conf\":\"\"}\nend\n", rows[i].said);
		case_directory();
		conf = conf_load(case_file("one", text.buf), arena, &report);
		cr_assert_not_null(conf);
		table = conf_table_find(conf, "aliases");
		cr_assert_not_null(table);
		cr_expect_str_eq(table->spec, rows[i].spec);
		cr_expect_str_eq(conf_table_file(table), "/etc/aliases");
		cr_expect_eq(conf->domains[0].alias_count, 1);
		conf_free(&conf);
		case_directory_remove();
		str_release(&text);
		arena_free(&arena);
	}
}

Test(snapshot, a_table_of_domains_that_is_edited_stops_nobody)
{
	struct conf_case c = { .shown = STR_INIT };
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf;
	struct err err;
	const char *path;

	case_directory();
	case_file("names", "one.test\ntwo.test\n");
	str_addf(&text, "run %s\ntable names file:%s/names\n"
	    "domain <names>\n", case_dir, case_dir);
	path = case_file("zmailer.conf", text.buf);
	c.arena = arena_new();
	c.conf = conf_load(path, c.arena, &c.report);
	cr_assert_not_null(c.conf);
	cr_assert_eq(conf_snapshot_write(c.conf, &err), 0);
	case_file("names", "one.test\nno domain\n");
	snprintf(snapshot_path, sizeof(snapshot_path), "%s/" SNAPSHOT_NAME,
	    case_dir);
	conf = conf_load(snapshot_path, c.arena, &report);
	cr_assert_not_null(conf);
	cr_expect_not_null(conf_domain_find(conf, SLICE("one.test")));
	conf_free(&conf);
	str_release(&text);
	taken_away(&c);
}

/* ---- whom to believe --------------------------------------------------- */

static void
make_writable(void)
{
	cr_expect_eq(chmod(snapshot_path, 0664), 0);
}

static void
make_link(void)
{
	char name[160];

	snprintf(name, sizeof(name), "%s/elsewhere", case_dir);
	cr_expect_eq(rename(snapshot_path, name), 0);
	cr_expect_eq(symlink(name, snapshot_path), 0);
}

static void
make_second_name(void)
{
	char name[160];

	snprintf(name, sizeof(name), "%s/elsewhere", case_dir);
	cr_expect_eq(link(snapshot_path, name), 0);
}

static void
make_foreign(void)
{
	if (geteuid() != 0)		/* only root gives files away */
		make_writable();
	else
		cr_expect_eq(chown(snapshot_path, 54321, (gid_t)-1), 0);
}

static void
make_folder(void)
{
	cr_expect_eq(unlink(snapshot_path), 0);
	cr_expect_eq(mkdir(snapshot_path, 0755), 0);
}

/* An edit of its bytes. */
static void
make_other(const char *from, const char *to)
{
	char text[4096], *at;
	FILE *file = fopen(snapshot_path, "r+");
	size_t n;

	cr_assert_not_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	at = strstr(text, from);
	cr_assert_not_null(at);
	cr_assert_eq(strlen(from), strlen(to));
	memcpy(at, to, strlen(to));
	rewind(file);
	cr_expect_eq(fwrite(text, 1, n, file), n);
	fclose(file);
}

static void
make_started_else(void)
{
	char from[64], to[64];

	snprintf(from, sizeof(from), "\"started\":%lld",
	    (long long)conf_process_started(getpid()));
	snprintf(to, sizeof(to), "%s", from);
	to[strlen(to) - 1] ^= 1;
	make_other(from, to);
}

static void
make_other_path(void)
{
	make_other("zmailer.conf\",\"host", "zmailer.cone\",\"host");
}

static void
make_damaged(void)
{
	make_other("\nend\n", "\nenx\n");
}

static void
make_newer(void)
{
	make_other("snapshot\":1,", "snapshot\":2,");
}

static void
make_short(void)
{
	cr_expect_eq(truncate(snapshot_path, 200), 0);
}

Test(snapshot, one_that_anybody_may_have_put_there_is_not_believed)
{
	static void (*const rows[])(void) = { make_writable, make_link,
	    make_second_name, make_foreign, make_folder, make_started_else,
	    make_other_path, make_damaged, make_newer, make_short };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_brief brief;
		struct conf_case c;

		taken_over(&c);
		cr_expect_str_eq(host_in_force(&c), "taken.example");
		rows[i]();
		cr_expect_str_eq(host_in_force(&c), "", "row %zu", i);
		/* whose first line tells all that one message needs */
		cr_expect_eq(conf_brief_in_force(conf_path, c.arena, &brief),
		    rows[i] == make_damaged, "row %zu", i);
		taken_away(&c);
	}
}

Test(snapshot, one_whose_supervisor_is_gone_is_not_in_force)
{
	struct conf_report report;
	struct conf_brief brief;
	struct conf *conf;
	struct conf_case c;
	bool is_makeshift;
	struct err err;
	pid_t pid;

	taken_over(&c);
	pid = fork();
	if (pid == 0)
		_exit(conf_snapshot_write(c.conf, &err) == 0 ? 0 : 1);
	cr_assert_gt(pid, 0);
	while (conf_process_started(pid) > 0)
		usleep(1000);
	/* it has ended, and is still known */
	cr_expect_str_eq(host_in_force(&c), "");
	cr_expect_not(conf_brief_in_force(conf_path, c.arena, &brief));
	cr_expect_eq(waitpid(pid, NULL, 0), pid);
	cr_expect_str_eq(host_in_force(&c), "");
	conf = conf_load_makeshift(conf_path, c.arena, &report,
	    &is_makeshift);
	cr_assert_not_null(conf);
	cr_expect(is_makeshift);
	cr_expect_str_eq(conf->host, "taken.example");
	conf_free(&conf);
	cr_expect_eq(unlink(snapshot_path), 0);
	conf = conf_load_makeshift(conf_path, c.arena, &report,
	    &is_makeshift);
	cr_assert_not_null(conf);
	cr_expect_str_eq(conf->run_dir, case_dir);
	cr_expect(strstr(conf->spool_dir, "/spool") != NULL);
	conf_free(&conf);
	taken_away(&c);
}

/* ---- bytes ------------------------------------------------------------- */

Test(snapshot, a_damaged_one_is_told_from_a_good_one)
{
	static const struct { const char *text; int want; } rows[] = {
		{ HEAD FILE_Z "end\n", 0 },
		{ HEAD FILE_Z "{\"file\":\"/e/y\",\"bytes\":0}\n\nend\n", 0 },
		{ "{\"zmailer-snapshot\":1,\"pid\":1,\"conf\":\"\"}\nend\n",
		    0 },
		{ "", -1 },
		{ "host a\n", -1 },
		{ HEAD, -1 },
		{ HEAD "end\n", -1 },		/* without its main file */
		{ HEAD FILE_Z, -1 },
		{ HEAD FILE_Z "end\nmore\n", -1 },
		{ HEAD "{\"file\":\"/e/y\",\"bytes\":0}\n\nend\n", -1 },
		{ HEAD "{\"file\":\"/e/z\",\"bytes\":6}\nhost a\n\nend\n",
		    -1 },
		{ HEAD "{\"file\":\"/e/z\",\"bytes\":8}\nhost a\n\nend\n",
		    -1 },
		{ HEAD "{\"file\":\"/e/z\",\"bytes\":9223372036854775807}\n"
		    "host a\n\nend\n", -1 },
		{ HEAD "{\"file\":\"/e/z\",\"bytes\":-7}\nhost a\n\nend\n",
		    -1 },
		{ HEAD "{\"bytes\":7}\nhost a\n\nend\n", -1 },
		{ "{\"zmailer-snapshot\":1,\"pid\":0,\"conf\":\"\"}\nend\n",
		    -1 },
		{ "{\"zmailer-snapshot\":1,\"pid\":1,\"conf\":\"z\"}\nend\n",
		    -1 },
		{ "{\"zmailer-snapshot\":1,\"pid\":99999999999,"
		    "\"conf\":\"\"}\nend\n", -1 },
		{ "{\"zmailer-snapshot\":9,\"pid\":1,\"conf\":\"\"}\nend\n",
		    -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct conf_snapshot snapshot;
		struct err err;

		cr_expect_eq(conf_snapshot_parse(slice_of(rows[i].text),
		    arena, &snapshot, &err), rows[i].want, "row %zu", i);
		arena_free(&arena);
	}
}

Test(snapshot, one_that_was_cut_anywhere_is_damaged)
{
	struct slice whole = SLICE(HEAD FILE_Z "end");
	struct arena *arena = arena_new();
	struct conf_snapshot snapshot;
	struct err err;

	for (size_t n = 0; n < whole.n; n++)
		cr_expect_eq(conf_snapshot_parse(slice_first(whole, n), arena,
		    &snapshot, &err), -1, "%zu bytes", n);
	arena_free(&arena);
}

/* ---- who may read it --------------------------------------------------- */

Test(snapshot, nobody_reads_it_who_could_not_read_all_of_the_files)
{
	static const struct {
		mode_t directory, conf, more, want;
	} rows[] = {
		{ 0755, 0644, 0644, 0644 },
		{ 0755, 0664, 0666, 0644 },
		{ 0755, 0640, 0644, 0640 },
		{ 0755, 0644, 0640, 0640 },
		{ 0755, 0600, 0644, 0600 },
		{ 0755, 0644, 0600, 0600 },
		{ 0750, 0644, 0644, 0640 },
		{ 0700, 0644, 0644, 0600 },
		{ 0700, 0640, 0640, 0600 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_case c;
		struct err err;
		char more[160];
		struct stat st;

		taken_over(&c);
		snprintf(more, sizeof(more), "%s/more.conf", case_dir);
		cr_expect_eq(chmod(case_dir, rows[i].directory), 0);
		cr_expect_eq(chmod(conf_path, rows[i].conf), 0);
		cr_expect_eq(chmod(more, rows[i].more), 0);
		cr_expect_eq(conf_snapshot_write(c.conf, &err), 0);
		cr_expect_eq(stat(snapshot_path, &st), 0);
		cr_expect_eq(st.st_mode & 07777, rows[i].want,
		    "row %zu: %04o", i, (unsigned)st.st_mode & 07777);
		taken_away(&c);
	}
}

Test(snapshot, two_groups_have_no_reader_in_common)
{
	struct conf_case c;
	char more[160];
	struct stat st;
	struct err err;

	if (geteuid() != 0)
		cr_skip_test("only root gives files away");
	taken_over(&c);
	snprintf(more, sizeof(more), "%s/more.conf", case_dir);
	cr_expect_eq(chmod(case_dir, 0755), 0);
	cr_expect_eq(chown(conf_path, 54321, 100), 0);
	cr_expect_eq(chmod(conf_path, 0640), 0);
	cr_expect_eq(conf_snapshot_write(c.conf, &err), 0);
	cr_expect_eq(stat(snapshot_path, &st), 0);
	cr_expect_eq(st.st_uid, 54321);
	cr_expect_eq(st.st_gid, 100);
	cr_expect_eq(st.st_mode & 07777, 0640);
	cr_expect_eq(chown(more, 54321, 101), 0);
	cr_expect_eq(chmod(more, 0640), 0);
	cr_expect_eq(conf_snapshot_write(c.conf, &err), 0);
	cr_expect_eq(stat(snapshot_path, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	taken_away(&c);
}

/* test_conf_verbs.c - init, check, config: words and exit statuses
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "conf/conf.h"
#include "instance.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static struct instance in;
static struct str out = STR_INIT;
static char fresh[320];		/* where init makes its instance */

static void
setup(void)
{
	instance_make(&in);
	snprintf(fresh, sizeof(fresh), "%s/fresh one", in.dir);
}

static void
teardown(void)
{
	str_release(&out);
	instance_remove(&in);
}

TestSuite(conf_verbs, .init = setup, .fini = teardown, .timeout = 60);

static void
expect(const char *const words[], int status, const char *text)
{
	str_reset(&out);
	instance_says(&in, words, &out, status, text);
}

static void
put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

static char *
path_in(const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", fresh, name);
	return path;
}

Test(conf_verbs, init_makes_an_instance_that_passes_the_check)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf;
	struct stat st;

	expect(WORDS("init", fresh, "--port", "3025", "--sink", "4025"),
	    EX_OK, "zmailer start");
	expect(WORDS("check", path_in("zmailer.conf")), EX_OK, "no errors");
	conf = conf_load(path_in("zmailer.conf"), arena, &report);
	cr_assert_not_null(conf);
	cr_expect_str_eq(conf->listens[0].text, "127.0.0.1:3025");
	cr_expect_str_eq(conf->routes[0].host, "[127.0.0.1]:4025");
	cr_expect_str_eq(conf->spool_dir, path_in("spool"));
	cr_expect_str_eq(conf->mailbox_path, path_in("mail/{user}"));
	cr_expect_eq(conf->mailbox_kind, MAILBOX_MAILDIR);
	cr_expect_str_eq(conf_domain_find(conf, SLICE("localhost"))->
	    users_table, "users");
	cr_expect_eq(stat(path_in("spool/router"), &st), 0);
	cr_expect_eq(stat(path_in("spool/public"), &st), 0);
	conf_free(&conf);
	arena_free(&arena);
}

Test(conf_verbs, init_never_overwrites_and_finishes_what_was_begun)
{
	char line[32] = "";
	FILE *file;

	expect(WORDS("init", fresh), EX_OK, "  made ");
	put(path_in("users"), "carol\n");
	cr_assert_eq(unlink(path_in("aliases")), 0);
	expect(WORDS("init", fresh, "--port", "99"), EX_OK, "  kept ");
	cr_expect(strstr(out.buf, "/aliases\n") != NULL);
	cr_expect_eq(access(path_in("aliases"), R_OK), 0);
	expect(WORDS("config", "show"), EX_OK, "host one.test");
	file = fopen(path_in("users"), "r");
	cr_assert_not_null(fgets(line, sizeof(line), file));
	fclose(file);
	cr_expect_str_eq(line, "carol\n");
}

Test(conf_verbs, init_refuses_what_is_not_its_own)
{
	cr_assert_eq(mkdir(fresh, 0700), 0);
	put(path_in("letter"), "dear\n");
	expect(WORDS("init", fresh), EX_CANTCREAT, "no instance of zmailer");
	cr_expect_neq(access(path_in("zmailer.conf"), F_OK), 0);
	expect(WORDS("init"), EX_USAGE, "DIR is missing");
	expect(WORDS("init", fresh, "--port", "0"), EX_USAGE, "wants a port");
	expect(WORDS("init", fresh, "--port"), EX_USAGE, "wants a value");
	expect(WORDS("init", fresh, "more"), EX_USAGE, "'more' is too much");
	expect(WORDS("init", "/nonexistent/x/y"), EX_CANTCREAT,
	    "No such file");
}

Test(conf_verbs, check_says_what_is_wrong_and_exits_78)
{
	char bad[300];

	snprintf(bad, sizeof(bad), "%s/bad.conf", in.dir);
	put(bad, "lisen 25\n");
	expect(WORDS("check", bad), EX_CONFIG, "bad.conf:1:1: error: unknown "
	    "statement 'lisen'\n    1 | lisen 25\n      | ^~~~~\n      = did "
	    "you mean 'listen'?\n");
	expect(WORDS("check", "--quiet", bad), EX_CONFIG, "1 error");
	expect(WORDS("check", bad, "--json"), EX_CONFIG,
	    "\"level\":\"error\"");
	put(bad, "table t file:/nonexistent/t\n");
	expect(WORDS("check", "--syntax", bad), EX_OK, "no errors");
	expect(WORDS("check", bad), EX_CONFIG, "table t: /nonexistent/t");
	put(bad, "accept for any\n");
	expect(WORDS("check", "--syntax", bad), EX_OK, "open relay");
	expect(WORDS("check", "--syntax", "--quiet", bad), EX_OK, "");
	cr_expect_str_empty(out.buf);
	expect(WORDS("check", "--loud"), EX_USAGE, "no option --loud");
	expect(WORDS("check", bad, bad), EX_USAGE, "is too much");
}

Test(conf_verbs, config_shows_where_a_setting_comes_from)
{
	instance_configure(&in, "two.test", "size 7M\n");
	expect(WORDS("config", "show"), EX_OK, "host two.test");
	cr_expect(strstr(out.buf, "size 7M") != NULL, "%s", out.buf);
	cr_expect(strstr(out.buf, "# preset") == NULL, "%s", out.buf);
	expect(WORDS("config", "show", "--all"), EX_OK, "# preset");
	expect(WORDS("config", "show", "--json"), EX_OK,
	    "{\"v\":1,\"statement\":\"host\",\"value\":\"two.test\"");
	expect(WORDS("config"), EX_USAGE, "show");
	expect(WORDS("config", "sow"), EX_USAGE, "no 'sow'");
}

/* table.c - zmailer table: ask, list, test and build lookup tables
 *
 * In     a table of the configuration, or a spec such as pcre:/PATH
 * Out    values with file and line; a line a table; databases built
 * Spec   zmailer-table(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "mail/table/build.h"
#include "mail/table/table.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

static void
table_verb_complain(const struct err *err)
{
	fprintf(stderr, "zmailer: table: %s\n", err->text);
}

/* ---- get ------------------------------------------------------------- */

static void
say_value(const struct table *table, bool is_json, const char *key,
    struct slice value, unsigned line)
{
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "table", slice_of(table_name(table)));
		json_text(&out, "key", slice_of(key));
		json_text(&out, "value", value);
		json_text(&out, "file", slice_of(table_path(table)));
		json_number(&out, "line", line);
		json_close(&out);
	} else {
		str_add_slice(&out, value);
		str_addc(&out, '\n');
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static int
table_verb_get(struct table *table, bool is_json, char *const keys[], int count)
{
	int status = EX_OK;

	for (int i = 0; i < count; i++) {
		struct slice value;
		unsigned line = 0;
		struct err err;

		switch (table_lookup(table, slice_of(keys[i]), &value, &line,
		    &err)) {
		case TABLE_FOUND:
			say_value(table, is_json, keys[i], value, line);
			break;
		case TABLE_NONE:
			status = status == EX_OK ? 1 : status;
			break;
		default:
			table_verb_complain(&err);
			status = EX_TEMPFAIL;
		}
	}
	return status;
}

/* The table NAME of the configuration, which frees it, or of a spec.  NULL:
 * there is none, which was reported. */
static struct table *
table_verb_open(const char *conf_path, const char *word, struct conf **out_conf)
{
	const struct conf_table *row;
	struct err err;

	*out_conf = NULL;
	if (strchr(word, ':') != NULL) {
		if (table_spec_check(word, &err) == 0)
			return table_new(word, word);
		table_verb_complain(&err);
		return NULL;
	}
	*out_conf = verb_conf(conf_path);
	row = conf_table_find(*out_conf, word);
	if (row != NULL)
		return table_new(word, row->spec);
	fprintf(stderr, "zmailer: table: there is no table <%s> in the "
	    "configuration\n", word);
	conf_free(out_conf);
	return NULL;
}

static int
verb_get(const char *conf_path, bool is_json, char *const words[], int count)
{
	struct conf *conf;
	struct table *table = table_verb_open(conf_path, words[0], &conf);
	int status = EX_USAGE;

	if (table != NULL)
		status = table_verb_get(table, is_json, words + 1, count - 1);
	table_free(&table);
	conf_free(&conf);
	return status;
}

/* ---- list ------------------------------------------------------------ */

static bool
count_entry(void *context, struct slice key, struct slice value,
    unsigned line)
{
	(*(uint64_t *)context)++;
	return true;
}

static int
say_table(const struct conf_table *row, bool is_json)
{
	struct table *table = table_new(row->name, row->spec);
	struct str out = STR_INIT;
	uint64_t entries = 0;
	struct err err = { "" };
	int good = table_check(table, &err);
	bool is_counted = good >= 0 && table_each(table, count_entry, &entries,
	    &(struct err){ "" }) != TABLE_TROUBLE;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "table", slice_of(row->name));
		json_text(&out, "type", slice_of(table_kind(table)));
		json_text(&out, "file", slice_of(table_path(table)));
		if (is_counted)
			json_number(&out, "entries", (int64_t)entries);
		json_bool(&out, "usable", good >= 0);
		json_text(&out, "remark", slice_of(err.text));
		json_close(&out);
	} else {
		str_addf(&out, "%-16s %-7s", row->name, table_kind(table));
		if (is_counted)
			str_addf(&out, " %8ju", (uintmax_t)entries);
		else
			str_addf(&out, " %8s", good < 0 ? "broken" : "-");
		str_addf(&out, " %s\n", table_path(table));
		if (err.text[0] != '\0')
			str_addf(&out, "\t%s\n", err.text);
	}
	fputs(out.buf, stdout);
	str_release(&out);
	table_free(&table);
	return good < 0 ? EX_DATAERR : EX_OK;
}

static int
verb_list_tables(const char *conf_path, bool is_json)
{
	struct conf *conf = verb_conf(conf_path);
	int status = EX_OK;

	for (size_t i = 0; i < conf->table_count; i++)
		if (say_table(&conf->tables[i], is_json) != EX_OK)
			status = EX_DATAERR;
	conf_free(&conf);
	return status;
}

static bool
say_entry(void *context, struct slice key, struct slice value, unsigned line)
{
	const struct table *table = context;
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "table", slice_of(table_name(table)));
	json_text(&out, "key", key);
	json_text(&out, "value", value);
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
	return true;
}

static bool
say_key(void *context, struct slice key, struct slice value, unsigned line)
{
	struct str out = STR_INIT;

	str_add_escaped(&out, key);
	if (value.n > 0)
		str_addc(&out, '\t');
	str_add_escaped(&out, value);
	puts(out.buf);
	str_release(&out);
	return true;
}

/* Print the contents of a table. */
static int
verb_list_entries(const char *conf_path, bool is_json, const char *word)
{
	struct conf *conf;
	struct table *table = table_verb_open(conf_path, word, &conf);
	int status = EX_USAGE;
	struct err err;

	if (table != NULL) {
		status = EX_OK;
		if (table_list(table, is_json ? say_entry : say_key, table,
		    &err) == TABLE_TROUBLE) {
			table_verb_complain(&err);
			status = EX_TEMPFAIL;
		}
	}
	table_free(&table);
	conf_free(&conf);
	return status;
}

/* ---- test ------------------------------------------------------------ */

enum { TEST_KEYS_BYTES_MAX = 64 << 20 };

struct table_test {
	struct table	*table;
	bool		 is_json;
	uint64_t	 found, none, trouble, kept;
	int64_t		 slowest_us;
	struct str	 slowest;	/* its key */
};

/* "found" and its value, "none", or "trouble" and its words. */
static void
test_say(const struct table_test *test, struct slice key, const char *result,
    struct slice text, int64_t us, bool is_kept)
{
	struct str out = STR_INIT;

	if (test->is_json) {
		json_open_answer(&out);
		json_text(&out, "key", key);
		json_text(&out, "result", slice_of(result));
		json_text(&out, "value", text);
		json_text(&out, "server", slice_of(table_path(test->table)));
		json_number(&out, "us", us);
		json_bool(&out, "kept", is_kept);
		json_close(&out);
	} else {
		str_add_escaped(&out, key);
		str_addf(&out, "\t%s\t%ju.%03ju ms%s\t", result,
		    (uintmax_t)(us / 1000), (uintmax_t)(us % 1000), is_kept ?
		    " kept" : "");
		str_add_escaped(&out, text);
		str_addc(&out, '\n');
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
test_key(struct table_test *test, struct slice key)
{
	int64_t began = clock_steady_us(), us;
	struct slice value = SLICE("");
	enum table_result result;
	bool is_kept = false;
	struct err err = { "" };

	table_ask_tests(&is_kept);
	result = table_lookup(test->table, key, &value, NULL, &err);
	table_ask_tests(NULL);
	us = clock_steady_us() - began;
	test->found += result == TABLE_FOUND;
	test->none += result == TABLE_NONE;
	test->trouble += result == TABLE_TROUBLE;
	test->kept += is_kept;
	if (us >= test->slowest_us) {
		test->slowest_us = us;
		str_reset(&test->slowest);
		str_add_slice(&test->slowest, key);
	}
	test_say(test, key, result == TABLE_FOUND ? "found" : result ==
	    TABLE_NONE ? "none" : "trouble", result == TABLE_TROUBLE ?
	    slice_of(err.text) : result == TABLE_FOUND ? value : SLICE(""),
	    us, is_kept);
}

static void
test_sum(const struct table_test *test)
{
	struct str out = STR_INIT;

	if (test->is_json) {
		json_open_answer(&out);
		json_text(&out, "table", slice_of(table_name(test->table)));
		json_text(&out, "type", slice_of(table_kind(test->table)));
		json_number(&out, "found", (int64_t)test->found);
		json_number(&out, "none", (int64_t)test->none);
		json_number(&out, "trouble", (int64_t)test->trouble);
		json_number(&out, "kept", (int64_t)test->kept);
		json_number(&out, "slowest_us", test->slowest_us);
		json_close(&out);
	} else {
		str_addf(&out, "%s (%s %s): %ju found, %ju not, %ju trouble, "
		    "%ju kept; slowest %ju.%03ju ms: ",
		    table_name(test->table), table_kind(test->table),
		    table_path(test->table), (uintmax_t)test->found,
		    (uintmax_t)test->none, (uintmax_t)test->trouble,
		    (uintmax_t)test->kept,
		    (uintmax_t)(test->slowest_us / 1000),
		    (uintmax_t)(test->slowest_us % 1000));
		str_add_escaped(&out, str_slice(&test->slowest));
		str_addc(&out, '\n');
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

/* A key a line.  returns 0, or -1: it was said */
static int
test_file(struct table_test *test, const char *from)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	struct str text = STR_INIT;
	struct slice rest, line;
	bool is_read = fd >= 0 && fd_read_all(fd, TEST_KEYS_BYTES_MAX,
	    &text) >= 0;

	if (!is_read)
		fprintf(stderr, "zmailer: table: %s: %s\n", from,
		    strerror(errno));
	rest = str_slice(&text);
	while (is_read && slice_cut(&rest, '\n', &line))
		if (slice_trim(line).n > 0)
			test_key(test, slice_trim(line));
	if (fd >= 0)
		(void)close(fd);
	str_release(&text);
	return is_read ? 0 : -1;
}

static int
verb_test_table(const char *conf_path, bool is_json, const char *from,
    char *const words[], int count)
{
	struct conf *conf;
	struct table_test test = { .table = table_verb_open(conf_path,
		words[0], &conf), .is_json = is_json, .slowest = STR_INIT };
	int status = test.table == NULL ? EX_USAGE : EX_OK;

	if (status == EX_OK && from != NULL && test_file(&test, from) != 0)
		status = EX_NOINPUT;
	for (int i = 1; i < count && status == EX_OK; i++)
		test_key(&test, slice_of(words[i]));
	if (status == EX_OK) {
		test_sum(&test);
		status = test.trouble > 0 ? 1 : EX_OK;
	}
	str_release(&test.slowest);
	table_free(&test.table);
	conf_free(&conf);
	return status;
}

/* ---- build ----------------------------------------------------------- */

static int
table_verb_build(const char *name, const char *spec, const char *from)
{
	size_t entries;
	struct err err = { "" };
	int result = table_build(spec, from, &entries, &err);

	if (result < 0) {
		table_verb_complain(&err);
		return EX_DATAERR;
	}
	if (result == 0)
		printf("%s: read as it is, nothing to build\n", name);
	else
		printf("%s: %zu entries\n", name, entries);
	return EX_OK;
}

/* All that can be built, or those that are named. */
static int
verb_build(const char *conf_path, const char *from, char *const words[],
    int count)
{
	struct conf *conf = NULL;
	int status = EX_OK, one;

	if (count == 0 || strchr(words[0], ':') == NULL)
		conf = verb_conf(conf_path);
	for (size_t i = 0; count == 0 && i < conf->table_count; i++) {
		one = table_verb_build(conf->tables[i].name,
		    conf->tables[i].spec, NULL);
		status = one != EX_OK ? one : status;
	}
	for (int i = 0; i < count; i++) {
		const struct conf_table *row = conf == NULL ? NULL :
		    conf_table_find(conf, words[i]);

		if (row == NULL && strchr(words[i], ':') == NULL) {
			fprintf(stderr, "zmailer: table: there is no table "
			    "<%s> in the configuration\n", words[i]);
			status = EX_USAGE;
			continue;
		}
		one = table_verb_build(words[i], row ? row->spec : words[i],
		    from);
		status = one != EX_OK ? one : status;
	}
	conf_free(&conf);
	return status;
}

int
verb_table(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path, *from =
	    arguments_text(arguments, OPT_FROM_FILE);
	bool is_json = arguments_has(arguments, OPT_JSON);

	if (arguments_is(arguments, "get"))
		return verb_get(conf_path, is_json, arguments->words,
		    arguments->count);
	if (arguments_is(arguments, "list") && arguments->count > 1)
		return arguments_refuse(arguments, "one table, or none");
	if (arguments_is(arguments, "list") && arguments->count > 0)
		return verb_list_entries(conf_path, is_json,
		    arguments->words[0]);
	if (arguments_is(arguments, "list"))
		return verb_list_tables(conf_path, is_json);
	if (arguments_is(arguments, "test") && (arguments->count > 1) ==
	    (from != NULL))
		return arguments_refuse(arguments, "keys, or --from FILE");
	if (arguments_is(arguments, "test"))
		return verb_test_table(conf_path, is_json, from,
		    arguments->words, arguments->count);
	if (from != NULL && arguments->count != 1)
		return arguments_refuse(arguments, "--from is for one table");
	return verb_build(conf_path, from, arguments->words,
	    arguments->count);
}

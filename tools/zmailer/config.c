/* config.c - zmailer config show|diff|undo|history|files|publish
 *
 * In     the configuration; the versions that were kept
 * Out    statements and where each was written; differences; an older
 *        version in force again
 * Spec   zmailer-config(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/change/change.h"
#include "tools/publish/drift.h"
#include "tools/publish/publish.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

static int
config_show(const struct arguments *arguments)
{
	bool all = arguments_has(arguments, OPT_ALL);
	struct str text = STR_INIT;
	struct conf *conf;

	conf = verb_conf_file(arguments->conf_path);
	if (arguments_has(arguments, OPT_JSON))
		conf_show_json(conf, all, &text);
	else
		conf_show(conf, all, &text);
	fputs(text.buf, stdout);
	str_release(&text);
	conf_free(&conf);
	return EX_OK;
}

/* ---- versions --------------------------------------------------------- */

static void
put_version(const struct version *version, bool is_json)
{
	struct str out = STR_INIT;
	char time[CLOCK_TEXT_BYTES];

	if (is_json) {
		clock_rfc3339(version->time_s * 1000000, time);
		json_open_answer(&out);
		json_number(&out, "version", version->number);
		json_text(&out, "time", slice_of(time));
		json_text(&out, "by", slice_of(version->by));
		json_text(&out, "verb", slice_of(version->verb));
		json_text(&out, "reason", slice_of(version->reason));
		json_number(&out, "was", version->was);
		json_number(&out, "files", (int64_t)version->file_count);
		json_close(&out);
	} else {
		clock_local(version->time_s, time);
		str_addf(&out, "%6u  %s  ", version->number, time);
		str_add_escaped(&out, slice_of(version->by));
		str_addc(&out, ' ');
		str_add_escaped(&out, slice_of(version->verb));
		if (version->was > 0)
			str_addf(&out, " (back to %u)", version->was);
		if (version->reason[0] != '\0') {
			str_adds(&out, ": ");
			str_add_escaped(&out, slice_of(version->reason));
		}
		str_addc(&out, '\n');
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static int
config_history(struct change *change)
{
	unsigned numbers[VERSIONS_MAX + 2];
	size_t count = versions_list(change->conf->spool_dir, numbers);
	struct version version;
	struct err err;

	for (size_t i = count; i-- > 0;) {
		if (version_read(change->conf->spool_dir, numbers[i],
		    change->arena, &version, &err) ==
		    VERSION_READ)
			put_version(&version, change->is_json);
		else
			fprintf(stderr, "zmailer: config: %s\n", err.text);
	}
	if (count == 0)
		fprintf(stderr, "zmailer: config: no version is kept yet; "
		    "the first start or change keeps one\n");
	return count == 0 ? 1 : EX_OK;
}

/* The version to restore: the one that was asked for; else the newest, if the
 * files differ from it; else the one before it (or before the one that it
 * restored).  0: there is none. */
static unsigned
version_before(const struct change *change, const unsigned *numbers,
    size_t count)
{
	struct version newest;
	unsigned below;
	struct err err;

	if (count == 0 || version_read(change->conf->spool_dir,
	    numbers[count - 1], change->arena, &newest, &err) !=
	    VERSION_READ)
		return 0;
	for (size_t i = 0; i < newest.file_count; i++) {
		struct change now = { .verb = "config",
		    .arena = change->arena };
		struct str *text = change_file(&now, newest.files[i].path,
		    false, 0600);
		bool is_same = text != NULL && slice_equal(str_slice(text),
		    newest.files[i].text);

		if (now.file_count > 0) {
			str_release(&now.files[0].before);
			str_release(&now.files[0].after);
		}
		if (!is_same)
			return newest.number;
	}
	below = newest.was > 0 ? newest.was : newest.number;
	for (size_t i = count; i-- > 0;)
		if (numbers[i] < below)
			return numbers[i];
	return 0;
}

static struct change_file *
config_file_find(struct change *change, const char *path)
{
	for (size_t i = 0; i < change->file_count; i++)
		if (strcmp(change->files[i].path, path) == 0)
			return &change->files[i];
	return NULL;
}

/* Restore tables and keys that a verb wrote after version asked: as they are in
 * the first version after it.  Those that no verb wrote since are left
 * alone. */
static int
take_tables(struct change *change, const unsigned *numbers, size_t count,
    unsigned asked, unsigned from)
{
	struct version version;
	struct err err;

	for (size_t n = count; n-- > 0 && numbers[n] >= from;) {
		if (version_read(change->conf->spool_dir, numbers[n],
		    change->arena, &version, &err) != VERSION_READ)
			continue;
		for (size_t i = 0; i < version.table_count; i++) {
			const struct version_table *table = &version.tables[i];
			struct change_file *file;
			struct str *text;

			if (from == asked && config_file_find(change,
			    table->path) == NULL)
				continue;	/* not written since */
			text = change_file(change, table->path, true,
			    table->mode);
			if (text == NULL)
				return EX_NOINPUT;
			file = config_file_find(change, table->path);
			file->is_secret = table->mode == 0600;
			file->account = table->account;
			file->goes_empty = true;
			str_reset(text);
			str_add_slice(text, table->text);
		}
	}
	return EX_OK;
}

/* Its files become drafts of the change. */
static int
take_version(struct change *change, const char *word)
{
	unsigned numbers[VERSIONS_MAX + 2];
	size_t count = versions_list(change->conf->spool_dir, numbers);
	struct version version;
	uint64_t asked = 0;
	struct err err = { "" };

	if (word != NULL && !slice_number(slice_of(word), 1, 99999999,
	    &asked))
		return arguments_refuse(change->arguments, "'%s' is no number "
		    "of a version", word);
	if (word == NULL)
		asked = version_before(change, numbers, count);
	if (asked == 0 || version_read(change->conf->spool_dir,
	    (unsigned)asked, change->arena, &version, &err) !=
	    VERSION_READ) {
		fprintf(stderr, "zmailer: config: there is no %s%s%s%s; "
		    "zmailer config history lists them\n",
		    word == NULL ? "older version" : "version ",
		    word == NULL ? "" : word, err.text[0] ? ": " : "",
		    err.text);
		return 1;
	}
	for (size_t i = 0; i < version.file_count; i++) {
		struct str *text = change_file(change, version.files[i].path,
		    false, 0644);

		if (text == NULL)
			return EX_NOINPUT;
		str_reset(text);
		str_add_slice(text, version.files[i].text);
	}
	change->was = version.number;
	/* the newest first: the oldest word after it is the last one */
	if (take_tables(change, numbers, count, version.number,
	    version.number + 1) != EX_OK)
		return EX_NOINPUT;
	return take_tables(change, numbers, count, version.number,
	    version.number);
}

static int
config_diff(struct change *change, const char *word)
{
	int status = take_version(change, word);
	struct str text = STR_INIT;

	if (status != EX_OK)
		return status;
	/* from that version to what stands there now */
	for (size_t i = 0; i < change->file_count; i++) {
		const struct change_file *file = &change->files[i];

		if (!file->is_secret)
			diff_add(&text, file->path, str_slice(&file->after),
			    str_slice(&file->before));
		else if (!slice_equal(str_slice(&file->after),
		    str_slice(&file->before)))
			str_addf(&text, "--- %s: a secret, not shown\n",
			    file->path);
	}
	printf("from version %u to what is there now\n%s", change->was,
	    text.len > 0 ? text.buf : "no difference\n");
	str_release(&text);
	return EX_OK;
}

static int
config_undo(struct change *change, const char *word)
{
	int status = take_version(change, word);

	if (status != EX_OK)
		return status;
	if (!change->is_json)
		printf("back to version %u\n", change->was);
	fflush(stdout);
	return change_carry_out(change);
}

/* The version before, on this node alone. */
static int
config_undo_here(const struct arguments *arguments)
{
	struct change change;
	int status = change_open_any(&change, arguments);

	if (status != 0)
		return status;
	status = config_undo(&change, NULL);
	change_release(&change);
	return status;
}

static int
config_files(const struct arguments *arguments)
{
	struct conf *conf = verb_conf(arguments->conf_path);
	int status = publish_files(conf, arguments_has(arguments, OPT_JSON));

	conf_free(&conf);
	return status;
}

int
verb_config(struct arguments *arguments)
{
	const char *version = arguments_word(arguments, 0);
	struct change change;
	int status;

	if (arguments_is(arguments, "show"))
		return config_show(arguments);
	if (arguments_is(arguments, "files"))
		return config_files(arguments);
	if (arguments_is(arguments, "publish"))
		return publish_run(arguments);
	if (arguments_is(arguments, "undo") &&
	    arguments_has(arguments, OPT_CLUSTER))
		return version != NULL ? arguments_refuse(arguments,
		    "--cluster is about the last publish, not a VERSION") :
		    publish_undo_all(arguments, config_undo_here);
	status = change_open_any(&change, arguments);
	if (status != 0)
		return status;
	if (arguments_is(arguments, "history"))
		status = config_history(&change);
	else if (arguments_is(arguments, "diff"))
		status = config_diff(&change, version);
	else
		status = config_undo(&change, version);
	change_release(&change);
	return status;
}

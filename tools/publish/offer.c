/* offer.c - would what another node publishes be right on this machine?
 *
 * In     the bytes that were sent
 * Out    SPOOL/desk/publish/offered; or what is wrong, where, in which line
 * Holds  SPOOL/desk/publish/lock; tables that are looked at lie in a directory
 *        of their own meanwhile
 * Trusts nothing in it: names stay below the directory of zmailer.conf, where
 *        links lead; a secret of this machine is not replaced
 * Spec   install.h; doc/protocol/nodes.md section 5; doc/INTERNALS.md row E4
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/machine/machine.h"
#include "daemon/skeleton.h"
#include "tools/publish/install.h"
#include "tools/publish/place.h"
#include "tools/versions/write.h"

#include "base/banned.h"

struct offer {
	const struct publish_job *job;
	int64_t			 hold_s;
	struct arena		*arena;
	struct conf		*conf;		/* as the files have it */
	struct conf		*fresh;		/* as they would have it */
	struct publish_set	 here, sent;
	char			 stage[RECORD_PATH_BYTES];	/* "": none */
	struct bundle_file	*files;		/* of the record */
};

static int __attribute__((format(printf, 1, 2)))
offer_refuse(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	return EX_CONFIG;
}

static const char *
offer_path(const struct offer *offer, const char *dir, size_t i)
{
	return arena_printf(offer->arena, "%s/%s", dir,
	    offer->sent.files[i].name);
}

/* ---- where it would be written ------------------------------------------ */

static bool
offer_is_below(const struct offer *offer, const char *path)
{
	char *real = realpath(path, NULL);
	size_t n = strlen(offer->here.dir);
	bool is_below = real != NULL && strncmp(real, offer->here.dir, n) ==
	    0 && (real[n] == '/' || real[n] == '\0');

	free(real);	/* realpath made it */
	return is_below;
}

static int
offer_check_target(const struct offer *offer, size_t i)
{
	const char *name = offer->sent.files[i].name;
	const char *path = offer_path(offer, offer->here.dir, i);
	const char *why = publish_secret(offer->conf, path);
	const char *fault = publish_place_fault(offer->here.dir, path);
	struct stat st;

	if (fault != NULL)
		return offer_refuse("%s: %s", name, fault);
	if (lstat(path, &st) != 0)
		return errno == ENOENT ? EX_OK : offer_refuse("%s: %s", name,
		    strerror(errno));
	if (!offer_is_below(offer, path) || stat(path, &st) != 0 ||
	    !S_ISREG(st.st_mode))
		return offer_refuse("%s: here it is no plain file below %s",
		    name, offer->here.dir);
	return why == NULL ? EX_OK : offer_refuse("%s: is not replaced here: "
	    "%s", name, why);
}

/* ---- what is told ------------------------------------------------------- */

/* The file of the set that a table is, by its place here; -1. */
static ssize_t
offer_find(const struct offer *offer, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st, folder;

	for (size_t i = 0; i < offer->sent.count; i++) {
		const char *own = offer_path(offer, offer->here.dir, i);

		if (strcmp(own, path) == 0)
			return (ssize_t)i;
		/* another way to the same directory */
		if (slash == NULL || strcmp(slash, strrchr(own, '/')) != 0)
			continue;
		if (stat(arena_printf(offer->arena, "%.*s",
		    (int)(slash - path), path), &st) == 0 &&
		    stat(arena_printf(offer->arena, "%.*s",
		    (int)(strrchr(own, '/') - own), own), &folder) == 0 &&
		    st.st_dev == folder.st_dev && st.st_ino == folder.st_ino)
			return (ssize_t)i;
	}
	return -1;
}

/* May who sent it read what stands there?  It is his, or no secret. */
static bool
offer_is_open(const struct offer *offer, const char *path)
{
	size_t n = strlen(offer->stage);

	return offer_find(offer, path) >= 0 ||
	    (n > 0 && strncmp(path, offer->stage, n) == 0) ||
	    (access(path, F_OK) != 0 && errno == ENOENT) ||
	    (offer_is_below(offer, path) &&
	    publish_secret(offer->conf, path) == NULL);
}

/* Does it quote a file that is not his? */
static bool
complaint_is_closed(const struct offer *offer,
    const struct conf_complaint *one)
{
	const struct conf *fresh = offer->fresh;
	const char *path;

	if (one->at.file != NULL && !offer_is_open(offer, one->at.file))
		return true;
	for (size_t i = 0; fresh != NULL && i < fresh->table_count; i++) {
		const struct conf_table *table = &fresh->tables[i];

		path = strstr(table->spec, ":/");	/* of any type */
		if (path != NULL && !offer_is_open(offer, ++path) &&
		    (strstr(one->text, path) != NULL ||
		    (one->at.file != NULL && table->at.file != NULL &&
		    one->at.line == table->at.line &&
		    strcmp(one->at.file, table->at.file) == 0)))
			return true;
	}
	path = fresh == NULL ? NULL : fresh->hooks.script;
	return path != NULL && !offer_is_open(offer, path) &&
	    one->at.file != NULL && fresh->hooks.at.file != NULL &&
	    one->at.line == fresh->hooks.at.line &&
	    strcmp(one->at.file, fresh->hooks.at.file) == 0;
}

/* Words go to the sender: a line of /etc/shadow that he has included is none of
 * them. */
static void
offer_close_words(const struct offer *offer, struct conf_report *report)
{
	for (size_t i = 0; i < report->count; i++) {
		struct conf_complaint *one = &report->complaints[i];

		if (!complaint_is_closed(offer, one))
			continue;
		if (one->at.file != NULL && !offer_is_open(offer,
		    one->at.file))
			one->source = NULL;
		one->hint = NULL;
		one->text = "this is wrong, or does not fit what was sent; "
		    "a file that was not sent is not quoted elsewhere: "
		    "look at it on that machine";
	}
}

/* ---- would it be right -------------------------------------------------- */

/* Each text by the name that leads there without links, and by the name that
 * zmailer.conf is called by. */
static int
offer_load(struct offer *offer)
{
	struct arena *arena = offer->arena;
	const char *path = conf_path_of(arena, offer->job->conf_path);
	const char *slash = strrchr(path, '/');
	const char *dir = arena_printf(arena, "%.*s", (int)(slash == NULL ?
	    0 : slash - path), path);
	struct conf_draft *drafts = arena_alloc(arena, 2 *
	    offer->sent.count * sizeof(*drafts));
	struct conf_report report;
	struct str text = STR_INIT;
	size_t count = 0;

	for (size_t i = 0; i < offer->sent.count; i++) {
		drafts[count++] = (struct conf_draft){ offer_path(offer,
		    offer->here.dir, i), offer->sent.files[i].text };
		drafts[count++] = (struct conf_draft){ offer_path(offer, dir,
		    i), offer->sent.files[i].text };
	}
	offer->fresh = conf_load_drafts(path, drafts, count, arena, &report);
	if (offer->fresh != NULL)
		return EX_OK;
	offer_close_words(offer, &report);
	conf_report_print(&report, path, &text);
	fputs(text.buf, stderr);
	str_release(&text);
	return EX_CONFIG;
}

/* What is neither read as configuration nor a table here has no business
 * here. */
static int
offer_sort(struct offer *offer)
{
	struct conf_draft texts[PUBLISH_FILES_MAX];
	size_t count = conf_texts(offer->fresh, texts, PUBLISH_FILES_MAX);
	char *kinds = arena_alloc(offer->arena, offer->sent.count);
	ssize_t at;

	memset(kinds, 0, offer->sent.count);
	for (size_t i = 0; i < offer->fresh->table_count; i++) {
		const char *path = conf_table_file(&offer->fresh->tables[i]);

		if (path != NULL && (at = offer_find(offer, path)) >= 0)
			kinds[at] = '-';
	}
	for (size_t i = 0; i < count && i < PUBLISH_FILES_MAX; i++)
		if ((at = offer_find(offer, texts[i].path)) >= 0)
			kinds[at] = '+';
	for (size_t i = 0; i < offer->sent.count; i++) {
		const struct publish_file *file = &offer->sent.files[i];

		if (kinds[i] == 0)
			return offer_refuse("%s: nothing names it here: it is "
			    "neither included nor a table", file->name);
		offer->files[i] = (struct bundle_file){ arena_printf(
		    offer->arena, "%c%s", kinds[i], file->name), file->text };
	}
	return EX_OK;
}

/* Tables are looked at where they are put for that. */
static int
offer_stage(struct offer *offer)
{
	struct err err;

	publish_path(offer->stage, offer->conf->spool_dir, "stage.XXXXXX");
	if (mkdtemp(offer->stage) == NULL)
		return offer_refuse("%s: %s", offer->stage, strerror(errno));
	for (size_t i = 0; i < offer->fresh->table_count; i++) {
		struct conf_table *table = &offer->fresh->tables[i];
		const char *path = conf_table_file(table);
		ssize_t at = path == NULL ? -1 : offer_find(offer, path);
		struct change_file file = { .mode = 0600,
		    .before = STR_INIT, .after = STR_INIT };
		int result;

		if (at < 0)
			continue;
		file.target = arena_printf(offer->arena, "%s/%zu.%s",
		    offer->stage, i, strrchr(path, '/') + 1);
		str_add_slice(&file.after, offer->sent.files[at].text);
		result = change_file_write(&file, &err);
		str_release(&file.after);
		if (result < 0)
			return offer_refuse("%s", err.text);
		table->spec = arena_printf(offer->arena, "file:%s",
		    file.target);
	}
	return EX_OK;
}

/* The directory, and the plain files in it. */
static void
stage_remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	(void)rmdir(path);
}

/* Ours, and those of who was killed: we have the lock. */
static void
offer_unstage(const struct offer *offer)
{
	char path[RECORD_PATH_BYTES], folder[RECORD_PATH_BYTES];
	const struct dirent *entry;
	DIR *dir;

	publish_path(folder, offer->conf->spool_dir, ".");
	dir = opendir(folder);
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (strncmp(entry->d_name, "stage.", 6) == 0) {
			publish_path(path, offer->conf->spool_dir,
			    entry->d_name);
			stage_remove_folder(path);
		}
	closedir(dir);
}

/* Words about a staged table name the file that it will be. */
static void
offer_say(const struct offer *offer, const char *words)
{
	size_t n = strlen(offer->stage);
	const char *at;

	while (n > 0 && (at = strstr(words, offer->stage)) != NULL) {
		fprintf(stderr, "%.*s", (int)(at - words), words);
		words = at + n;
		if (strchr(words, '.') != NULL)	/* "/7.NAME" */
			words = strchr(words, '.') + 1;
	}
	fputs(words, stderr);
}

static int
offer_check_machine(struct offer *offer)
{
	struct conf_report report = { NULL, 0, 0, 0 };
	struct str text = STR_INIT;
	int status = offer_stage(offer);

	if (status != EX_OK)
		return status;
	machine_check(offer->fresh, offer->arena, &report);
	if (report.errors > 0) {
		offer_close_words(offer, &report);
		conf_report_print(&report, offer->job->conf_path, &text);
		offer_say(offer, text.buf);
		status = EX_CONFIG;
	}
	str_release(&text);
	return status;
}

/* A take goes by a reload. */
static int
offer_check_reload(struct offer *offer)
{
	struct conf_report report;
	struct conf *running = conf_load_in_force(offer->job->conf_path,
	    offer->arena, &report);
	const char *why = running == NULL ? NULL :
	    daemon_restart_reason(running, offer->fresh);
	int status = EX_OK;

	if (running != NULL && conf_files_look(running) != CONF_FILES_SAME)
		status = offer_refuse("the files here were changed, and are "
		    "not in force: zmailer reload there, or zmailer config "
		    "undo");
	else if (why != NULL)
		status = offer_refuse("a reload cannot take it over: %s",
		    why);
	conf_free(&running);
	return status;
}

static int
offer_check(struct offer *offer)
{
	int status = EX_OK;

	if (publish_set_find(&offer->sent, offer->here.main) == NULL)
		return offer_refuse("the main file here is called %s, and "
		    "none of that name was sent", offer->here.main);
	for (size_t i = 0; status == EX_OK && i < offer->sent.count; i++)
		status = offer_check_target(offer, i);
	if (status == EX_OK)
		status = offer_load(offer);
	if (status == EX_OK)
		status = offer_sort(offer);
	if (status == EX_OK)
		status = offer_check_reload(offer);
	if (status == EX_OK)
		status = offer_check_machine(offer);
	return status;
}

/* ---- put aside ---------------------------------------------------------- */

static int
offer_write(const struct offer *offer)
{
	struct publish_record record = { .from = offer->job->from,
	    .who = offer->job->who, .since_s = clock_wall_s(),
	    .files = offer->files, .count = offer->sent.count };
	char sum[PUBLISH_SUM_BYTES];
	struct err err;

	strlcpy(record.id, offer->job->id, sizeof(record.id));
	record.until_s = record.since_s + offer->hold_s;
	publish_set_sum(offer->sent.files, offer->sent.count, sum);
	record.sum = sum;
	return record_write(offer->conf->spool_dir, RECORD_OFFERED, &record,
	    &err) == 0 ? EX_OK : offer_refuse("%s", err.text);
}

/* What another publish has under way here is not disturbed.
 * EX_OK, or a status after words about it */
static int
offer_check_free(const struct offer *offer)
{
	const char *spool = offer->conf->spool_dir;
	struct publish_record held;
	struct err err;

	if (record_is_there(spool, RECORD_PENDING))
		return offer_refuse("a publish before it is not decided yet, "
		    "%s", record_span(spool, RECORD_PENDING, offer->arena));
	if (record_read(spool, RECORD_OFFERED, offer->arena, &held, &err) ==
	    RECORD_READ && strcmp(held.from, offer->job->from) != 0 &&
	    !record_is_over(&held))
		return offer_refuse("another publish is under way, %s",
		    record_span(spool, RECORD_OFFERED, offer->arena));
	return EX_OK;
}

static int
offer_locked(struct offer *offer, struct slice bytes)
{
	struct err err;
	int status = offer_check_free(offer);

	if (status != EX_OK)
		return status;
	if (publish_set_take(offer->conf, offer->arena, &offer->here, &err) <
	    0 || publish_set_parse(bytes, offer->arena, &offer->sent, &err) <
	    0)
		return offer_refuse("%s", err.text);
	offer->files = arena_alloc(offer->arena, offer->sent.count *
	    sizeof(*offer->files));
	status = offer_check(offer);
	offer_unstage(offer);
	return status == EX_OK ? offer_write(offer) : status;
}

int
publish_offer(const struct publish_job *job, struct slice bytes,
    int64_t hold_s)
{
	struct offer offer = { .job = job, .hold_s = hold_s,
		.arena = arena_new() };
	struct conf_report report;
	struct str text = STR_INIT;
	int status = EX_CONFIG, lock;
	struct err err;

	offer.conf = conf_load(job->conf_path, offer.arena, &report);
	if (offer.conf == NULL) {
		conf_report_print(&report, job->conf_path, &text);
		fputs(text.buf, stderr);
	} else {
		lock = record_lock(offer.conf->spool_dir, 0, &err);
		status = lock < 0 ? offer_refuse("%s", err.text) :
		    offer_locked(&offer, bytes);
		if (lock >= 0)
			close(lock);
	}
	str_release(&text);
	conf_free(&offer.fresh);
	conf_free(&offer.conf);
	arena_free(&offer.arena);
	return status;
}

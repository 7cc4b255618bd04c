/* install.c - a published configuration is taken, kept, or given back
 *
 * In     the record of an offer, of what is pending, of what was kept
 * Out    files, a version, a reload, events
 * Holds  SPOOL/desk/publish/lock while it works: who has it lives
 * Trusts its own records; that who kills us does it at the worst moment
 * Spec   install.h; doc/INTERNALS.md rows E4 to E7
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "mail/spool/spool.h"
#include "tools/change/change.h"
#include "tools/publish/install.h"
#include "tools/publish/place.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum { LOCK_PATIENCE_MS = 2000, WHO_BYTES = 160 };

struct install {
	const struct publish_job *job;
	struct arguments	 arguments;
	struct change		 change;
	char			 reason[WHO_BYTES];
	int			 lock;
};

/* ---- one after the other ------------------------------------------------ */

/* The configuration may be broken: who comes to go back mends it.
 * returns 0, or an exit status after words about it */
static int
install_open(struct install *install, const struct publish_job *job,
    int64_t patience_ms)
{
	char who[WHO_BYTES];
	struct err err;
	int status;

	*install = (struct install){ .job = job, .lock = -1 };
	install->arguments = (struct arguments){ .verb = "publish",
	    .conf_path = job->conf_path };
	if (job->who != NULL) {
		snprintf(who, sizeof(who), "%s@%s", job->who, job->from);
		(void)setenv("ZMAILER_WHO", who, 1);
	}
	status = change_open_any(&install->change, &install->arguments);
	if (status != 0)
		return status;
	install->change.is_yes = install->change.is_json = true;
	install->lock = record_lock(install->change.conf->spool_dir,
	    patience_ms, &err);
	if (install->lock >= 0)
		return 0;
	/* who has it is at work: that is no news to who settles */
	if (job->id != NULL || errno != EWOULDBLOCK)
		fprintf(stderr, "%s\n", err.text);
	change_release(&install->change);
	return EX_TEMPFAIL;
}

static int
install_close(struct install *install, int status)
{
	change_release(&install->change);
	close(install->lock);
	return status;
}

static int
install_fail(const char *words)
{
	fprintf(stderr, "%s\n", words);
	return EX_TEMPFAIL;
}

static const char *
install_spool(const struct install *install)
{
	return install->change.conf->spool_dir;
}

/* The directory of the main file, which is no link. */
static const char *
install_path(struct install *install, const char *name)
{
	const char *main_path = install->change.conf_path;
	const char *slash = strrchr(main_path, '/');

	return arena_printf(install->change.arena, "%.*s/%s",
	    (int)(slash == NULL ? 0 : slash - main_path), main_path, name);
}

/* Is it one of the files that the configuration was read from? */
static bool
install_is_text(const struct install *install, const char *path)
{
	struct conf_draft texts[PUBLISH_FILES_MAX];
	size_t count = conf_texts(install->change.conf, texts,
	    PUBLISH_FILES_MAX);

	for (size_t i = 0; i < count && i < PUBLISH_FILES_MAX; i++)
		if (strcmp(texts[i].path, path) == 0)
			return true;
	return strcmp(install->change.conf_path, path) == 0;
}

static unsigned
install_version(const struct install *install)
{
	unsigned numbers[VERSIONS_MAX + 2];
	size_t count = versions_list(install_spool(install), numbers);

	return count == 0 ? 0 : numbers[count - 1];
}

/* Does the running zmailer still have another configuration than the files?
 * Then it reads them. */
static int
install_reload(const struct install *install)
{
	const char *path = install->change.conf_path;
	struct conf_report report;
	struct conf *conf;
	int status = EX_OK;
	char text[256];
	pid_t pid;

	if (spool_lock_holder(install_spool(install), text, sizeof(text),
	    &pid) != SPOOL_LOCK_HELD)
		return EX_OK;
	conf = conf_load_in_force(path, install->change.arena, &report);
	if (conf != NULL && conf_files_look(conf) != CONF_FILES_SAME)
		status = running_reload(path);
	conf_free(&conf);
	return status;
}

/* ---- back --------------------------------------------------------------- */

/* The file of that name is written where it belongs, or not at all.
 * returns false after words about it */
static bool
install_may_write(struct install *install, const char *path,
    const char *(*look)(const char *, const char *))
{
	const char *dir = install_path(install, "");
	const char *why = look(arena_printf(install->change.arena, "%.*s",
	    (int)strlen(dir) - 1, dir), path);

	if (why != NULL)
		fprintf(stderr, "%s: %s\n", path, why);
	return why == NULL;
}

/* What stood there becomes what shall stand there.  false: words were said. */
static bool
back_fill(struct install *install, const struct publish_record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct bundle_file *one = &record->files[i];
		const char *path = install_path(install, one->path + 1);
		struct change *change = &install->change;
		struct str *text = !install_may_write(install, path,
		    publish_place_leads_out) ? NULL : change_file(change,
		    path, !install_is_text(install, path), 0644);

		if (text == NULL)
			return false;
		str_reset(text);
		str_add_slice(text, one->text);
		for (size_t n = 0; n < change->file_count; n++)
			if (&change->files[n].after == text)
				change->files[n].goes_empty =
				    one->path[0] == '-';
	}
	return true;
}

/* E6: the files of before, then the reload, then the record goes.  A kill
 * anywhere between leaves the record, and publish_settle does all of it again.
 * Who changed a file meanwhile finds his text in a version. */
static int
back_restore(struct install *install, const struct publish_record *record,
    const char *why)
{
	struct change *change = &install->change;
	struct err err;
	int status;

	/* from here on it is not taken any more, whatever happens */
	if (record_remove(install_spool(install), RECORD_TAKEN, &err) < 0)
		return install_fail(err.text);
	change->is_forced = true;
	change->was = record->version > 0 ? record->version : 1;
	snprintf(install->reason, sizeof(install->reason),
	    "publish of %s goes back: %s", record->from, why);
	change->reason = install->reason;
	if (!back_fill(install, record))
		return EX_TEMPFAIL;
	status = change_is_empty(change) ? EX_OK : change_carry_out(change);
	if (status == EX_OK)
		status = install_reload(install);
	if (status == EX_CANTCREAT || status == EX_TEMPFAIL ||
	    record_remove(install_spool(install), RECORD_PENDING, &err) < 0)
		return EX_TEMPFAIL;
	(void)event_open(change->conf->log_dir);
	event(EV_CONFIG_BACK, NULL, "publish", slice_of(record->id),
	    "from", slice_of(record->from), "reason", slice_of(why), NULL);
	event_flush();
	return status;
}

/* ---- forth -------------------------------------------------------------- */

/* Directories of a file that is new here; nobody but root writes there. */
static void
take_make_folders(struct install *install, const char *path)
{
	const char *base = install_path(install, "");
	char folder[RECORD_PATH_BYTES];

	for (const char *p = path + strlen(base); *p != '\0'; p++) {
		if (*p != '/')
			continue;
		snprintf(folder, sizeof(folder), "%.*s", (int)(p - path),
		    path);
		if (mkdir(folder, 0755) == 0)
			(void)chmod(folder, 0755);
	}
}

/* The files of the offer become drafts; what stands there goes into *out,
 * which is the way back.  0, or an exit status after words about it. */
static int
take_fill(struct install *install, const struct publish_record *offer,
    struct publish_record *out)
{
	struct change *change = &install->change;
	struct arena *arena = change->arena;
	size_t bytes = 0;

	out->files = arena_alloc(arena, offer->count * sizeof(*out->files));
	for (size_t i = 0; i < offer->count; i++) {
		const char *name = offer->files[i].path + 1;
		const char *path = install_path(install, name);
		struct str *text;
		struct change_file *file;

		if (!install_may_write(install, path, publish_place_fault))
			return EX_CONFIG;
		take_make_folders(install, path);
		text = change_file(change, path,
		    offer->files[i].path[0] == '-', 0644);
		if (text == NULL)
			return EX_TEMPFAIL;
		file = &change->files[0];
		while (&file->after != text)
			file++;
		bytes += file->before.len;
		out->files[out->count++] = (struct bundle_file){
			arena_printf(arena, "%c%s", file->is_new ? '-' : '+',
			    name),
			slice_copy(arena, str_slice(&file->before))
		};
		str_reset(text);
		str_add_slice(text, offer->files[i].text);
	}
	return bytes <= PUBLISH_BYTES_MAX ? EX_OK : install_fail("the files "
	    "that it would replace are too large to be kept for the way back");
}

static void
take_tell(const struct install *install, const struct publish_record *record)
{
	char who[WHO_BYTES];

	snprintf(who, sizeof(who), "%s@%s", record->who, record->from);
	(void)event_open(install->change.conf->log_dir);
	event(EV_CONFIG_TAKEN, NULL, "publish", slice_of(record->id),
	    "from", slice_of(record->from), "by", slice_of(who), "seconds",
	    event_number(record->until_s - record->since_s), NULL);
	event_flush();
}

/* E5: the way back lies there before the first file is replaced, the mark that
 * all are there comes after the reload.  In between a kill means: back. */
static int
take_install(struct install *install, const struct publish_record *record)
{
	struct change *change = &install->change;
	struct publish_record mark = *record;
	struct err err;
	int status;

	snprintf(install->reason, sizeof(install->reason), "published by "
	    "%s (%s)", record->from, record->id);
	change->reason = install->reason;
	/* one of before (E7) would say for its time that this is no half */
	if (record_remove(install_spool(install), RECORD_TAKEN, &err) < 0 ||
	    record_write(install_spool(install), RECORD_PENDING, record,
	    &err) < 0)
		return install_fail(err.text);
	status = change_is_empty(change) ? install_reload(install) :
	    change_carry_out(change);
	mark.files = NULL;
	mark.count = 0;
	if (status == EX_OK && record_write(install_spool(install),
	    RECORD_TAKEN, &mark, &err) < 0)
		status = install_fail(err.text);
	if (status == EX_OK)
		return EX_OK;
	/* what is written by now goes back, with a change of its own */
	for (size_t i = 0; i < change->file_count; i++) {
		str_release(&change->files[i].before);
		str_release(&change->files[i].after);
	}
	change->file_count = 0;
	(void)back_restore(install, record, "it could not be taken");
	return status;
}

static int
take_offered(struct install *install, int64_t seconds)
{
	const char *spool = install_spool(install);
	struct arena *arena = install->change.arena;
	struct publish_record offer, record = { .count = 0 };
	struct err err = { "" };
	int status;

	if (record_read(spool, RECORD_OFFERED, arena, &offer, &err) !=
	    RECORD_READ || strcmp(offer.id, install->job->id) != 0)
		return install_fail(err.text[0] != '\0' ? err.text :
		    "this was not offered, or another publish was after it");
	record = offer;
	record.files = NULL;
	record.count = 0;
	record.since_s = clock_wall_s();
	record.until_s = record.since_s + seconds;
	record.version = install_version(install);
	status = take_fill(install, &offer, &record);
	if (status == EX_OK)
		status = take_install(install, &record);
	if (status == EX_OK)
		take_tell(install, &record);
	if (record_remove(spool, RECORD_OFFERED, &err) < 0)
		warning("publish: %s", err.text);
	return status;
}

int
publish_take(const struct publish_job *job, int64_t seconds)
{
	struct install install;
	int status = install_open(&install, job, LOCK_PATIENCE_MS);

	if (status != 0)
		return status;
	if (record_is_there(install_spool(&install), RECORD_PENDING))
		status = install_fail(arena_printf(install.change.arena,
		    "a publish before it is not decided yet, %s",
		    record_span(install_spool(&install), RECORD_PENDING,
		    install.change.arena)));
	else
		status = take_offered(&install, seconds);
	return install_close(&install, status);
}

/* ---- decisions ---------------------------------------------------------- */

/* The record of that name, if it is of this publish. */
static int
install_read(struct install *install, const char *name,
    struct publish_record *out)
{
	struct err err = { "" };

	if (record_read(install_spool(install), name, install->change.arena,
	    out, &err) == RECORD_READ && strcmp(out->id, install->job->id) ==
	    0)
		return EX_OK;
	return install_fail(err.text[0] != '\0' ? err.text :
	    "it has gone back already, or was never taken");
}

/* E7: one rename decides. */
int
publish_keep(const struct publish_job *job)
{
	struct publish_record pending, taken;
	struct install install;
	struct err err;
	int status = install_open(&install, job, LOCK_PATIENCE_MS);
	const char *spool;

	if (status != 0)
		return status;
	spool = install_spool(&install);
	if (record_read(spool, RECORD_LAST, install.change.arena, &pending,
	    &err) == RECORD_READ && strcmp(pending.id, job->id) == 0)
		return install_close(&install, EX_OK);	/* said twice */
	status = install_read(&install, RECORD_PENDING, &pending);
	if (status == EX_OK)
		status = install_read(&install, RECORD_TAKEN, &taken);
	if (status == EX_OK && (record_rename(spool, RECORD_PENDING,
	    RECORD_LAST, &err) < 0 ||
	    record_remove(spool, RECORD_TAKEN, &err) < 0))
		status = install_fail(err.text);
	if (status == EX_OK) {
		(void)event_open(install.change.conf->log_dir);
		event(EV_CONFIG_KEPT, NULL, "publish", slice_of(pending.id),
		    "from", slice_of(pending.from), NULL);
		event_flush();
	}
	return install_close(&install, status);
}

/* It was never taken: the next one need not wait. */
static int
back_put_away(struct install *install)
{
	struct publish_record offer;
	struct err err;

	if (record_read(install_spool(install), RECORD_OFFERED,
	    install->change.arena, &offer, &err) == RECORD_READ &&
	    strcmp(offer.id, install->job->id) == 0 &&
	    record_remove(install_spool(install), RECORD_OFFERED, &err) < 0)
		return install_fail(err.text);
	return EX_OK;
}

int
publish_back(const struct publish_job *job, const char *why)
{
	struct publish_record pending;
	struct install install;
	int status = install_open(&install, job, LOCK_PATIENCE_MS);

	if (status != 0)
		return status;
	if (!record_is_there(install_spool(&install), RECORD_PENDING))
		return install_close(&install, back_put_away(&install));
	status = install_read(&install, RECORD_PENDING, &pending);
	if (status == EX_OK)
		status = back_restore(&install, &pending, why);
	return install_close(&install, status);
}

/* Are the files those that it brought? */
static bool
undo_is_same(struct install *install, const struct publish_record *last)
{
	struct arena *arena = install->change.arena;
	struct publish_file *files = arena_alloc(arena, last->count *
	    sizeof(*files));
	char sum[PUBLISH_SUM_BYTES];

	for (size_t i = 0; i < last->count; i++) {
		const char *name = last->files[i].path + 1;
		struct change now = { .verb = "publish", .arena = arena };
		struct str *text = change_file(&now, install_path(install,
		    name), true, 0644);

		files[i] = (struct publish_file){ name, text == NULL ?
		    SLICE("") : slice_copy(arena, str_slice(text)) };
		if (text != NULL)
			str_release(&now.files[0].before);
		if (text != NULL)
			str_release(&now.files[0].after);
	}
	publish_set_sum(files, last->count, sum);
	return strcmp(sum, last->sum) == 0;
}

int
publish_undo_kept(const struct publish_job *job)
{
	struct publish_record last;
	struct install install;
	struct err err;
	int status = install_open(&install, job, LOCK_PATIENCE_MS);

	if (status != 0)
		return status;
	status = install_read(&install, RECORD_LAST, &last);
	if (status == EX_OK && record_is_there(install_spool(&install),
	    RECORD_PENDING))
		status = install_fail("a publish after it is not decided yet");
	if (status == EX_OK && !undo_is_same(&install, &last))
		status = install_fail("its files were changed since: look, "
		    "and use zmailer config undo there");
	/* E6: without the mark, a pending one goes back */
	if (status == EX_OK && record_rename(install_spool(&install),
	    RECORD_LAST, RECORD_PENDING, &err) < 0)
		status = install_fail(err.text);
	if (status == EX_OK)
		status = back_restore(&install, &last, "undo");
	return install_close(&install, status);
}

/* NULL: it is neither half done, nor over. */
static const char *
settle_reason(struct install *install, const struct publish_record *pending)
{
	struct publish_record taken;
	struct err err;

	if (record_read(install_spool(install), RECORD_TAKEN,
	    install->change.arena, &taken, &err) != RECORD_READ ||
	    strcmp(taken.id, pending->id) != 0)
		return "it was interrupted";
	return record_is_over(pending) ? "nobody said in time that it "
	    "stays" : NULL;
}

static int
settle_pending(struct install *install)
{
	struct publish_record pending;
	const char *why;
	struct err err;

	switch (record_read(install_spool(install), RECORD_PENDING,
	    install->change.arena, &pending, &err)) {
	case RECORD_NONE:
		return record_remove(install_spool(install), RECORD_TAKEN,
		    &err);
	case RECORD_BAD:
		warning("publish: %s", err.text);
		return -1;
	case RECORD_READ:
		break;
	}
	why = settle_reason(install, &pending);
	return why == NULL || back_restore(install, &pending, why) !=
	    EX_TEMPFAIL ? 0 : -1;
}

bool
publish_is_due(const char *spool_dir)
{
	struct arena *arena = arena_new();
	struct publish_record taken;
	struct err err;
	bool is_due = record_is_there(spool_dir, RECORD_PENDING) &&
	    (record_read(spool_dir, RECORD_TAKEN, arena, &taken, &err) !=
	    RECORD_READ || record_is_over(&taken));

	arena_free(&arena);
	return is_due;
}

/* The files may be half of one configuration and half of another: where the
 * spool is stands in what ran last, too. */
static bool
settle_is_due(const char *conf_path)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	bool is_makeshift, is_due;
	struct conf *conf = conf_load_makeshift(conf_path, arena, &report,
	    &is_makeshift);

	is_due = conf != NULL && publish_is_due(conf->spool_dir);
	conf_free(&conf);
	arena_free(&arena);
	return is_due;
}

int
publish_settle(const char *conf_path, int64_t patience_ms)
{
	const struct publish_job job = { .conf_path = conf_path };
	struct install install;
	int result;

	if (!settle_is_due(conf_path))
		return 0;
	if (install_open(&install, &job, patience_ms) != 0)
		return -1;
	result = settle_pending(&install);
	(void)install_close(&install, 0);
	return result;
}

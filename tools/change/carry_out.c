/* carry_out.c - a change is checked, shown, asked about, written, taken over
 *
 * In     a change whose texts were edited; an answer on the terminal
 * Out    files, a version, events, a reload
 * Holds  SPOOL/desk/lock while it writes
 * Trusts nothing it read before it had the lock: files that changed since
 *        are somebody else's work and stay
 * Spec   change.h; doc/INTERNALS.md rows E1 to E3
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/machine/machine.h"
#include "daemon/skeleton.h"
#include "journal/event.h"
#include "mail/spool/spool.h"
#include "tools/change/change.h"
#include "tools/run/supervisor.h"
#include "tools/screen/question.h"
#include "tools/verb/verb.h"

#include "base/banned.h"

/* ---- would it be right ------------------------------------------------ */

/* Are the files that the fresh configuration names worse than those of the
 * old one?  What was wrong before is not this change's doing.  A change that
 * writes such files itself is looked at by the reload, when they are there;
 * the way back is open whatever is wrong. */
static bool
files_are_worse(struct change *change, const struct conf *fresh)
{
	struct conf_report old = { NULL, 0, 0, 0 }, report = old;
	struct str text = STR_INIT;

	for (size_t i = 0; i < change->file_count; i++)
		if (change->files[i].is_table)
			return false;
	if (change->was != 0)
		return false;
	machine_check(fresh, change->arena, &report);
	if (report.errors == 0)
		return false;
	machine_check(change->conf, change->arena, &old);
	if (report.errors <= old.errors)
		return false;
	conf_report_print(&report, change->conf_path, &text);
	fputs(text.buf, stderr);
	str_release(&text);
	return true;
}

static int
change_check(struct change *change)
{
	struct conf_draft drafts[CHANGE_FILES_MAX];
	struct conf_report report;
	struct str text = STR_INIT;
	struct conf *conf;
	size_t count = 0;
	bool is_good;

	for (size_t i = 0; i < change->file_count; i++)
		if (!change->files[i].is_table)
			drafts[count++] = (struct conf_draft){
				change->files[i].path,
				str_slice(&change->files[i].after)
			};
	if (count == 0)
		return EX_OK;
	conf = conf_load_drafts(change->conf_path, drafts, count,
	    change->arena, &report);
	if (conf == NULL)
		conf_report_print(&report, change->conf_path, &text);
	is_good = conf != NULL && !files_are_worse(change, conf);
	if (!is_good)
		fprintf(stderr, "%szmailer: %s: that would be wrong; nothing "
		    "was changed\n", text.buf == NULL ? "" : text.buf,
		    change->verb);
	str_release(&text);
	conf_free(&conf);
	return is_good ? EX_OK : EX_CONFIG;
}

/* ---- may it be done ------------------------------------------------------ */

static void
change_show(const struct change *change)
{
	struct str text = STR_INIT;

	change_add_diff(&text, change);
	fputs(text.buf, stdout);
	fflush(stdout);
	str_release(&text);
}

/* 0 go on, else the exit status (EX_OK is none: *out_stop says so). */
static int
change_ask(const struct change *change, bool *out_stop)
{
	*out_stop = false;
	if (!change->is_json)
		change_show(change);
	if (change->is_dry) {
		*out_stop = true;
		return EX_OK;
	}
	if (change->is_yes)
		return EX_OK;
	*out_stop = true;
	if (!question_can_be_asked()) {
		fprintf(stderr, "zmailer: %s: say --yes to do this\n",
		    change->verb);
		return EX_USAGE;
	}
	if (!question_is_yes("Do this"))
		return 1;
	*out_stop = false;
	return EX_OK;
}

/* ---- doing it --------------------------------------------------------- */

/* What was read is still what stands there. */
static int
files_same(struct change *change)
{
	struct change now = { .verb = change->verb, .arena = change->arena };
	int status = EX_OK;

	for (size_t i = 0; i < change->file_count && status == EX_OK; i++) {
		const struct change_file *file = &change->files[i];
		struct str *text = change_file(&now, file->path,
		    file->is_table, 0600);

		if (text == NULL || !slice_equal(str_slice(text),
		    str_slice(&file->before))) {
			fprintf(stderr, "zmailer: %s: %s was changed by "
			    "somebody else meanwhile; look and try again\n",
			    change->verb, file->path);
			status = EX_TEMPFAIL;
		}
	}
	for (size_t i = 0; i < now.file_count; i++) {
		str_release(&now.files[i].before);
		str_release(&now.files[i].after);
	}
	return status;
}

/* Tables first, the main file last: what refers comes after what it refers
 * to. */
static int
files_write(struct change *change)
{
	struct err err;

	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < change->file_count; i++) {
			struct change_file *file = &change->files[i];
			int turn = file->is_table ? 0 : strcmp(file->path,
			    change->conf_path) == 0 ? 2 : 1;

			if (turn != pass || slice_equal(
			    str_slice(&file->before),
			    str_slice(&file->after)))
				continue;
			if (change_file_write(file, &err) == 0)
				continue;
			return verb_failed(change->verb, &err, EX_CANTCREAT);
		}
	return EX_OK;
}

/* The tables and keys that are written with the configuration, as they were or
 * are.  Tables that stand for themselves (aliases) are nobody's version. */
static void
change_tables_take(const struct change *change, bool is_before,
    struct version *about)
{
	struct version_table *tables = arena_alloc(change->arena,
	    CHANGE_FILES_MAX * sizeof(*tables));
	size_t bytes = 0;

	about->tables = tables;
	for (size_t i = 0; i < change->file_count && !change->is_quiet_table;
	    i++) {
		const struct change_file *file = &change->files[i];
		struct slice text = str_slice(is_before ? &file->before :
		    &file->after);

		if (!file->is_table || slice_equal(str_slice(&file->before),
		    str_slice(&file->after)) ||
		    about->table_count == VERSION_TABLES_MAX ||
		    bytes + text.n > VERSION_TABLE_BYTES_MAX)
			continue;
		bytes += text.n;
		tables[about->table_count++] = (struct version_table){
			file->path, text,
			file->is_secret     ? 0600 :
			    file->mode == 0 ? 0644 :
					      file->mode,
			file->account != NULL ? file->account : "-"
		};
	}
}

static void
change_keep(const struct change *change, const struct conf *conf,
    const char *verb,
    const char *reason)
{
	char by[64];
	struct version about = { .verb = verb, .reason = reason, .by = by,
		.was = verb == change->verb ? change->was : 0 };
	struct err err = { "" };

	change_tables_take(change, verb != change->verb, &about);

	verb_who(by, sizeof(by));
	if (versions_keep(conf, &about, &err) == VERSION_NOT_KEPT)
		fprintf(stderr, "zmailer: %s: this version is not kept for "
		    "undo: %s\n", change->verb, err.text);
}

static void
change_tell(const struct change *change)
{
	char by[64];
	unsigned numbers[VERSIONS_MAX + 2];
	size_t count = versions_list(change->conf->spool_dir, numbers);

	verb_who(by, sizeof(by));
	event_open(change->conf->log_dir);
	for (size_t i = 0; i < change->file_count; i++) {
		const struct change_file *file = &change->files[i];

		if (!slice_equal(str_slice(&file->before),
		    str_slice(&file->after)))
			event(EV_CONFIG_CHANGED, NULL,
			    "op", slice_of(change->verb),
			    "file", slice_of(file->path),
			    "by", slice_of(by),
			    "reason", slice_of(change->reason),
			    "version", event_number(count == 0 ? 0 :
			    (int64_t)numbers[count - 1]), NULL);
	}
	event_flush();
}

/* The daemons refused it: what stood there before stands there again, unless
 * somebody changed a file meanwhile. */
static bool
carry_out_restore(struct change *change)
{
	int lock = versions_lock(change->conf->spool_dir);
	bool is_done;

	if (lock == -1)
		return false;
	for (size_t i = 0; i < change->file_count; i++) {
		struct change_file *file = &change->files[i];
		struct str after = file->after;

		file->after = file->before;
		file->before = after;
	}
	is_done = files_same(change) == EX_OK && files_write(change) == EX_OK;
	if (is_done) {
		change->reason = "refused";
		change_keep(change, change->conf, change->verb, change->reason);
		change_tell(change);
	}
	if (lock >= 0)
		close(lock);
	return is_done;
}

/* Why a reload cannot take over what is written now; NULL: it can, or says
 * itself what is wrong. */
static const char *
change_needs_restart(const struct change *change, const char *conf_path)
{
	struct conf_report report;
	struct conf *old = conf_load_in_force(conf_path, change->arena,
	    &report);
	struct conf *fresh = conf_load(conf_path, change->arena, &report);
	const char *reason = old != NULL && fresh != NULL ?
	    daemon_restart_reason(old, fresh) : NULL;

	conf_free(&old);
	conf_free(&fresh);
	return reason;
}

static int
change_take_over(struct change *change, const char *conf_path)
{
	const char *reason;
	char text[256];
	pid_t pid;
	int status;

	if (change->is_quiet_table)
		return EX_OK;
	if (spool_lock_holder(change->conf->spool_dir, text, sizeof(text),
	    &pid) != SPOOL_LOCK_HELD) {
		printf("zmailer does not run: it holds from the next "
		    "start\n");
		return EX_OK;
	}
	reason = change_needs_restart(change, conf_path);
	if (reason != NULL) {
		change->wants_restart = true;
		fprintf(stderr, "zmailer: %s: it is written, and a reload "
		    "cannot take it over: %s\n", change->verb, reason);
		return EX_TEMPFAIL;
	}
	status = running_reload(conf_path);
	if (status == EX_CONFIG && change->was == 0 &&
	    carry_out_restore(change)) {
		fprintf(stderr, "zmailer: %s: the files are again what they "
		    "were; nothing was changed\n", change->verb);
		return status;
	}
	if (status != EX_OK)
		fprintf(stderr, "zmailer: %s: it is written, but not every "
		    "daemon has taken it over; zmailer config undo takes it "
		    "back\n",
		    change->verb);
	return status;
}

/* Under the lock: the version of before, the files, the version of now. */
static int
write_down(struct change *change)
{
	struct conf_report report;
	struct conf *fresh;
	int status;

	status = files_same(change);
	if (status != EX_OK)
		return status;
	change_keep(change, change->conf, "hand", "");
	status = files_write(change);
	if (status != EX_OK)
		return status;
	fresh = conf_load(change->conf_path, change->arena, &report);
	if (fresh != NULL)
		change_keep(change, fresh, change->verb, change->reason);
	conf_free(&fresh);
	change_tell(change);
	return EX_OK;
}

int
change_carry_out(struct change *change)
{
	bool is_over;
	int status, lock;

	if (change_is_empty(change)) {
		fprintf(stderr, "zmailer: %s: that is how it is already\n",
		    change->verb);
		return 1;
	}
	status = change->is_forced ? EX_OK : change_check(change);
	if (status == EX_OK) {
		status = change_ask(change, &is_over);
		if (is_over)
			return status;
	}
	if (status != EX_OK)
		return status;
	lock = versions_lock(change->conf->spool_dir);
	if (lock == -1) {
		fprintf(stderr, "zmailer: %s: another change is being made; "
		    "try again\n", change->verb);
		return EX_TEMPFAIL;
	}
	status = write_down(change);
	if (lock >= 0)
		close(lock);
	return status == EX_OK ? change_take_over(change, change->conf_path) :
	    status;
}

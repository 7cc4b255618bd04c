/* restore.c - zmailer restore: an archive back into the spool
 *
 * In     an archive of zmailer backup; the spool, with the daemons stopped
 * Out    the messages that are not there, in the states that they had; or a
 *        list of what the archive holds
 * Holds  the spool's lock while it writes
 * Trusts nothing in the archive; reads it whole and holds it against its
 *        checksum before it writes anything
 * Spec   zmailer-restore(8); doc/INTERNALS.md section 10
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/json.h"
#include "daemon/skeleton.h"
#include "mail/recover/recover.h"
#include "tools/zmailer/backup/backup.h"
#include "tools/selection/selection.h"
#include "tools/journal/ask.h"
#include "tools/run/supervisor.h"
#include "tools/screen/question.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { COPY_BYTES = 64 << 10 };

struct restore {
	const char	*file, *config_dir;
	char		**ids;		/* NULL: all */
	bool		 is_dry, is_list, is_yes, is_json;
	bool		 skips_done, is_partial;
	int64_t		 since_ms;	/* 0: from the first */
	struct conf	*conf;
	int		 fd;
	struct backup_index index;
	size_t		 wanted, present, left, done;
	struct put_back	 out;
	char		 by[64];
};

static int
restore_complain(int status, const char *what)
{
	fprintf(stderr, "zmailer: restore: %s\n", what);
	return status;
}

/* ---- the archive ------------------------------------------------------- */

/* What cannot be read twice, into a file that has no name. */
static int
copy_aside(int from, struct err *err)
{
	FILE *file = tmpfile();
	char buffer[COPY_BYTES];
	ssize_t n = 0;
	int fd = file == NULL ? -1 : fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);

	if (file != NULL)
		fclose(file);
	while (fd >= 0 && (n = read(from, buffer, sizeof(buffer))) > 0)
		if (write(fd, buffer, (size_t)n) != n) {
			n = -1;
			break;
		}
	if (fd >= 0 && n == 0)
		return fd;
	err_sys(err, "cannot keep what comes from standard input (TMPDIR)");
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
archive_open_file(struct restore *restore, struct err *err)
{
	bool is_input = strcmp(restore->file, "-") == 0;
	struct stat st;

	if (is_input && isatty(STDIN_FILENO))
		return err_set(err, "an archive is wanted on standard input");
	restore->fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) :
	    open(restore->file, O_RDONLY | O_CLOEXEC);
	if (restore->fd < 0 || fstat(restore->fd, &st) != 0)
		return err_sys(err, "cannot open %s", restore->file);
	if (!S_ISREG(st.st_mode) || (is_input &&
	    lseek(restore->fd, 0, SEEK_CUR) != 0)) {
		int fd = copy_aside(restore->fd, err);

		close(restore->fd);
		restore->fd = fd;
		if (fd < 0)
			return -1;
	}
	return backup_index_read(restore->fd, &restore->index, err);
}

/* ---- which of it -------------------------------------------------------- */

static bool
restore_is_asked_for(const struct restore *restore,
    const struct backup_item *item)
{
	struct slice id = slice_of(item->key);

	id = slice_first(id, slice_find(id, '.'));
	if (restore->since_ms > 0 && (!spool_id_is(id) ?
	    item->mtime_s * 1000 : spool_id_time_us(id) / 1000) <
	    restore->since_ms)
		return false;
	for (char **p = restore->ids; p != NULL && *p != NULL; p++)
		if (slice_is(id, *p))
			return true;
	return restore->ids == NULL || *restore->ids == NULL;
}

static void
restore_choose(struct restore *restore)
{
	for (size_t i = 0; i < restore->index.count; i++) {
		struct backup_item *item = &restore->index.items[i];

		if (!item->has_body)
			continue;
		item->is_left = !restore_is_asked_for(restore, item) ||
		    (restore->skips_done && item->is_done);
		restore->left += item->is_left;
		restore->present += !item->is_left && item->is_present;
		restore->done += !item->is_left && !item->is_present &&
		    item->is_done;
		restore->wanted += !item->is_left && !item->is_present;
	}
}

/* ---- what is said ------------------------------------------------------ */

static void
row_put(const struct restore *restore, const struct backup_item *item)
{
	const char *fate = item->is_present ? "is there" : item->is_left ?
	    "left" : item->is_done ? "done since" : "comes back";
	const char *area = item->area == AREA_QUEUE ? "queue" :
	    spool_area_names[item->area];
	struct str line = STR_INIT;

	if (restore->is_json) {
		json_open(&line);
		json_number(&line, "v", BACKUP_VERSION);
		json_text(&line, "id", slice_of(item->key));
		json_text(&line, "area", slice_of(area));
		json_text(&line, "why", slice_of(item->why));
		json_number(&line, "bytes", (int64_t)item->body_bytes);
		json_number(&line, "time", spool_id_is(slice_of(item->key)) ?
		    spool_id_time_us(slice_of(item->key)) / 1000000 :
		    item->mtime_s);
		json_bool(&line, "present", item->is_present);
		json_bool(&line, "done", item->is_done);
		json_close(&line);
	} else {
		str_addf(&line, "%-16s ", item->key);
		view_add_size(&line, item->body_bytes);
		str_addf(&line, "  %s%s%s  %s\n", area, *item->why ? "/" : "",
		    item->why, fate);
	}
	fputs(line.buf, stdout);
	str_release(&line);
}

static void
counts_put(const struct restore *restore, bool is_over)
{
	const struct put_back *out = &restore->out;
	struct str line = STR_INIT;

	if (restore->is_json) {
		json_open(&line);
		json_number(&line, "v", BACKUP_VERSION);
		json_text(&line, "archive", slice_of(restore->index.time));
		json_bool(&line, "whole", restore->index.is_whole);
		json_number(&line, "wanted", (int64_t)restore->wanted);
		json_number(&line, "present", (int64_t)restore->present);
		json_number(&line, "left", (int64_t)restore->left);
		json_number(&line, "done", (int64_t)restore->done);
		json_number(&line, "restored", (int64_t)out->messages);
		json_number(&line, "rerouted", (int64_t)out->routed_again);
		json_number(&line, "damaged", (int64_t)out->damaged);
		json_close(&line);
		fputs(line.buf, stdout);
		str_release(&line);
		return;
	}
	if (is_over)
		str_addf(&line, "%ju message%s restored",
		    (uintmax_t)out->messages, out->messages == 1 ? "" : "s");
	else
		str_addf(&line, "archive of %s: %zu message%s to restore",
		    restore->index.time, restore->wanted,
		    restore->wanted == 1 ? "" : "s");
	if (restore->present > 0)
		str_addf(&line, ", %zu %s there already", restore->present,
		    restore->present == 1 ? "is" : "are");
	if (restore->left > 0)
		str_addf(&line, ", %zu left", restore->left);
	str_addc(&line, '\n');
	if (restore->done > 0)
		str_addf(&line, "%zu of them the journal knows as done: they "
		    "would be delivered again%s\n", restore->done,
		    is_over ? "" : "; --skip-done leaves them");
	if (out->routed_again > 0)
		str_addf(&line, "%ju without a good control file: routed "
		    "again\n", (uintmax_t)out->routed_again);
	if (out->damaged > 0)
		str_addf(&line, "%ju damaged: the router puts them into "
		    "postman/\n", (uintmax_t)out->damaged);
	fputs(line.buf, stdout);
	str_release(&line);
}

/* 0 go on; else the exit status, *out_stop says so. */
static int
restore_ask(const struct restore *restore, bool *out_stop)
{
	*out_stop = true;
	counts_put(restore, false);
	if (restore->is_dry || restore->wanted == 0)
		return EX_OK;
	*out_stop = false;
	if (restore->is_yes)
		return EX_OK;
	*out_stop = true;
	if (!question_can_be_asked())
		return restore_complain(EX_USAGE, "say --yes to do this");
	if (!question_is_yes("Do this"))
		return 1;
	*out_stop = false;
	return EX_OK;
}

/* ---- doing it ---------------------------------------------------------- */

static void
on_restored(void *context, const struct backup_item *item, const char *file)
{
	const struct restore *restore = context;
	struct slice id = slice_of(item->key);

	id = slice_first(id, slice_find(id, '.'));
	event(EV_RESTORED, spool_id_is(id) ? item->key : NULL,
	    "file", slice_of(file), "archive", slice_of(restore->index.time),
	    "by", slice_of(restore->by), NULL);
	event_flush();
}

/* What a start would do first: an earlier restore that was cut is tidied. */
static int
restore_recover(struct spool *spool, const struct conf *conf, struct err *err)
{
	static const enum conf_role roles[] = { ROLE_SMTPSERVER, ROLE_ROUTER,
	    ROLE_SCHEDULER };
	uid_t uids[sizeof(roles) / sizeof(roles[0])];
	struct recovery found;
	size_t count = 0;
	gid_t gid;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (daemon_account(conf, roles[i], &uids[count], &gid,
		    NULL) == 0)
			count++;
	spool_own_accounts(uids, count);
	return spool_recover(spool, RECOVERY_START, NULL, NULL, &found, err);
}

/* For a dry run or not: mark, choose, report, and then write.  spool NULL:
 * there is none, and everything is restored. */
static int
restore_carry_out(struct restore *restore, struct spool *spool, struct err *err)
{
	bool is_over;
	int status;

	if (spool != NULL && backup_mark_present(spool, &restore->index,
	    err) != 0)
		return restore_complain(EX_IOERR, err->text);
	(void)backup_mark_done(restore->conf->log_dir, &restore->index);
	restore_choose(restore);
	if (restore->is_list) {
		for (size_t i = 0; i < restore->index.count; i++)
			if (restore->index.items[i].has_body)
				row_put(restore, &restore->index.items[i]);
		return EX_OK;
	}
	status = restore_ask(restore, &is_over);
	if (is_over)
		return status;
	event_open(restore->conf->log_dir);
	if (backup_put(spool, restore->fd, &restore->index, on_restored,
	    restore, &restore->out, err) != 0) {
		fprintf(stderr, "zmailer: restore: %s; %ju messages came back "
		    "before that, the same command does the rest\n",
		    err->text, (uintmax_t)restore->out.messages);
		return EX_IOERR;
	}
	counts_put(restore, true);
	return EX_OK;
}

static int
look_only(struct restore *restore, struct err *err)
{
	struct spool *spool = NULL;
	int status;

	restore->is_dry = true;
	if (conf_spool_open(restore->conf, 0, &spool, err) != 0)
		spool = NULL;
	status = restore_carry_out(restore, spool, err);
	spool_close(&spool);
	return status;
}

static int
write_spool(struct restore *restore, struct err *err)
{
	struct conf *conf = restore->conf;
	struct spool *spool = NULL;
	int status;

	if (dirs_prepare(conf, err) != 0)
		return verb_failed("restore", err, EX_CANTCREAT);
	/* the lock keeps the daemons from being started while we write */
	if (spool_lock(conf->spool_dir, err) != 0)
		return verb_failed("restore", err, EX_TEMPFAIL);
	if (daemon_drop(conf, ROLE_ROUTER, err) < 0 ||
	    conf_spool_open(conf, 0, &spool, err) != 0 ||
	    restore_recover(spool, conf, err) != 0)
		status = verb_failed("restore", err, EX_NOPERM);
	else
		status = restore_carry_out(restore, spool, err);
	spool_close(&spool);
	return status;
}

static int
put_settings(struct restore *restore, struct err *err)
{
	unsigned kept;
	int count;

	if (restore->is_dry || restore->is_list) {
		for (size_t i = 0; i < restore->index.file_count; i++)
			printf("%s/%s\n", restore->config_dir,
			    restore->index.files[i].path);
		return EX_OK;
	}
	count = backup_put_settings(restore->fd, &restore->index,
	    restore->config_dir, &kept, err);

	if (count < 0)
		return restore_complain(EX_CANTCREAT, err->text);
	printf("%d file%s of the configuration written below %s, %u %s there "
	    "already\n", count, count == 1 ? "" : "s", restore->config_dir,
	    kept, kept == 1 ? "is" : "are");
	return EX_OK;
}

/* Who lost a machine needs both, and has asked for one. */
static void
hint_settings(const struct restore *restore)
{
	size_t count = restore->index.file_count;

	if (count > 0 && !restore->is_json)
		printf("it has %zu file%s of the configuration, too: zmailer "
		    "restore --config DIR %s writes %s below DIR\n", count,
		    count == 1 ? "" : "s", restore->file,
		    count == 1 ? "it" : "them");
}

static int
restore_run(struct restore *restore, const char *conf_path)
{
	struct err err = { "" };
	int status;

	if (archive_open_file(restore, &err) != 0) {
		if (restore->fd < 0)
			return verb_failed("restore", &err, EX_NOINPUT);
		fprintf(stderr, "zmailer: restore: %s: %s\n", restore->file,
		    err.text);
		return EX_DATAERR;
	}
	if (!restore->index.is_whole) {
		fprintf(stderr, "zmailer: restore: %s: %s%s\n",
		    restore->file, err.text, restore->is_partial ||
		    restore->is_list ? "" : "; --partial takes what is whole");
		if (!restore->is_partial && !restore->is_list)
			return EX_DATAERR;
	}
	if (restore->config_dir != NULL)
		return put_settings(restore, &err);
	restore->conf = verb_conf(conf_path);
	verb_who(restore->by, sizeof(restore->by));
	status = restore->is_list || restore->is_dry ?
	    look_only(restore, &err) : write_spool(restore, &err);
	if (status == EX_OK)
		hint_settings(restore);
	event_flush();
	conf_free(&restore->conf);
	return status;
}

/* ---- the command line -------------------------------------------------- */

static int
restore_take_words(struct restore *restore, const struct arguments *arguments)
{
	const char *since = arguments_text(arguments, OPT_SINCE);
	struct err err = { "" };
	int64_t for_ms;

	if (since != NULL && ask_moment(since, clock_wall_us() / 1000,
	    &restore->since_ms, &for_ms, &err) != 0)
		return arguments_refuse(arguments, "--since %s: %s", since,
		    err.text);
	restore->ids = mem_alloc((size_t)arguments->count + 1,
	    sizeof(*restore->ids));
	for (int i = 1; i < arguments->count; i++) {
		restore->ids[i - 1] = arguments->words[i];
		if (!spool_id_is(slice_of(arguments->words[i])))
			return arguments_refuse(arguments, "%s is no id of a "
			    "message", arguments->words[i]);
	}
	return EX_OK;
}

int
verb_restore(struct arguments *arguments)
{
	struct restore restore = { .fd = -1,
	    .file = arguments->words[0],
	    .config_dir = arguments_text(arguments, OPT_CONFIG_DIR),
	    .is_dry = arguments_has(arguments, OPT_DRY_RUN),
	    .is_list = arguments_has(arguments, OPT_LIST),
	    .is_yes = arguments_has(arguments, OPT_YES),
	    .is_json = arguments_has(arguments, OPT_JSON),
	    .skips_done = arguments_has(arguments, OPT_SKIP_DONE),
	    .is_partial = arguments_has(arguments, OPT_PARTIAL) };
	int status = restore_take_words(&restore, arguments);

	if (status == EX_OK) {
		status = restore_run(&restore, arguments->conf_path);
		backup_index_release(&restore.index);
	}
	if (restore.fd >= 0)
		close(restore.fd);
	mem_free(&restore.ids);
	return status;
}

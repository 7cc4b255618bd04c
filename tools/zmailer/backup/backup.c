/* backup.c - zmailer backup: spool and configuration into one archive
 *
 * In     the spool, whether the daemons run or not; the configuration
 * Out    a tar archive, in a file (whole or as before) or on standard output
 * Holds  FILE.new-PID until it is whole
 * Spec   zmailer-backup(8); doc/INTERNALS.md section 10
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/json.h"
#include "tools/zmailer/backup/backup.h"
#include "tools/change/change.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct backup {
	const struct conf *conf;
	const char	*file;		/* "-": standard output */
	char		 draft[PATH_MAX];
	bool		 is_json, has_keys;
	struct archive	 archive;
	struct taken	 taken;
	unsigned	 files, left;
};

static int
backup_line_add(struct backup *backup, const char *member, bool is_end)
{
	struct str line = STR_INIT;
	char now[CLOCK_TEXT_BYTES], crc[16];
	int result;

	clock_rfc3339(clock_wall_us(), now);
	json_open(&line);
	json_number(&line, "v", BACKUP_VERSION);
	json_text(&line, "time", slice_of(now));
	if (is_end) {
		snprintf(crc, sizeof(crc), "%08" PRIx32, backup->archive.crc);
		json_number(&line, "messages",
		    (int64_t)backup->taken.messages);
		json_number(&line, "files", backup->files);
		json_text(&line, "crc", slice_of(crc));
	} else {
		json_text(&line, "host", slice_of(backup->conf->host));
		json_text(&line, "version", slice_of(PACKAGE_VERSION));
	}
	json_close(&line);
	result = archive_add_text(&backup->archive, member, str_slice(&line),
	    0600, clock_wall_s());
	str_release(&line);
	return result;
}

static int
backup_fill(struct backup *backup, struct err *err)
{
	const struct conf *conf = backup->conf;
	struct spool *spool;
	int result = -1;

	if (conf_spool_open(conf, 0, &spool,
	    err) != 0)
		return -1;
	if (backup_line_add(backup, BACKUP_FIRST, false) == 0 &&
	    backup_settings(conf, &backup->archive, backup->has_keys,
	    &backup->files, &backup->left, err) == 0 &&
	    backup_take(spool, &backup->archive, &backup->taken, err) == 0 &&
	    backup_line_add(backup, BACKUP_END, true) == 0 &&
	    archive_end(&backup->archive) == 0)
		result = 0;
	else if (backup->archive.is_bad)
		*err = backup->archive.err;
	spool_close(&spool);
	return result;
}

/* ---- where it goes -------------------------------------------------- */

static int
place_open(struct backup *backup, struct err *err)
{
	int fd;

	if (strcmp(backup->file, "-") == 0) {
		if (!isatty(STDOUT_FILENO))
			return STDOUT_FILENO;
		return err_set(err, "an archive is not for a terminal; name "
		    "a file, or let it go through a pipe");
	}
	snprintf(backup->draft, sizeof(backup->draft), "%s.new-%ld",
	    backup->file, (long)getpid());
	fd = open(backup->draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	return fd >= 0 ? fd : err_sys(err, "cannot write %s", backup->draft);
}

/* Row B1: until the rename the old archive stays in place. */
static int
place_close(struct backup *backup, int fd, bool is_good, struct err *err)
{
	if (fd == STDOUT_FILENO)
		return is_good ? 0 : -1;
	if (is_good && fsync(fd) != 0) {
		err_sys(err, "cannot write %s", backup->draft);
		is_good = false;
	}
	if (close(fd) != 0 && is_good) {
		err_sys(err, "cannot write %s", backup->draft);
		is_good = false;
	}
	if (is_good && rename(backup->draft, backup->file) != 0) {
		err_sys(err, "cannot replace %s", backup->file);
		is_good = false;
	}
	if (is_good && change_directory_sync(backup->file) != 0) {
		err_sys(err, "cannot make %s durable", backup->file);
		return -1;
	}
	if (!is_good)
		(void)unlink(backup->draft);	/* B1: ours alone */
	return is_good ? 0 : -1;
}

/* ---- what is said of it ------------------------------------------------ */

static void
backup_summary(const struct backup *backup, FILE *to)
{
	const struct taken *taken = &backup->taken;
	struct str line = STR_INIT;

	if (backup->is_json) {
		json_open(&line);
		json_number(&line, "v", BACKUP_VERSION);
		json_text(&line, "file", slice_of(backup->file));
		json_number(&line, "bytes", (int64_t)backup->archive.bytes);
		json_number(&line, "messages", (int64_t)taken->messages);
		for (int i = 0; i < AREA_COUNT; i++)
			json_number(&line, spool_area_names[i],
			    (int64_t)taken->by_area[i]);
		json_number(&line, "files", backup->files);
		json_number(&line, "left", backup->left);
		json_number(&line, "damaged", (int64_t)taken->damaged);
		json_close(&line);
	} else {
		str_addf(&line, "%ju message%s (", (uintmax_t)taken->messages,
		    taken->messages == 1 ? "" : "s");
		for (int i = 0, n = 0; i < AREA_COUNT; i++)
			if (taken->by_area[i] > 0)
				str_addf(&line, "%s%s %ju", n++ > 0 ? ", " : "",
				    spool_area_names[i],
				    (uintmax_t)taken->by_area[i]);
		str_addf(&line, "%s), %u file%s of the configuration, %ju "
		    "bytes\n", taken->messages == 0 ? "none" : "",
		    backup->files, backup->files == 1 ? "" : "s",
		    (uintmax_t)backup->archive.bytes);
		if (taken->damaged > 0)
			str_addf(&line, "%ju could not be read whole\n",
			    (uintmax_t)taken->damaged);
	}
	fputs(line.buf, to);
	str_release(&line);
}

static void
backup_tell(const struct backup *backup)
{
	char by[64];

	verb_who(by, sizeof(by));
	event_open(backup->conf->log_dir);
	event(EV_BACKUP, NULL, "file", slice_of(backup->file),
	    "messages", event_number((int64_t)backup->taken.messages),
	    "bytes", event_number((int64_t)backup->archive.bytes),
	    "by", slice_of(by), NULL);
	event_flush();
}

/* All files of the spool are ours, or all may be read. */
static bool
may_read(const struct conf *conf)
{
	struct stat st;

	return geteuid() == 0 || stat(conf->spool_dir, &st) != 0 ||
	    st.st_uid == geteuid();
}

static int
backup_run(struct backup *backup)
{
	struct err err = { "" };
	int fd, result;

	if (!may_read(backup->conf)) {
		fprintf(stderr, "zmailer: backup: the mail in %s is not yours "
		    "to read; do this as root\n", backup->conf->spool_dir);
		return EX_NOPERM;
	}
	fd = place_open(backup, &err);
	if (fd < 0) {
		fprintf(stderr, "zmailer: backup: %s\n", err.text);
		return strcmp(backup->file, "-") == 0 ? EX_USAGE :
		    EX_CANTCREAT;
	}
	archive_open(&backup->archive, fd);
	result = backup_fill(backup, &err);
	result = place_close(backup, fd, result == 0, &err);
	if (result == 0) {
		backup_summary(backup, fd == STDOUT_FILENO ? stderr : stdout);
		backup_tell(backup);
	} else {
		fprintf(stderr, "zmailer: backup: %s; there is no new "
		    "archive\n", err.text);
	}
	archive_release(&backup->archive);
	if (result != 0)
		return EX_IOERR;
	if (backup->taken.is_restless)
		fprintf(stderr, "zmailer: backup: mail was moved back and "
		    "forth all the time; some may be missing, do it again\n");
	return backup->left > 0 || backup->taken.damaged > 0 ||
	    backup->taken.is_restless ? 1 : EX_OK;
}

int
verb_backup(struct arguments *arguments)
{
	struct backup backup = { .file = arguments->words[0],
	    .has_keys = arguments_has(arguments, OPT_KEYS),
	    .is_json = arguments_has(arguments, OPT_JSON) };
	struct conf *conf;
	int status;

	conf = verb_conf(arguments->conf_path);
	backup.conf = conf;
	status = backup_run(&backup);
	conf_free(&conf);
	return status;
}

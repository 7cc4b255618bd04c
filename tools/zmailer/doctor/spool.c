/* spool.c - owners, modes, room, one file system, stale claims
 *
 * In     the spool's directories and names
 * Out    findings
 * Trusts nothing in names: those that are not ours are ignored
 * Spec   zmailer-doctor(8); doc/INTERNALS.md sections 2 and 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "daemon/skeleton.h"
#include "mail/spool/spool.h"
#include "tools/zmailer/doctor/doctor.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum { FREE_WARN_PERCENT = 10, FREE_BAD_PERCENT = 2 };

static void
say_directory(void *context, const char *path, const char *what)
{
	struct doctor *doctor = context;

	doctor_add(doctor, DOCTOR_BAD, path, daemon_is_private(doctor->conf) ?
	    "chown or chmod it; a start makes what is missing" :
	    "zmailer restart sets owners and modes right", "%s", what);
}

/* ---- room ------------------------------------------------------------ */

static unsigned
doctor_spool_percent(uint64_t part, uint64_t all)
{
	return all == 0 ? 100 : (unsigned)(part / (all / 100 + 1));
}

static void
judge_free(struct doctor *doctor, const char *dir)
{
	struct statvfs fs;
	unsigned bytes, files;

	if (statvfs(dir, &fs) != 0) {
		doctor_add(doctor, DOCTOR_BAD, dir, "", "%s",
		    strerror(errno));
		return;
	}
	bytes = doctor_spool_percent(fs.f_bavail, fs.f_blocks);
	files = doctor_spool_percent(fs.f_favail, fs.f_files);
	doctor_add(doctor, bytes < FREE_BAD_PERCENT ||
	    files < FREE_BAD_PERCENT ? DOCTOR_BAD :
	    bytes < FREE_WARN_PERCENT || files < FREE_WARN_PERCENT ?
	    DOCTOR_WARN : DOCTOR_OK, dir,
	    "make room: mail is refused (452) when it is full",
	    "%u%% of the bytes and %u%% of the inodes are free (%llu MB)",
	    bytes, files, (unsigned long long)
	    (fs.f_bavail * (fs.f_frsize / 1024) / 1024));
}

static void
judge_file_system(struct doctor *doctor)
{
	const char *spool_dir = doctor->conf->spool_dir;
	struct stat top, st;
	unsigned others = 0;

	if (stat(spool_dir, &top) != 0)
		return;
	for (enum spool_area area = 0; area < AREA_COUNT; area++) {
		const char *path = arena_printf(doctor->arena, "%s/%s",
		    spool_dir, spool_area_names[area]);

		if (stat(path, &st) != 0 || st.st_dev == top.st_dev)
			continue;
		others++;
		doctor_add(doctor, DOCTOR_BAD, path,
		    "a spool is one file system: mail moves by rename(2)",
		    "it is on another file system than %s", spool_dir);
	}
	if (others == 0)
		doctor_add(doctor, DOCTOR_OK, spool_dir, "",
		    "all of it is one file system");
}

/* ---- claims ---------------------------------------------------------- */

static bool
count_stale(void *context, const char *name)
{
	const char *base = strrchr(name, '/');
	struct spool_name parsed;

	if (spool_name_parse(slice_of(base != NULL ? base + 1 : name),
	    &parsed) && parsed.pid > 0 && kill(parsed.pid, 0) != 0 &&
	    errno == ESRCH)
		(*(unsigned *)context)++;
	return true;
}

static void
judge_claims(struct doctor *doctor)
{
	struct spool *spool;
	unsigned stale = 0;
	struct err err;

	if (conf_spool_open(doctor->conf, 0, &spool, &err) != 0) {
		doctor_add(doctor, DOCTOR_WARN, doctor->conf->spool_dir,
		    "ask as root", "%s", err.text);
		return;
	}
	for (unsigned i = 0; i < SPOOL_PRIORITIES; i++)
		if (spool_scan(spool, AREA_ROUTER, i, count_stale, &stale,
		    &err) != 0) {
			doctor_add(doctor, DOCTOR_WARN, "router/",
			    "ask as root", "%s", err.text);
			break;
		}
	if (stale > 0)
		doctor_add(doctor, DOCTOR_WARN, "router/",
		    doctor->is_running ? "the router takes them back within "
		    "a minute; else zmailer restart" :
		    "the next start takes them back",
		    "%u message%s claimed by processes that are gone", stale,
		    stale == 1 ? " is" : "s are");
	else
		doctor_add(doctor, DOCTOR_OK, "router/", "",
		    "no claim is stale");
	spool_close(&spool);
}

void
doctor_spool(struct doctor *doctor)
{
	struct stat st;

	if (stat(doctor->conf->spool_dir, &st) != 0) {
		doctor_add(doctor, doctor->is_running ? DOCTOR_BAD :
		    DOCTOR_WARN, doctor->conf->spool_dir,
		    "zmailer start makes it", "%s", strerror(errno));
		return;
	}
	if (dirs_check(doctor->conf, say_directory, doctor) == 0)
		doctor_add(doctor, DOCTOR_OK, doctor->conf->spool_dir, "",
		    "owners and modes are as they should be");
	judge_file_system(doctor);
	judge_free(doctor, doctor->conf->spool_dir);
	judge_free(doctor, doctor->conf->log_dir);
	judge_claims(doctor);
}

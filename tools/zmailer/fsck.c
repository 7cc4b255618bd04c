/* fsck.c - zmailer fsck: the spool against its truth table
 *
 * In     the spool; with --repair its lock, too
 * Out    one line a file that fits no row, and what is or would be done;
 *        a count by state; exit status 0 all fits, 1 something did not
 * Trusts no name; every judgement is spool_recover's
 * Spec   zmailer-fsck(8); doc/INTERNALS.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "journal/event.h"
#include "base/json.h"
#include "daemon/skeleton.h"
#include "mail/recover/recover.h"
#include "mail/spool/spool.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

struct fsck {
	struct spool	*spool;
	bool		 is_json, is_repair;
	enum spool_area	 area;		/* being counted */
	unsigned	 priority;
	uint64_t	 counts[AREA_COUNT];
	unsigned	 misfits;
	unsigned	 mended;
};

static void
fsck_say(struct fsck *fsck, const char *file, const char *to,
    const char *reason)
{
	bool can_mend = strcmp(file, to) != 0;
	struct str line = STR_INIT;

	fsck->misfits++;
	if (can_mend)
		fsck->mended++;
	if (fsck->is_json) {
		json_open_answer(&line);
		json_text(&line, "file", slice_of(file));
		if (can_mend)
			json_text(&line, "to", slice_of(to));
		json_text(&line, "reason", slice_of(reason));
		json_bool(&line, "mended", can_mend && fsck->is_repair);
		json_close(&line);
	} else {
		str_add_escaped(&line, slice_of(file));
		if (can_mend)
			str_addf(&line, " -> %s", *to ? to : "removed");
		str_addf(&line, ": %s\n", reason);
	}
	fputs(line.buf, stdout);
	str_release(&line);
}

static void
on_misfit(void *context, const char *file, const char *from, const char *to,
    const char *reason)
{
	fsck_say(context, from, to, reason);
}

/* "postman/12.why": is it there? */
static bool
is_there(const struct fsck *fsck, const char *name)
{
	return faccessat(spool_dir_fd(fsck->spool, fsck->area, 0), name, F_OK,
	    AT_SYMLINK_NOFOLLOW) == 0;
}

/* Recovery leaves what waits for a person alone; its names are checked
 * here. */
static void
check_aside(struct fsck *fsck, const char *name)
{
	char label[SPOOL_NAME_BYTES * 4], message[SPOOL_NAME_BYTES];
	struct spool_name parts;

	snprintf(label, sizeof(label), "%s/%s", spool_area_names[fsck->area],
	    name);
	if (!spool_name_parse(slice_of(name), &parts) || parts.pid != 0 ||
	    parts.why.n == 0) {
		fsck_say(fsck, label, label, "not a name of ours");
		return;
	}
	if (!slice_ends(parts.why, ".control"))
		return;
	snprintf(message, sizeof(message), "%.*s",
	    (int)(strlen(name) - strlen(".control")), name);
	if (!is_there(fsck, message))
		fsck_say(fsck, label, label,
		    "a control file whose message is gone");
}

static bool
fsck_count_one(void *context, const char *name)
{
	struct fsck *fsck = context;
	const char *last = strrchr(name, '/');

	if ((last ? last[1] : name[0]) != '.')
		fsck->counts[fsck->area]++;
	if (fsck->area == AREA_DEFERRED || fsck->area == AREA_FREEZER ||
	    fsck->area == AREA_POSTMAN)
		check_aside(fsck, name);
	return true;
}

static int
fsck_count_all(struct fsck *fsck, struct err *err)
{
	for (int i = 0; i < AREA_COUNT; i++) {
		unsigned priorities = i == AREA_ROUTER ? SPOOL_PRIORITIES : 1;

		fsck->area = (enum spool_area)i;
		for (unsigned j = 0; j < priorities; j++)
			if (spool_scan(fsck->spool, fsck->area, j,
			    fsck_count_one,
				fsck, err) != 0)
				return -1;
	}
	return 0;
}

static void
fsck_summary(const struct fsck *fsck, bool is_running)
{
	struct str line = STR_INIT;

	if (fsck->is_json) {
		json_open_answer(&line);
		for (int i = 0; i < AREA_COUNT; i++)
			json_number(&line, spool_area_names[i],
			    (int64_t)fsck->counts[i]);
		json_number(&line, "misfits", fsck->misfits);
		json_number(&line, "mended",
		    fsck->is_repair ? fsck->mended : 0);
		json_bool(&line, "running", is_running);
		json_close(&line);
	} else {
		for (int i = 0; i < AREA_COUNT; i++)
			str_addf(&line, "%s%s %ju", i ? ", " : "",
			    spool_area_names[i], (uintmax_t)fsck->counts[i]);
		str_addc(&line, '\n');
		if (fsck->misfits == 0)
			str_adds(&line, "every file fits its state\n");
		else if (fsck->is_repair)
			str_addf(&line, "%u files fitted no state, %u mended\n",
			    fsck->misfits, fsck->mended);
		else
			str_addf(&line, "%u files fit no state; %s\n",
			    fsck->misfits, is_running ?
			    "the daemons run: some may only be on their way" :
			    "zmailer fsck --repair mends what can be");
	}
	fputs(line.buf, stdout);
	str_release(&line);
}

/* Running daemons: look only.  Else as a start would see it. */
static enum recovery_mode
choose_mode(const struct fsck *fsck, bool is_running)
{
	if (fsck->is_repair)
		return RECOVERY_START;
	return is_running ? RECOVERY_REPORT :
	    (enum recovery_mode)(RECOVERY_REPORT | RECOVERY_START);
}

/* Before the drop: an account that is missing is the daemons' to tell. */
static void
own_accounts(const struct conf *conf)
{
	static const enum conf_role roles[] = { ROLE_SMTPSERVER, ROLE_ROUTER,
	    ROLE_SCHEDULER };
	uid_t uids[sizeof(roles) / sizeof(roles[0])];
	size_t count = 0;
	struct err err;
	gid_t gid;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (daemon_account(conf, roles[i], &uids[count], &gid,
		    &err) == 0)
			count++;
	spool_own_accounts(uids, count);
}

static int
fsck_run(struct fsck *fsck, const struct conf *conf)
{
	struct recovery found;
	struct err err = { "" };
	char holder[256];
	bool is_running;
	pid_t pid;

	own_accounts(conf);
	is_running = spool_lock_holder(conf->spool_dir, holder,
	    sizeof(holder), &pid) == SPOOL_LOCK_HELD;
	/* the lock keeps the daemons from being started while we mend */
	if (fsck->is_repair && spool_lock(conf->spool_dir, &err) != 0) {
		return verb_failed("fsck", &err, EX_TEMPFAIL);
	}
	if ((fsck->is_repair && daemon_drop(conf, ROLE_ROUTER, &err) < 0) ||
	    spool_open(conf->spool_dir, 0, conf->hash_levels, &fsck->spool,
		&err) != 0) {
		return verb_failed("fsck", &err, EX_NOINPUT);
	}
	if (fsck->is_repair)
		event_open(conf->log_dir);
	if (spool_recover(fsck->spool, choose_mode(fsck, is_running),
		on_misfit, fsck, &found, &err) != 0 ||
	    fsck_count_all(fsck, &err) != 0) {
		return verb_failed("fsck", &err, EX_NOPERM);
	}
	event_flush();
	fsck_summary(fsck, is_running && !fsck->is_repair);
	if (fsck->is_repair)
		return fsck->mended == fsck->misfits ? EX_OK : 1;
	return fsck->misfits == 0 ? EX_OK : 1;
}

int
verb_fsck(struct arguments *arguments)
{
	struct fsck fsck = {
	    .is_repair = arguments_has(arguments, OPT_REPAIR),
	    .is_json = arguments_has(arguments, OPT_JSON) };
	struct conf *conf;
	int status;

	conf = verb_conf(arguments->conf_path);
	status = fsck_run(&fsck, conf);
	spool_close(&fsck.spool);
	conf_free(&conf);
	return status;
}

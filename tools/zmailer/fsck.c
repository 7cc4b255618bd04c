/* fsck.c - zmailer fsck: the spool against its truth table
 *
 * In     the spool; with --repair its lock, too.  While the daemons run, what
 *        fits no row is looked at again: most of it was on its way
 * Out    one line a file that fits no row, and what is or would be done;
 *        a count by state; exit status 0 all fits, 1 something did not
 * Trusts no name; every judgement is spool_recover's
 * Spec   zmailer-fsck(8); doc/INTERNALS.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "journal/event.h"
#include "base/json.h"
#include "daemon/skeleton.h"
#include "mail/recover/recover.h"
#include "mail/spool/spool.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { FSCK_LOOKS_AGAIN = 3, FSCK_AGAIN_S = 1 };

struct misfit {
	const char	*file, *to, *reason;	/* of fsck's arena */
};

struct fsck {
	struct spool	*spool;
	bool		 is_json, is_repair;
	bool		 is_running;	/* files move: misfits are collected */
	struct arena	*arena;
	struct misfit	*found;
	size_t		 found_count, found_room;
	enum spool_area	 area;		/* being counted */
	unsigned	 priority;
	uint64_t	 counts[AREA_COUNT];
	unsigned	 misfits;
	unsigned	 mended;
};

/* ---- what was found ----------------------------------------------------- */

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

static const char *
fsck_dup(struct fsck *fsck, const char *text)
{
	return arena_dup(fsck->arena, text, strlen(text));
}

/* While the daemons run it is kept for the next look, else said. */
static void
fsck_found(struct fsck *fsck, const char *file, const char *to,
    const char *reason)
{
	if (!fsck->is_running) {
		fsck_say(fsck, file, to, reason);
		return;
	}
	if (fsck->found_count == fsck->found_room) {
		fsck->found_room = fsck->found_room * 2 + 16;
		fsck->found = mem_grow(fsck->found, fsck->found_room,
		    sizeof(*fsck->found));
	}
	fsck->found[fsck->found_count++] = (struct misfit){
		fsck_dup(fsck, file), fsck_dup(fsck, to), fsck_dup(fsck, reason)
	};
}

static void
on_misfit(void *context, const char *file, const char *from, const char *to,
    const char *reason)
{
	fsck_found(context, from, to, reason);
}

static int
misfit_compare(const void *a, const void *b)
{
	const struct misfit *left = a, *right = b;
	int order = strcmp(left->file, right->file);

	return order != 0 ? order : strcmp(left->reason, right->reason);
}

/* Of what this look found keep what the look before had found as well. */
static void
fsck_keep_both(struct fsck *fsck, struct misfit *before, size_t count)
{
	size_t kept = 0;

	qsort(before, count, sizeof(*before), misfit_compare);
	for (size_t i = 0; i < fsck->found_count; i++)
		if (bsearch(&fsck->found[i], before, count, sizeof(*before),
		    misfit_compare) != NULL)
			fsck->found[kept++] = fsck->found[i];
	fsck->found_count = kept;
}

/* ---- looking ------------------------------------------------------------ */

/* "postman/12.why": is it there? */
static bool
is_there(const struct fsck *fsck, const char *name)
{
	return faccessat(spool_dir_fd(fsck->spool, fsck->area, 0), name, F_OK,
	    AT_SYMLINK_NOFOLLOW) == 0;
}

/* Recovery ignores what waits for a person, so its names are checked here. */
static void
check_aside(struct fsck *fsck, const char *name)
{
	char label[SPOOL_NAME_BYTES * 4], message[SPOOL_NAME_BYTES];
	struct spool_name parts;

	snprintf(label, sizeof(label), "%s/%s", spool_area_names[fsck->area],
	    name);
	if (!spool_name_parse(slice_of(name), &parts) || parts.pid != 0 ||
	    parts.why.n == 0) {
		fsck_found(fsck, label, label, "not a name of ours");
		return;
	}
	if (!slice_ends(parts.why, ".control"))
		return;
	snprintf(message, sizeof(message), "%.*s",
	    (int)(strlen(name) - strlen(".control")), name);
	if (!is_there(fsck, message))
		fsck_found(fsck, label, label,
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

/* Running daemons: look only.  Else as a start would see it. */
static enum recovery_mode
fsck_mode(const struct fsck *fsck)
{
	if (fsck->is_repair)
		return RECOVERY_START;
	return fsck->is_running ? RECOVERY_REPORT :
	    (enum recovery_mode)(RECOVERY_REPORT | RECOVERY_START);
}

/* The whole spool, once. */
static int
fsck_look(struct fsck *fsck, struct err *err)
{
	struct recovery found;

	memset(fsck->counts, 0, sizeof(fsck->counts));
	if (spool_recover(fsck->spool, fsck_mode(fsck), on_misfit, fsck,
	    &found, err) != 0)
		return -1;
	return fsck_count_all(fsck, err);
}

/* Daemons move files meanwhile: what fits no state in one look and is gone in
 * the next was on its way.  Says the rest. */
static int
fsck_look_again(struct fsck *fsck, struct err *err)
{
	struct timespec nap = { .tv_sec = FSCK_AGAIN_S };
	int result = 0;

	for (int i = 0; i < FSCK_LOOKS_AGAIN && fsck->found_count > 0 &&
	    result == 0; i++) {
		struct misfit *before = fsck->found;
		size_t count = fsck->found_count;

		if (i == 0)
			fprintf(stderr, "zmailer fsck: %zu files may be on "
			    "their way; looking again\n", count);
		(void)nanosleep(&nap, NULL);
		fsck->found = NULL;
		fsck->found_count = fsck->found_room = 0;
		result = fsck_look(fsck, err);
		fsck_keep_both(fsck, before, count);
		mem_free(&before);
	}
	fsck->is_running = false;
	for (size_t i = 0; i < fsck->found_count; i++)
		fsck_found(fsck, fsck->found[i].file, fsck->found[i].to,
		    fsck->found[i].reason);
	mem_free(&fsck->found);
	return result;
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
	    conf_spool_open(conf, 0, &fsck->spool,
		&err) != 0) {
		return verb_failed("fsck", &err, EX_NOINPUT);
	}
	if (fsck->is_repair)
		event_open(conf->log_dir);
	fsck->is_running = is_running && !fsck->is_repair;
	if (fsck_look(fsck, &err) != 0 || fsck_look_again(fsck, &err) != 0) {
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
	fsck.arena = arena_new();
	status = fsck_run(&fsck, conf);
	arena_free(&fsck.arena);
	spool_close(&fsck.spool);
	conf_free(&conf);
	return status;
}

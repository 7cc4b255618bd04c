/* deliver.c - whose mail this is, and into which file it goes
 *
 * In     recipients: a user name, or (host "file") a path and a uid
 * Out    deliveries by maildir.c and mbox.c; verdicts
 * Holds  the message of the present job
 * Trusts the configuration's template; user names only after a check
 * Spec   zmailer-mailbox(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transports/mailbox/mailbox.h"

#include "base/banned.h"

struct mailbox {			/* the agent's state */
	const struct conf	*conf;
	bool			 needs_home;	/* {home} in the template */
	char			 base[MAILBOX_PATH_BYTES];
					/* of the template, up to the last
					 * slash before the first brace */
	struct content		 content;
	const struct work_job	*loaded;	/* content is of this job */
	bool			 is_loaded_mbox;
};

void
mailbox_trouble(struct verdict *verdict, const struct err *err)
{
	bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	verdict_set(verdict, VERDICT_DEFERRED, is_full ? "4.2.2" : "4.3.0",
	    "mailbox", "%s", err->text);
}

/* ---- accounts ---------------------------------------------------------- */

/* A user without an account: its mailbox belongs to who owns the directory
 * of mailboxes.  A directory of root's that others can write is none. */
static int
owner_of_base(const struct mailbox *mailbox, struct account *out,
    struct err *err)
{
	struct stat st;

	if (lstat(mailbox->base, &st) != 0) {
		account_back();		/* who we are cannot look there */
		if (lstat(mailbox->base, &st) != 0)
			return err_sys(err, "%s", mailbox->base);
	}
	if (!S_ISDIR(st.st_mode) ||
	    (st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) != 0))
		return 0;
	account_of_ids(st.st_uid, st.st_gid, out);
	return 1;
}

/* Who the delivery belongs to: 1; 0 no such user; -1. */
static int
owner_find(const struct mailbox *mailbox, struct slice user,
    struct account *out, struct err *err)
{
	const struct account *found;
	int got;

	if (!account_is_root() && !mailbox->needs_home) {
		account_of_ids(geteuid(), getegid(), out);
		return 1;
	}
	got = account_by_name(user, &found, err);
	if (got < 0)
		return -1;
	if (got > 0) {
		*out = *found;
		if (!account_is_root())
			out->uid = geteuid();
		return 1;
	}
	return mailbox->needs_home ? 0 : owner_of_base(mailbox, out, err);
}

/* ---- paths ------------------------------------------------------------- */

/* The template with {user} and {home} filled in; -1 when it is too long. */
static int
path_make(const struct mailbox *mailbox, struct slice user,
    const struct account *owner, char *out, struct err *err)
{
	struct slice rest = slice_of(mailbox->conf->mailbox_path);
	struct str path = STR_INIT;
	bool fits;

	while (rest.n > 0) {
		if (slice_starts(rest, "{user}")) {
			str_add_slice(&path, user);
			rest = slice_from(rest, 6);
		} else if (slice_starts(rest, "{home}")) {
			str_adds(&path, owner->home);
			rest = slice_from(rest, 6);
		} else {
			str_addc(&path, rest.p[0]);
			rest = slice_from(rest, 1);
		}
	}
	fits = strlcpy(out, path.buf, MAILBOX_PATH_BYTES) <
	    MAILBOX_PATH_BYTES;
	str_release(&path);
	errno = ENAMETOOLONG;
	return fits ? 0 : err_set(err, "the path of the mailbox is too long");
}

/* ---- one recipient ----------------------------------------------------- */

static int
content_of(struct mailbox *mailbox, const struct work_job *job, int body_fd,
    bool is_mbox, struct err *err)
{
	if (mailbox->loaded == job && mailbox->is_loaded_mbox == is_mbox)
		return 0;
	mailbox->loaded = NULL;
	if (content_load(&mailbox->content,
	    is_mbox ? CONTENT_FROM_LINE | CONTENT_QUOTED : 0, job, body_fd,
	    err) < 0)
		return -1;
	mailbox->loaded = job;
	mailbox->is_loaded_mbox = is_mbox;
	return 0;
}

static void
trace_make(const struct mailbox *mailbox, struct slice user, struct str *out)
{
	str_adds(out, "Delivered-To: ");
	str_add_escaped(out, user);
	if (slice_find(user, '@') == user.n && user.p[0] != '/')
		str_addf(out, "@%s", mailbox->conf->host);
	str_addc(out, '\n');
}

static void
no_user(struct slice user, struct verdict *verdict)
{
	verdict_set(verdict, VERDICT_FAILED, "5.1.1", "mailbox",
	    "there is no user " SLICE_FMT, SLICE_ARG(slice_first(user, 100)));
}

static void
deliver_user(struct mailbox *mailbox, struct slice user,
    const struct delivery *delivery, struct verdict *verdict)
{
	char path[MAILBOX_PATH_BYTES];
	struct account owner;
	struct err err;
	int got;

	if (!account_name_is_safe(user)) {
		verdict_set(verdict, VERDICT_FAILED, "5.1.3", "mailbox",
		    "a user name cannot be " SLICE_FMT,
		    SLICE_ARG(slice_first(user, 100)));
		return;
	}
	got = owner_find(mailbox, user, &owner, &err);
	if (got == 0) {
		no_user(user, verdict);
		return;
	}
	if (got < 0 || path_make(mailbox, user, &owner, path, &err) < 0 ||
	    account_become(&owner, &err) < 0)
		mailbox_trouble(verdict, &err);
	else if (mailbox->conf->mailbox_kind == MAILBOX_MAILDIR)
		maildir_begin(path, &owner, !mailbox->needs_home, delivery,
		    verdict);
	else
		mbox_append(path, &owner, !mailbox->needs_home,
		    delivery->content, delivery->trace, verdict);
}

/* An alias that names a file: written as the one who said so. */
static void
deliver_file(struct mailbox *mailbox, const struct work_rcpt *rcpt,
    struct slice trace, struct verdict *verdict)
{
	const struct account *found = NULL;
	struct account owner;
	char path[MAILBOX_PATH_BYTES];
	struct err err = { "" };

	if (slice_is(rcpt->user, "/dev/null")) {
		verdict_set(verdict, VERDICT_DELIVERED, "2.0.0", "mailbox",
		    "discarded");
		return;
	}
	if (rcpt->user.n == 0 || rcpt->user.p[0] != '/' ||
	    rcpt->user.n >= sizeof(path)) {
		verdict_set(verdict, VERDICT_FAILED, "5.1.3", "mailbox",
		    "a file must be given by its whole path");
		return;
	}
	memcpy(path, rcpt->user.p, rcpt->user.n);
	path[rcpt->user.n] = '\0';
	if (!account_is_root()) {
		account_of_ids(geteuid(), getegid(), &owner);
	} else {
		if (account_by_uid(rcpt->uid, &found, &err) <= 0) {
			errno = 0;
			err_prefix(&err, "no account of uid %lld",
			    (long long)rcpt->uid);
			mailbox_trouble(verdict, &err);
			return;
		}
		owner = *found;
	}
	if (account_become(&owner, &err) < 0)
		mailbox_trouble(verdict, &err);
	else
		mbox_append(path, &owner, false, &mailbox->content, trace,
		    verdict);
}

static void
deliver(struct mailbox *mailbox, const struct work_job *job, int body_fd,
    size_t index, struct verdict *verdict)
{
	const struct work_rcpt *rcpt = &job->rcpts[index];
	bool is_file = slice_is(rcpt->host, "file");
	bool is_mbox = is_file || mailbox->conf->mailbox_kind == MAILBOX_MBOX;
	struct delivery delivery = { job->id, rcpt->offset,
	    &mailbox->content, SLICE("") };
	struct str trace = STR_INIT;
	struct err err;

	if (content_of(mailbox, job, body_fd, is_mbox, &err) < 0) {
		mailbox_trouble(verdict, &err);
		return;
	}
	trace_make(mailbox, rcpt->user, &trace);
	delivery.trace = str_slice(&trace);
	if (is_file)
		deliver_file(mailbox, rcpt, delivery.trace, verdict);
	else
		deliver_user(mailbox, rcpt->user, &delivery, verdict);
	str_release(&trace);
}

/* ---- the agent --------------------------------------------------------- */

static void
base_find(struct mailbox *mailbox)
{
	const char *path = mailbox->conf->mailbox_path;
	size_t n = strcspn(path, "{");

	while (n > 1 && path[n - 1] != '/')
		n--;
	if (n > 1)
		n--;				/* the slash itself */
	if (n >= sizeof(mailbox->base))
		n = 0;
	memcpy(mailbox->base, path, n);
	mailbox->base[n] = '\0';
}

int
mailbox_start(struct agent_run *run, struct err *err)
{
	struct mailbox *mailbox = mem_alloc(1, sizeof(*mailbox));
	bool is_unsafe = run->conf->sync == SYNC_UNSAFE;

	mailbox->conf = run->conf;
	mailbox->needs_home = strstr(run->conf->mailbox_path, "{home}") !=
	    NULL;
	base_find(mailbox);
	content_init(&mailbox->content);
	maildir_setup(run->conf->host, run->conf->sync);
	mbox_setup(is_unsafe);
	run->state = mailbox;
	return 0;
}

int
mailbox_job(struct agent_run *run, struct work_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct mailbox *mailbox = run->state;

	mailbox->loaded = NULL;
	for (size_t i = 0; i < job->rcpt_count; i++)
		deliver(mailbox, job, body_fd, i, &verdicts[i]);
	return 0;
}

void
mailbox_settle(struct agent_run *run)
{
	maildir_settle();
	account_back();
}

void
mailbox_finish(struct agent_run *run)
{
	struct mailbox *mailbox = run->state;

	content_release(&mailbox->content);
	mem_free(&mailbox);
	run->state = NULL;
}

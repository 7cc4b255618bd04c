/* deliver.c - each recipient of a job in its turn
 *
 * In     recipients: a user name, or (host "file") a path and a uid
 * Out    deliveries by act.c, maildir.c and mbox.c; verdicts
 * Holds  the message of the present job
 * Trusts user names only after a check
 * Spec   zmailer-mailbox(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "journal/event.h"
#include "grammar/message/header.h"
#include "transports/mailbox/mailbox.h"
#include "transports/mailbox/berths.h"

#include "base/banned.h"

void
mailbox_trouble(struct verdict *verdict, const struct err *err)
{
	bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	verdict_set(verdict, VERDICT_DEFERRED, is_full ? "4.2.2" : "4.3.0",
	    "mailbox", "%s", err->text);
}

/* ---- users ------------------------------------------------------------- */

/* It was delivered, or forwarded, for this address before: it says so. */
static bool
deliver_is_loop(struct slice header, const char *address)
{
	struct header_field field;
	bool is_broken = false;

	while (header.n > 0) {
		if (header_next(&header, &field, &is_broken) == 0)
			(void)header_junk(&header);
		else if (header_is(&field, "Delivered-To") &&
		    slice_is_nocase(slice_trim(field.value), address))
			return true;
	}
	return false;
}

static void
deliver_no_user(struct slice user, enum account_found got,
    const struct err *err,
    struct verdict *verdict)
{
	struct slice name = slice_first(user, 100);

	if (got == ACCOUNT_NONE)
		verdict_set(verdict, VERDICT_FAILED, "5.1.1", "mailbox",
		    "there is no user " SLICE_FMT, SLICE_ARG(name));
	else if (errno == EINVAL)
		verdict_set(verdict, VERDICT_FAILED, "5.1.3", "mailbox",
		    "a user name cannot be " SLICE_FMT, SLICE_ARG(name));
	else
		mailbox_trouble(verdict, err);
}

/* What the user's forward file says. */
static enum forward_found
deliver_find_forward(const struct action *action, struct forward *out,
    struct err *err)
{
	const struct mailbox_place *place = action->place;
	const char *template = action->mailbox->conf->forward_path;
	bool is_own = strstr(template, "{home}") != NULL;
	char path[MAILBOX_PATH_BYTES];
	enum forward_found got;

	if (template[0] == '\0' || (is_own && (place->is_virtual ||
	    place->owner.home[0] == '\0' || place->owner.uid == 0)))
		return FORWARD_NONE;
	if (place_path(template, place, path, err) < 0 ||
	    account_become(&place->owner, err) < 0)
		return FORWARD_TROUBLE;
	got = forward_read(action->arena, path, &place->owner, out, err);
	if (out->remark[0] != '\0')
		event(EV_FORWARD_IGNORED, action->job->id, "to",
		    slice_of(place->address), "reason",
		    slice_of(out->remark), NULL);
	return got;
}

static void
mailbox_deliver_user(struct action *action, struct mailbox_place *place,
    struct verdict *verdict)
{
	struct slice user = action->rcpt->user;
	struct forward forward;
	struct err err = { "" };
	enum forward_found says;
	enum account_found got = place_find(action->mailbox, user, place, &err);

	action->place = place;
	if (got != ACCOUNT_FOUND) {
		deliver_no_user(user, got, &err, verdict);
		return;
	}
	if (deliver_is_loop(action->job->header, place->address)) {
		verdict_set(verdict, VERDICT_FAILED, "5.4.6", "mailbox",
		    "a mail loop: it has a Delivered-To of %s", place->address);
		return;
	}
	says = deliver_find_forward(action, &forward, &err);
	if (says == FORWARD_TROUBLE)
		mailbox_trouble(verdict, &err);
	else if (says == FORWARD_FOUND)
		action_forward(action, &forward, verdict);
	else
		action_mailbox(action, verdict);
}

/* ---- files ------------------------------------------------------------- */

/* Who an alias' file is written as; -1: filled the verdict. */
static int
deliver_file_owner(const struct control_rcpt *rcpt, struct account *out,
    struct verdict *verdict)
{
	const struct account *found = NULL;
	struct err err = { "" };

	if (!account_is_root()) {
		account_of_ids(geteuid(), getegid(), out);
		return 0;
	}
	if (account_by_uid(rcpt->uid, &found, &err) != ACCOUNT_FOUND) {
		errno = 0;
		err_prefix(&err, "no account of uid %lld",
		    (long long)rcpt->uid);
		mailbox_trouble(verdict, &err);
		return -1;
	}
	*out = *found;
	return 0;
}

/* An alias, or archive, that names a file, or with a slash at its end a
 * Maildir: written as the one who said so. */
static void
mailbox_deliver_file(struct action *action, struct verdict *verdict)
{
	struct slice name = action->rcpt->user;
	bool is_maildir = slice_ends(name, "/");
	struct account owner;
	const char *path;
	struct delivery delivery = { action->job->id, action->rcpt->offset,
	    &action->mailbox->content, action->trace, NULL };
	struct err err = { "" };

	if (slice_is(name, "/dev/null")) {
		verdict_set(verdict, VERDICT_DELIVERED, "2.0.0", "mailbox",
		    "discarded");
		return;
	}
	if (name.n == 0 || name.p[0] != '/' || name.n >= MAILBOX_PATH_BYTES) {
		verdict_set(verdict, VERDICT_FAILED, "5.1.3", "mailbox",
		    "a file must be given by its whole path");
		return;
	}
	path = slice_dup(action->arena, slice_first(name, name.n -
	    is_maildir));
	if (deliver_file_owner(action->rcpt, &owner, verdict) < 0)
		return;
	if (action_content(action, is_maildir ? 0 : CONTENT_FROM_LINE |
	    CONTENT_QUOTED, &err) < 0 || account_become(&owner, &err) < 0)
		mailbox_trouble(verdict, &err);
	else if (is_maildir) {
		maildir_begin(path, &owner, NULL, &delivery, verdict);
		maildir_settle();	/* owner ends here */
	} else {
		berth_for(crc32c(0, path, strlen(path)));
		mbox_append(path, &owner, NULL, &delivery, verdict);
	}
}

/* ---- one recipient ----------------------------------------------------- */

static void
deliver_make_trace(const struct mailbox *mailbox, struct slice user,
    struct str *out)
{
	str_adds(out, "Delivered-To: ");
	str_add_escaped(out, user);
	if (slice_find(user, '@') == user.n && user.p[0] != '/')
		str_addf(out, "@%s", mailbox->conf->host);
	str_addc(out, '\n');
}

static void
mailbox_deliver_rcpt(struct agent_run *run, const struct control_job *job,
    int body_fd,
    size_t index, struct verdict *verdict)
{
	struct mailbox_place place;
	struct action action = {
		.mailbox = run->state, .arena = run->arena, .job = job,
		.rcpt = &job->rcpts[index], .body_fd = body_fd };
	struct str trace = STR_INIT;

	deliver_make_trace(action.mailbox, action.rcpt->user, &trace);
	action.trace = str_slice(&trace);
	if (slice_is(action.rcpt->host, "file"))
		mailbox_deliver_file(&action, verdict);
	else
		mailbox_deliver_user(&action, &place, verdict);
	str_release(&trace);
}

/* ---- the agent --------------------------------------------------------- */

int
mailbox_start(struct agent_run *run, struct err *err)
{
	struct mailbox *mailbox = mem_alloc(1, sizeof(*mailbox));

	mailbox->conf = run->conf;
	place_setup(mailbox);
	content_clear(&mailbox->content);
	maildir_setup(run->conf->host, run->conf->sync);
	mbox_setup(run->conf->sync);
	berths_setup(run->conf->run_dir);
	run->state = mailbox;
	return 0;
}

int
mailbox_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct mailbox *mailbox = run->state;

	mailbox->loaded = NULL;
	for (size_t i = 0; i < job->rcpt_count; i++)
		mailbox_deliver_rcpt(run, job, body_fd, i, &verdicts[i]);
	return 0;
}

void
mailbox_settle(struct agent_run *run)
{
	maildir_settle();
	account_rest();
}

void
mailbox_finish(struct agent_run *run)
{
	struct mailbox *mailbox = run->state;

	berths_finish();
	content_release(&mailbox->content);
	mem_free(&mailbox);
	run->state = NULL;
}

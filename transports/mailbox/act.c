/* act.c - what a recipient's mail comes to
 *
 * In     a recipient, its owner, what its forward file says
 * Out    mailboxes, files, programs, a new submission; one verdict
 * Holds  the addresses of one forward file
 * Trusts the user with the user's own rights: each step begins by becoming
 *        that user
 * Spec   zmailer-mailbox(8), Forward files; RFC 3461 section 5.2.7
 *
 * A deferred step makes the whole recipient deferred.  Where there are several
 * steps each one that is done is noted in the control file at once
 * (steps.h), so that the next attempt does only what is left.  Files and
 * programs come before addresses, each in the order of the file.  What is
 * left out or fails may be the part that kept a copy: the mailbox gets one.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "transports/frame/handin.h"
#include "transports/mailbox/berths.h"
#include "transports/mailbox/steps.h"
#include "transports/mailbox/vacation.h"
#include "transports/pipe/order.h"

#include "base/banned.h"

struct tally {				/* the steps of a forward file */
	struct envelope_rcpt	 rcpts[FORWARD_ITEMS_MAX];
	size_t			 rcpt_count, others;	/* steps that are no
							 * address */
	bool			 is_several;	/* steps: each is noted */
	bool			 keeps;		/* in the mailbox as well */
	bool			 has_failed;	/* a step, for good */
	bool			 is_away;	/* vacation is no delivery */
	struct verdict		*verdict;	/* the worst so far */
};

int
action_content(const struct action *action, enum content_flags flags,
    struct err *err)
{
	struct mailbox *mailbox = action->mailbox;

	if (mailbox->loaded == action->job && mailbox->loaded_flags == flags)
		return 0;
	mailbox->loaded = NULL;
	if (content_load(&mailbox->content, flags, action->job,
	    action->body_fd, err) < 0)
		return -1;
	mailbox->loaded = action->job;
	mailbox->loaded_flags = flags;
	return 0;
}

/* ---- the mailbox ------------------------------------------------------- */

static const enum content_flags flags_of[] = {
	[MAILBOX_MAILDIR] = 0,
	[MAILBOX_MBOX] = CONTENT_FROM_LINE | CONTENT_QUOTED,
	[MAILBOX_MMDF] = CONTENT_FROM_LINE | CONTENT_MMDF,
};

/* Who keeps us waiting: an account, or the mailbox of one that others have,
 * too. */
static void
act_berth(const struct mailbox_place *place, const char *path)
{
	berth_for(place->is_virtual ? crc32c(0, path, strlen(path)) :
	    place->owner.uid);
}

void
action_mailbox(const struct action *action, struct verdict *verdict)
{
	struct mailbox *mailbox = action->mailbox;
	const struct account *owner = &action->place->owner;
	bool is_maildir = mailbox->conf->mailbox_kind == MAILBOX_MAILDIR;
	const char *base = mailbox->needs_home ? NULL : mailbox->base;
	struct delivery delivery = { action->job->id, action->rcpt->offset,
	    &mailbox->content, action->trace, &mailbox->conf->quota };
	char path[MAILBOX_PATH_BYTES];
	struct err err;

	if (action_content(action, flags_of[mailbox->conf->mailbox_kind],
	    &err) < 0 ||
	    place_path(mailbox->conf->mailbox_path, action->place, path,
	    &err) < 0 || account_become(owner, &err) < 0)
		mailbox_trouble(verdict, &err);
	else if (is_maildir)
		maildir_begin(path, owner, base, &delivery, verdict);
	else {
		act_berth(action->place, path);
		mbox_append(path, owner, base, &delivery, verdict);
	}
}

/* ---- steps of a forward file ------------------------------------------- */

static int
act_rank(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_DEFERRED:
		return 4;
	case VERDICT_FAILED:
		return 3;
	case VERDICT_EXPANDED:
	case VERDICT_RELAYED:
		return 2;
	default:
		return 1;
	}
}

static void
act_tally(struct tally *tally, const struct verdict *verdict)
{
	if (tally->others++ == 0 ||
	    act_rank(verdict) > act_rank(tally->verdict))
		*tally->verdict = *verdict;
}

/* An account that may not log in may not run programs or write files here
 * either; what has no account, less so. */
static bool
act_may(const struct action *action, struct verdict *verdict)
{
	const struct mailbox_place *place = action->place;

	if (!place->is_virtual && place->owner.uid != 0 &&
	    (!account_is_root() || account_may_run(&place->owner)))
		return true;
	verdict_set(verdict, VERDICT_FAILED, "5.7.1", "mailbox",
	    "%s may forward to addresses only", place->address);
	return false;
}

static void
act_file(const struct action *action, struct slice name,
    struct verdict *verdict)
{
	const struct account *owner = &action->place->owner;
	bool is_maildir = slice_ends(name, "/");
	const char *path = slice_dup(action->arena,
	    slice_first(name, name.n - is_maildir));
	struct delivery delivery = { action->job->id, action->rcpt->offset,
	    &action->mailbox->content, action->trace, NULL };
	struct err err;

	if (slice_is(name, "/dev/null")) {
		verdict_set(verdict, VERDICT_DELIVERED, "2.0.0", "mailbox",
		    "discarded");
		return;
	}
	if (!act_may(action, verdict))
		return;
	if (name.n >= MAILBOX_PATH_BYTES)
		verdict_set(verdict, VERDICT_FAILED, "5.2.0", "mailbox",
		    "the path of a file is too long");
	else if (action_content(action, flags_of[is_maildir ?
	    MAILBOX_MAILDIR : MAILBOX_MBOX], &err) < 0 ||
	    account_become(owner, &err) < 0)
		mailbox_trouble(verdict, &err);
	else if (!is_maildir) {
		act_berth(action->place, path);
		mbox_append(path, owner, NULL, &delivery, verdict);
	} else {
		maildir_begin(path, owner, NULL, &delivery, verdict);
		maildir_settle();
	}
}

static void
act_program(const struct action *action, struct slice command,
    struct verdict *verdict)
{
	const struct pipe_order order = {
		.conf = action->mailbox->conf, .arena = action->arena,
		.job = action->job, .rcpt = action->rcpt,
		.content = &action->mailbox->content,
		.owner = &action->place->owner, .command = command,
		.shell_ok = true };
	struct err err;

	if (!act_may(action, verdict))
		return;
	act_berth(action->place, "");
	if (action_content(action, CONTENT_FROM_LINE, &err) < 0)
		mailbox_trouble(verdict, &err);
	else if (!berth_take())
		verdict_set(verdict, VERDICT_DEFERRED, "4.3.2", "mailbox",
		    "%d programs of this user run already, for long",
		    BERTHS_OF_ONE);
	else
		order_run(&order, verdict);
	berth_leave();
}

static enum table_result
act_if(bool is_true)
{
	return is_true ? TABLE_FOUND : TABLE_NONE;
}

/* The user itself, in whichever way it is written?  A database may have its
 * domain. */
static enum table_result
act_is_self(const struct action *action, const struct path *path,
    struct err *err)
{
	const struct conf_domain *ours;
	const struct mailbox_place *place = action->place;
	const struct conf *conf = action->mailbox->conf;
	struct slice local = path_local_plain(action->arena, path);
	struct slice domain = path->domain;

	if (!slice_equal_nocase(local, place->user))
		return TABLE_NONE;
	if (domain.n == 0)
		return TABLE_FOUND;
	if (place->domain.n > 0)
		return act_if(slice_equal_nocase(domain, place->domain));
	if (slice_equal_nocase(domain, slice_of(conf->host)))
		return TABLE_FOUND;
	return conf_domain_ask(conf, slice_lower(action->arena, domain),
	    &ours, err);
}

static void
act_address(const struct action *action, const struct path *path,
    struct tally *tally)
{
	const struct mailbox_place *place = action->place;
	struct envelope_rcpt *rcpt = &tally->rcpts[tally->rcpt_count];
	struct verdict later;
	struct err err;

	switch (act_is_self(action, path, &err)) {
	case TABLE_FOUND:
		tally->keeps = true;
		return;
	case TABLE_TROUBLE:
		verdict_set(&later, VERDICT_DEFERRED, "4.3.0", "mailbox",
		    "%s", err.text);
		act_tally(tally, &later);
		return;
	case TABLE_NONE:
		break;
	}
	*rcpt = (struct envelope_rcpt){ .path = *path };
	if (path->domain.n == 0)
		rcpt->path.domain = place->domain.n > 0 ? place->domain :
		    slice_of(action->mailbox->conf->host);
	for (size_t i = 0; i < tally->rcpt_count; i++)
		if (path_equal(&tally->rcpts[i].path, &rcpt->path))
			return;
	tally->rcpt_count++;
}

typedef void step_fn(const struct action *action, struct slice text,
    struct verdict *verdict);

/* Do a step, unless an earlier attempt did it. */
static void
act_once(const struct action *action, struct tally *tally, const char *kind,
    struct slice text, step_fn *fn)
{
	char name[STEP_NAME_BYTES];
	struct verdict verdict;

	step_name(kind, text, name);
	if (tally->is_several && step_was_done(action, name)) {
		verdict_set(&verdict, VERDICT_DELIVERED, "2.0.0", "mailbox",
		    "done by an earlier attempt");
	} else {
		fn(action, text, &verdict);
		if (tally->is_several && verdict.kind == VERDICT_DELIVERED)
			step_done(action, name);
	}
	tally->has_failed |= verdict.kind == VERDICT_FAILED;
	act_tally(tally, &verdict);
}

static void
act_on_step(const struct action *action, const struct alias_item *item,
    struct tally *tally)
{
	switch (item->kind) {
	case ALIAS_ADDRESS:
	case ALIAS_MAILBOX:
		act_address(action, &item->path, tally);
		return;
	case ALIAS_PROGRAM:
		if (vacation_is(item->text)) {
			tally->is_away = true;
			vacation_run(action, item->text);
			return;
		}
		act_once(action, tally, "program", item->text, act_program);
		return;
	case ALIAS_FILE:
		act_once(action, tally, "file", item->text, act_file);
		return;
	case ALIAS_INCLUDE:			/* read by forward.c */
		return;
	}
}

/* ---- addresses --------------------------------------------------------- */

/* What reports the new recipients' mail owes.  To one address and nowhere
 * else it is passed on as it is (section 5.2.7.2); of several, success is
 * reported here, as "expanded" (section 5.2.7.3). */
static void
act_ask_rcpts(const struct action *action, struct tally *tally, bool is_alone)
{
	unsigned notify = action->rcpt->notify;

	if (!is_alone && (notify & DSN_NOTIFY_SUCCESS) != 0) {
		notify &= ~(unsigned)DSN_NOTIFY_SUCCESS;
		if (notify == 0)
			notify = DSN_NOTIFY_NEVER;
	}
	for (size_t i = 0; i < tally->rcpt_count; i++) {
		tally->rcpts[i].notify = notify;
		tally->rcpts[i].orcpt = action->rcpt->orcpt;
	}
}

static void
act_send_on(const struct action *action, struct tally *tally,
    struct verdict *verdict)
{
	const struct conf *conf = action->mailbox->conf;
	const struct mailbox_place *place = action->place;
	bool is_alone = tally->rcpt_count == 1 && tally->others == 0;
	char id[SPOOL_ID_BYTES];
	struct handin handin;
	struct err err;

	act_ask_rcpts(action, tally, is_alone);
	handin_of_job(action->job, action->body_fd, &handin);
	handin.user = slice_dup(action->arena, place->user);
	handin.with = "forward";
	handin.trace = action->trace;
	handin.rcpts = tally->rcpts;
	handin.rcpt_count = tally->rcpt_count;
	if (account_become(&place->owner, &err) < 0 ||
	    handin_submit(conf, &handin, id, &err) < 0) {
		bool is_full = errno == ENOSPC || errno == EDQUOT;

		verdict_set(verdict, VERDICT_DEFERRED,
		    is_full ? "4.3.1" : "4.3.0", "mailbox", "%s", err.text);
		return;
	}
	verdict_set(verdict, is_alone && (action->rcpt->notify &
	    DSN_NOTIFY_SUCCESS) != 0 ? VERDICT_RELAYED : VERDICT_EXPANDED,
	    "2.0.0", "mailbox", "forwarded to %zu address%s as %s",
	    tally->rcpt_count, tally->rcpt_count == 1 ? "" : "es", id);
}

static void
act_mailbox(const struct action *action, struct slice text,
    struct verdict *verdict)
{
	action_mailbox(action, verdict);
	maildir_settle();
}

/* The only step of a file that was understood whole may refuse mail: its
 * sender hears of it, and nothing is lost. */
static bool
act_keeps_copy(const struct tally *tally, const struct forward *forward)
{
	if (tally->keeps || forward->remark[0] != '\0')
		return true;
	if (tally->has_failed && tally->is_several)
		return true;
	return tally->is_away && tally->others == 0 && tally->rcpt_count == 0;
}

void
action_forward(const struct action *action, const struct forward *forward,
    struct verdict *verdict)
{
	struct tally tally = { .verdict = verdict,
	    .is_several = forward->count > 1 || forward->remark[0] != '\0' };
	struct verdict last;

	for (size_t i = 0; i < forward->count; i++)
		act_on_step(action, &forward->items[i], &tally);
	if (act_keeps_copy(&tally, forward))
		act_once(action, &tally, "mailbox", SLICE(""), act_mailbox);
	if (tally.rcpt_count == 0 || (tally.others > 0 &&
	    verdict->kind == VERDICT_DEFERRED))
		return;
	act_send_on(action, &tally, &last);
	act_tally(&tally, &last);
}

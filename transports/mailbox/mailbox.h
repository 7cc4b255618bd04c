/* mailbox.h - the parts of the mailbox agent
 *
 * place.c finds the owner and the place of mail, forward.c reads what the owner
 * wants, act.c does it; maildir.c and mbox.c write mail, vacation.c answers it.
 * Everything that touches a user's files happens as that user (account.h); the
 * last component of a path is never followed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAILBOX_H
#define ZM_TRANSPORTS_MAILBOX_H

#include "grammar/message/alias.h"
#include "mail/verdict.h"
#include "transports/frame/account.h"
#include "transports/frame/agent.h"
#include "transports/frame/content.h"

enum {
	MAILBOX_PATH_BYTES = 4096,
	MAILBOX_LOCK_WAIT_MS = 15000,	/* for a mailbox locked by others */
	MAILBOX_LOCK_STALE_S = 300,	/* an older dotlock is removed, and */
	MAILBOX_LOCK_AHEAD_S = 3600,	/* one that is ahead by more */
	MAILDIR_PENDING_MAX = 64	/* deliveries not yet synced */
};

struct mailbox {			/* the agent's state */
	const struct conf	*conf;
	bool			 needs_home;	/* {home} in the template */
	char			 base[MAILBOX_PATH_BYTES];
					/* of the template, up to the last
					 * slash before the first brace */
	struct job_content		 content;
	/* content is of this job */
	const struct control_job	*loaded;
	enum content_flags	 loaded_flags;
};

/* What a failed system call means for mail: full (4.2.2) or trouble
 * (4.3.0).  Reads errno. */
void mailbox_trouble(struct verdict *verdict, const struct err *err);

/* ---- place.c: whose mail, and where ------------------------------------ */

struct mailbox_place {
	struct slice	user, detail, domain;	/* of the recipient; domain and
						 * detail may be empty */
	struct account	owner;
	bool		is_virtual;	/* owner is no account of this user */
	char		address[320];	/* user[+detail]@domain: Delivered-To */
};

/* Set base and needs_home from the configuration. */
void place_setup(struct mailbox *mailbox);

/* Parse a recipient's user and find its owner.  ACCOUNT_NONE: there is no such
 * user; ACCOUNT_TROUBLE with errno, EINVAL: this cannot be a name. */
enum account_found place_find(const struct mailbox *mailbox, struct slice rcpt,
    struct mailbox_place *out, struct err *err);

/* Expand the braces of a template.  0; -1: it is too long. */
int place_path(const char *template, const struct mailbox_place *place,
    char out[MAILBOX_PATH_BYTES], struct err *err);

/* Make the directories in front of path that are missing below base: as the
 * present user, or as root where that user may not.  0 or -1 (errno). */
int parents_make(const char *path, const char *base,
    const struct account *owner, struct err *err);

/* ---- forward.c: what a user says about its mail ------------------------ */

enum {
	FORWARD_ITEMS_MAX = 100,	/* with those of included files */
	FORWARD_DEPTH_MAX = 4,		/* of included files */
	FORWARD_FILES_MAX = 20		/* included, each time one is named */
};

struct forward {
	struct alias_item	items[FORWARD_ITEMS_MAX];
	size_t			count;
	unsigned		files;	/* included so far */
	char			remark[ERR_TEXT_BYTES];
					/* what was ignored; empty: nothing */
};

/* For tests, forward_read does the same with a file: take the items of text;
 * files that it includes are read as the present user, and must be owner's.
 * Bad items are left out and remarked. */
void forward_parse(struct arena *arena, struct slice text,
    const struct account *owner, struct forward *out);

/* Read the file at path as the present user.  It must be a regular file of
 * the owner or of root with one name, that nobody else can write, in a
 * directory that is not everybody's.
 * FORWARD_NONE: there is none (remark says when one was ignored);
 * FORWARD_TROUBLE: it cannot be read now (errno). */
enum forward_found { FORWARD_TROUBLE = -1, FORWARD_NONE, FORWARD_FOUND };
enum forward_found forward_read(struct arena *arena, const char *path,
    const struct account *owner, struct forward *out, struct err *err);

/* ---- act.c ------------------------------------------------------------- */

struct action {				/* a recipient being served */
	struct mailbox		*mailbox;
	struct arena		*arena;
	const struct control_job	*job;
	const struct control_rcpt	*rcpt;
	int			 body_fd;
	const struct mailbox_place	*place;
	struct slice		 trace;
};

/* Load the job's message in the form that flags ask for, unless it is.
 * 0 or -1. */
int action_content(const struct action *action, enum content_flags flags,
    struct err *err);

/* Into the user's own mailbox.  A Maildir's verdict comes with
 * maildir_settle. */
void action_mailbox(const struct action *action, struct verdict *verdict);

/* Do what the forward file says, all of it, and sum it up in verdict. */
void action_forward(const struct action *action,
    const struct forward *forward, struct verdict *verdict);

/* What goes into a mailbox, and whose it is. */
struct delivery {
	const char		*id;		/* spool id */
	unsigned		 rcpt;		/* number of the recipient: its
						 * offset in the control file */
	const struct job_content	*content;
	struct slice		 trace;		/* Delivered-To */
	const struct conf_quota	*quota;		/* NULL: none of ours */
};

/* ---- mbox.c ------------------------------------------------------------ */

/* Append content to the mbox (or MMDF file, as the content's flags say) at
 * path, as the present user: dotlock (where there may be one), fcntl lock,
 * write, fsync; what was half written is cut off again.
 * owner       must own the file
 * base        directory of the configuration's, below which what is missing
 *             is made for owner; NULL: only what owner itself may make
 * Fills the verdict. */
void mbox_append(const char *path, const struct account *owner,
    const char *base, const struct delivery *delivery,
    struct verdict *verdict);

/* The `sync` statement. */
void mbox_setup(enum conf_sync sync);

/* ---- maildir.c --------------------------------------------------------- */

/* Write a delivery to a new file in path/tmp as owner.  It becomes mail and
 * is synced in maildir_settle; verdict must stand until then (it is
 * filled at once when this step fails).  A missing Maildir is made; base as
 * for mbox_append. */
void maildir_begin(const char *path, const struct account *owner,
    const char *base, const struct delivery *delivery,
    struct verdict *verdict);

/* Move all that was begun to new/, sync it, fill the verdicts. */
void maildir_settle(void);

/* Name of this machine in file names; the `sync` statement. */
void maildir_setup(const char *host, enum conf_sync sync);

/* ---- deliver.c: the functions of struct agent_kind --------------------- */

/* Read the settings, take what they name.  0 or -1. */
int mailbox_start(struct agent_run *run, struct err *err);
/* Deliver, or begin to: a Maildir's verdicts are filled by mailbox_settle.
 * Returns 0: it knows no time for the next try. */
int mailbox_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[]);
/* Make durable what the jobs since the last call began. */
void mailbox_settle(struct agent_run *run);
/* Free what mailbox_start made. */
void mailbox_finish(struct agent_run *run);

#endif

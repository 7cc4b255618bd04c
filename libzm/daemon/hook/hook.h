/* hook.h - questions to the site's script (doc/HOOKS.md)
 *
 * The script runs in a process of its own that holds nothing but a socket:
 * hook.h is what its owner sees.  One question at a time; a question has an
 * answer or trouble within the time of the statement `hooks`, whatever the
 * script does: a process that says nothing is killed, the next question
 * starts another.  The file is looked at once a second; a new text takes
 * over when it was read and compiled whole, else the old one stays.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_HOOK_HOOK_H
#define ZM_DAEMON_HOOK_HOOK_H

#include "conf/conf.h"

enum hook_call {
	HOOK_ON_RCPT, HOOK_ROUTE, HOOK_ON_HEADER, HOOK_ON_RESULT,
	HOOK_BEFORE_ATTEMPT,
	HOOK_CALLS
};
extern const char *const hook_call_names[HOOK_CALLS];

enum hook_verdict {
	HOOK_NONE, HOOK_ACCEPT, HOOK_REJECT, HOOK_DEFER, HOOK_FREEZE,
	HOOK_VIA,		/* text: the target; code: why */
	HOOK_AT,		/* code: seconds since 1970 */
	HOOK_DROP, HOOK_REROUTE,
	HOOK_VERDICTS
};
extern const char *const hook_verdict_names[HOOK_VERDICTS];

struct hook_answer {		/* slices are good until the next question */
	enum hook_verdict	verdict;
	unsigned		line;	/* of the script; 0: none */
	struct slice		code, text;
	struct slice		edits;	/* fields of hook/frame.h: what, number
					 * of the field, its new bytes */
};

struct hook_host {		/* what the owner does for the script */
	void	*context;
	/* A lookup.  1 found (the value is in out), 0 none, -1 err. */
	int	(*lookup)(void *context, struct slice table,
		    struct slice key, struct str *out, struct err *err);
	/* zm.log: "hooks.lua:3: text". */
	void	(*log)(void *context, struct slice text);
};

struct hooks;

/* Never fails: what is wrong shows when something is asked.  conf and what
 * host points to must stay. */
struct hooks *hooks_new(const struct conf_hooks *conf,
    const struct hook_host *host);
/* Its process ends. */
void hooks_free(struct hooks **hooks);

enum hook_has {
	HOOK_TROUBLE = -1,	/* err: there is no script to ask */
	HOOK_MISSING,
	HOOK_DEFINED
};
/* Has the script this function?  Looks after the file and the process. */
enum hook_has hooks_has(struct hooks *hooks, enum hook_call call,
    struct err *err);

/* Begin a question, only when hooks_has; add "msg.from" and the like. */
void hooks_question(struct hooks *hooks, enum hook_call call);
void hooks_add(struct hooks *hooks, const char *key, struct slice value);
/* Put it.  0 with the answer, or -1 with err: "FILE:LINE: what". */
int hooks_ask(struct hooks *hooks, struct hook_answer *out, struct err *err);

/* Did the last question cost the process its life (not an error)? */
bool hooks_died(const struct hooks *hooks);
/* How many texts were taken over; 1 after the first. */
unsigned hooks_generation(const struct hooks *hooks);
const char *hooks_path(const struct hooks *hooks);

/* For check: read and compile, in a process like that.  0 or -1. */
int hooks_check(const struct conf_hooks *conf, struct err *err);

/* Was this program built with Lua? */
bool hooks_are_built(void);

#endif

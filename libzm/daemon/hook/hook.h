/* hook.h - questions to the site's script (doc/HOOKS.md)
 *
 * The script runs in a process of its own that has only a socket; hook.h is for
 * the process's owner.  One question at a time is asked.  Within the time of
 * the statement `hooks` it has an answer or fails, whatever the script does: a
 * process that does not answer is killed, and the next question starts another.
 * The file is looked at once a second; a new text is used once it was read and
 * compiled as a whole; until then the old one stays.
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

struct hook_answer {		/* slices are valid until the next question */
	enum hook_verdict	verdict;
	unsigned		line;	/* of the script; 0: none */
	struct slice		code, text;
	struct slice		edits;	/* fields of hook/frame.h: what, number
					 * of the field, its new bytes */
};

struct hook_host {		/* what the owner does for the script */
	void	*context;
	/* Look a key up.  1 found (the value is in out), 0 none, -1 err. */
	int	(*lookup)(void *context, struct slice table,
		    struct slice key, struct str *out, struct err *err);
	/* zm.log: "hooks.lua:3: text". */
	void	(*log)(void *context, struct slice text);
};

struct hooks;

/* Never fails: a question reports what is wrong.  conf and what host points to
 * must stay. */
struct hooks *hooks_new(const struct conf_hooks *conf,
    const struct hook_host *host);
/* End its process and free it; sets *hooks to NULL. */
void hooks_free(struct hooks **hooks);

enum hook_has {
	HOOK_TROUBLE = -1,	/* err: there is no script to ask */
	HOOK_MISSING,
	HOOK_DEFINED
};
/* Does the script have this function?  Also looks at the file and the
 * process. */
enum hook_has hooks_has(struct hooks *hooks, enum hook_call call,
    struct err *err);

/* Begin a question, only after HOOK_DEFINED; add "msg.from" and the like. */
void hooks_question(struct hooks *hooks, enum hook_call call);
void hooks_add(struct hooks *hooks, const char *key, struct slice value);
/* Ask it.  0 with the answer; -1 with err: "FILE:LINE: what". */
int hooks_ask(struct hooks *hooks, struct hook_answer *out, struct err *err);

/* Did the process die of the last question (which is not an error)? */
bool hooks_died(const struct hooks *hooks);
/* How many texts were used so far; 1 after the first. */
unsigned hooks_generation(const struct hooks *hooks);
const char *hooks_path(const struct hooks *hooks);

/* For check: read and compile the script, in such a process.  0 or -1. */
int hooks_check(const struct conf_hooks *conf, struct err *err);

/* Was this program built with Lua? */
bool hooks_are_built(void);

#endif

/* control.h - a client of the operator's socket
 *
 * reference: doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_CONTROL_H
#define ZM_TOOLS_QUEUE_CONTROL_H

#include "base/err.h"
#include "base/str.h"

enum {
	CONTROL_REQUEST_BYTES_MAX = 60000,	/* the server takes 64 KiB */
	CONTROL_ANSWER_MS = 120000,		/* without a byte of it */
	CONTROL_LOOK_MS = 5000		/* of a request that it does not take */
};

struct control {
	int		fd;
	struct str	in;
	size_t		in_used;
	int		answer_ms;	/* CONTROL_ANSWER_MS; a caller may have
					 * less patience */
	const char	*waits_as;	/* the verb: on a terminal a line of
					 * standard error says how long it
					 * waits, from the first second on;
					 * NULL: nothing is said */
	bool		is_wait_shown;
	char		run_dir[108];	/* where it says how far it is */
	bool		is_denied;	/* the last failure was a right that
					 * the caller has not */
};

/* Connect to RUN/scheduler.sock; for the server the connection keeps the
 * caller's present account.  CONTROL_ABSENT: nobody listens there;
 * CONTROL_BROKEN: err says why. */
enum control_reached { CONTROL_BROKEN = -1, CONTROL_ABSENT, CONTROL_REACHED };
enum control_reached control_connect(const char *run_dir, struct control *out,
    struct err *err);
void control_hang_up(struct control *control);

/* Nobody listens, and the verb needs the scheduler: say so, where, and the next
 * step on stderr.  instead: which verb reads files, "`zmailer list` ..."; or
 * NULL.
 * returns EX_UNAVAILABLE */
int control_stopped(const char *verb, const char *run_dir,
    const char *instead);

/* Say on stderr why control_connect or control_ask failed, and which right is
 * missing.  returns EX_NOPERM then, else 1 */
int control_failed(const char *verb, const struct control *control,
    const struct err *err);

/* Begin a request; the caller adds its members and calls control_ask. */
void control_begin(struct str *request, const char *op);
/* Add the members that name a destination: "smtp/gmail.com", "gmail.com". */
void control_add_dest(struct str *request, const char *dest);

/* Send a request (json_close is done here) and read its answer.  line is
 * called for each result line, may be NULL; false from it reads on without
 * calling it again.  *out_last is the last line.
 * returns 0; -1: not sent or refused, err has the server's words. */
typedef bool control_fn(void *context, struct slice line);
int control_ask(struct control *control, struct str *request,
    control_fn *line, void *context, struct str *out_last, struct err *err);

/* Print a line of an answer as --json has it: "v":1 in front. */
void control_put_line(struct slice line);

#endif

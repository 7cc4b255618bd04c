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
	CONTROL_LOOK_MS = 5000		/* if it does not read a request */
};

struct control {
	int		fd;
	struct str	in;
	size_t		in_used;
	int		answer_ms;	/* CONTROL_ANSWER_MS; a caller may have
					 * less patience */
	const char	*waits_as;	/* the verb: after the first second a
					 * line on standard error, if that is a
					 * terminal, says how long it waits;
					 * NULL: none does */
	bool		is_wait_shown;
	char		run_dir[108];	/* where its progress is */
	bool		is_denied;	/* the last failure was that the caller
					 * lacks a right */
	bool		is_unknown;	/* or that no message of that name is
					 * there */
};

/* Connect to RUN/scheduler.sock; to the server, the connection has the caller's
 * present account.  CONTROL_ABSENT: nobody listens there; CONTROL_BROKEN: err
 * says why. */
enum control_reached { CONTROL_BROKEN = -1, CONTROL_ABSENT, CONTROL_REACHED };
enum control_reached control_connect(const char *run_dir, struct control *out,
    struct err *err);

/* From now on control_connect reaches the scheduler of that node of the
 * cluster, which is borrowed, first by the connection fd (doc/protocol/
 * nodes.md).  NULL, -1: this one's. */
void control_set_node(const char *node, int fd);
/* Which; NULL: this one's. */
const char *control_node(void);

/* Close the connection, and forget what was read ahead. */
void control_hang_up(struct control *control);

/* Nobody listens, and the verb needs the scheduler: print that, with the place
 * and the next step, to stderr.  instead: a verb that reads files, "`zmailer
 * list` ..."; or NULL.
 * returns EX_UNAVAILABLE */
int control_stopped(const char *verb, const char *run_dir,
    const char *instead);

/* Print to stderr why control_connect or control_ask failed, and a right that
 * is missing.  returns EX_NOPERM if one is, else 1 */
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

/* Print a line of an answer as --json has it: it begins with "v":1. */
void control_put_line(struct slice line);

#endif

/* standstill.h - what stands still, for every tool that shows how things are
 *
 * `zmailer status`, `doctor`, `queue` and `top` show the same rows: what cannot
 * continue because of an order, a full disk, a process that is stopped or gone,
 * a file that is gone or expired, or another program that does not answer.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_STANDSTILL_H
#define ZM_TOOLS_RUN_STANDSTILL_H

#include "conf/conf.h"

enum {
	STANDSTILL_ANSWER_MS = 5000,	/* the scheduler's answer */
	STANDSTILL_KNOCK_MS = 2000,	/* at all other programs together */
	STANDSTILL_NAMES_MAX = 3	/* in a row that sums up several */
};

struct standstill_row {
	const char	*what;		/* "process" "work" "drain" "suspend"
					 * "disk" "memory" "scheduler"
					 * "stopped" "certificate" "table"
					 * "objective" "set-aside"
					 * "next-hop" "milter" "node" "redis"
					 * ...; static */
	const char	*name;		/* of a socket, a destination; or "" */
	const char	*text;		/* a sentence, escaped */
	const char	*next;		/* the next step */
	int64_t		 since_s;	/* wall; 0: not known */
	uint64_t	 count;		/* messages that wait; or commands that
					 * were refused */
	bool		 is_note;	/* worth knowing, no trouble */
	bool		 is_good;	/* a note that all is well: for those
					 * who want to know everything */
};

struct standstill {
	struct arena		*arena;
	struct standstill_row	*rows;
	size_t			 count;
	bool			 is_silent;	/* the scheduler takes no
						 * questions now */
};

/* Look at everything.  is_running: a zmailer has the spool; if none has, only
 * the files are looked at.  What the caller may not see is left out. */
void standstill_look(const struct conf *conf, bool is_running,
    struct arena *arena, struct standstill *out);
/* Also connect to the socket of each program that mail will need, as many as
 * there is time for (STANDSTILL_KNOCK_MS, and a second more), and ask for the
 * state of the cluster, and our resolver, for as long again each; add a row for
 * each that is silent.  For tools that look once: a look each second would keep
 * those programs busy. */
void standstill_knock(const struct conf *conf, struct standstill *standstill);
/* Is there a row that is not a note? */
bool standstill_has_trouble(const struct standstill *standstill);

/* Append "front" and "text: next", for people, with a line end. */
void standstill_add_text(struct str *out, const struct standstill_row *row,
    const char *front);
/* Print all but the good ones as text, or all as JSON. */
void standstill_print(const struct standstill *standstill, bool is_json);

#endif

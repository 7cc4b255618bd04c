/* standstill.h - what stands still, for every tool that tells how it goes
 *
 * `zmailer status`, `doctor`, `queue` and `top` show the same rows: what an
 * order, a full disk, a process that is stopped or gone, a file that is gone
 * or over, or another program that does not answer keeps from going on.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_STANDSTILL_H
#define ZM_TOOLS_RUN_STANDSTILL_H

#include "conf/conf.h"

enum {
	STANDSTILL_ANSWER_MS = 5000,	/* the scheduler's answer */
	STANDSTILL_KNOCK_MS = 2000,	/* at all other programs together */
	STANDSTILL_NAMES_MAX = 3	/* of what one row sums up */
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

/* Look at everything.  is_running: somebody has the spool; if nobody has,
 * only the files are looked at.  What the caller may not see is left out. */
void standstill_look(const struct conf *conf, bool is_running,
    struct arena *arena, struct standstill *out);
/* Knock as well at the socket of each program that mail will need, as many as
 * there is time for (STANDSTILL_KNOCK_MS, and a second more), and ask how the
 * cluster stands, and our resolver, for as long again each; a row for each
 * that is silent.  For tools that look once: who looks each second would keep
 * those programs busy. */
void standstill_knock(const struct conf *conf, struct standstill *standstill);
/* Is there a row that is no note? */
bool standstill_has_trouble(const struct standstill *standstill);

/* For people: "text: next" with front before it and a line end. */
void standstill_add_text(struct str *out, const struct standstill_row *row,
    const char *front);
/* Print all but the good ones as text, or all as JSON. */
void standstill_print(const struct standstill *standstill, bool is_json);

#endif

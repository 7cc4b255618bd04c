/* notify_ask.h - ask the process that posts events (notify) how it stands
 *
 * For tools, over RUN/notify.sock; doc/NOTIFY.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CONSULT_NOTIFY_ASK_H
#define ZM_IO_CONSULT_NOTIFY_ASK_H

#include "base/err.h"
#include "base/str.h"

/* Below RUN; below the spool, what it keeps. */
#define NOTIFY_SOCKET "notify.sock"
#define NOTIFY_DIR "notify"

/* How a receiver stands. */
enum notify_state { NOTIFY_GOOD, NOTIFY_FAILING, NOTIFY_OVER };

struct notify_line {
	enum notify_state state;
	int64_t		 since_s;	/* wall; 0: from the start */
	struct slice	 name;		/* the URL without its query */
	struct slice	 words;		/* why */
};

/* A line for each receiver, appended to out.  for_ms: how long it may take.
 * 0; -1: nobody answers (err). */
int notify_ask_status(const char *run_dir, int64_t for_ms, struct str *out,
    struct err *err);

/* Append such a line, with its LF. */
void notify_line_add(struct str *out, const struct notify_line *line);
/* What it says, without the LF; out borrows it.  false: it is damaged. */
bool notify_line_parse(struct slice text, struct notify_line *out);

#endif

/* replay.h - what another configuration would have decided differently
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_REPLAY_H
#define ZM_TOOLS_ZMAILER_REPLAY_H

#include "conf/conf.h"
#include "tools/journal/journal.h"

struct replay {
	struct journal_span	 span;
	const struct conf	*old;		/* in force; where the record
						 * and the journal are */
	const struct conf	*fresh;
	const char		*fresh_path;	/* absolute */
	bool			 asks_dns, is_json;
	uint64_t		 seen, changed, unknown, left_out;
	uint64_t		 as_then;	/* of seen: refused by the
						 * disk, the grammar */
	uint64_t		 with_bytes;	/* messages tried with their
						 * bytes */
	uint64_t		 by_filters;	/* of seen: as a milter said */
	struct str		 text;		/* of a line being made */
	int64_t			 told_at_ms;	/* progress */
};

/* One decision that differs. */
struct difference {
	const char	*kind;		/* "session" "route" "header"
					 * "shape" */
	struct slice	 when;		/* as in the journal, or empty */
	struct slice	 from, to;
	struct slice	 before, after;	/* the answers, in words */
	struct slice	 rule;		/* "zmailer.conf:7 (reject ...)" */
};
void replay_tell(struct replay *replay, const struct difference *difference);
/* Report a decision that cannot be repeated, with the open question. */
void replay_tell_unknown(struct replay *replay,
    const struct difference *difference);
/* Show the progress on standard error, if that is a terminal, once a second. */
void replay_progress(struct replay *replay, uint64_t all, uint64_t done);

/* Replay the record; the journal's routes; their destinations: each adds to the
 * counts.  is_asked: it is an error if nothing was recorded.  0, or -1 with
 * err. */
int replay_sessions(struct replay *replay, bool is_asked, struct err *err);
int replay_routes(struct replay *replay, struct err *err);
int replay_shape(struct replay *replay, struct err *err);
/* Compare what the router makes, under both configurations, of the header of
 * messages whose bytes the record has.  0, or -1 with err. */
int replay_bytes(struct replay *replay, struct err *err);

#endif

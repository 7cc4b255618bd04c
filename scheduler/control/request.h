/* request.h - parsing one line of the operator's socket
 *
 * doc/protocol/control.md.  Pure; the client is not trusted: every field
 * is known, of its type, within its bounds, and of this operation.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_REQUEST_H
#define ZM_SCHEDULER_REQUEST_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "daemon/rights.h"
#include "grammar/selector.h"

enum {
	REQUEST_LINE_BYTES_MAX = 65536,
	REQUEST_TAG_BYTES_MAX = 64,
	REQUEST_REASON_BYTES_MAX = 200,
	REQUEST_WHO_BYTES_MAX = 64,
	REQUEST_TEXT_BYTES_MAX = 512,	/* a glob and the like */
	REQUEST_NAME_BYTES_MAX = 64,	/* of a saved search */
	REQUEST_VIA_BYTES_MAX = 200,	/* TERMS_STEERED_BYTES_MAX has room */
	REQUEST_IDS_MAX = 4096,
	REQUEST_PREFIXES_MAX = 16,	/* of ids that are not whole */
	REQUEST_ID_BYTES_MIN = 11,
	REQUEST_PER_SECOND = 100,
	REQUEST_POINTS_MAX = 1000,
	REQUEST_SPAN_S_MAX = 2 * 366 * 86400
};

enum request_op {
	OP_LIST, OP_COUNT, OP_WHY, OP_DESTINATIONS, OP_ORDERS, OP_EVENTS,
	OP_NEXT, OP_QUEUE, OP_GROUPS, OP_JOB, OP_TURNS, OP_CONNECTIONS,
	OP_ARRIVALS, OP_OBJECTIVES, OP_HISTORY, OP_MOVES, OP_SEARCHES,
	OP_HOLD, OP_RELEASE, OP_FREEZE, OP_THAW, OP_RETRY,
	OP_RETRY_FAILED, OP_SCHEDULE,
	OP_BOUNCE, OP_DELETE, OP_UNDELETE, OP_REROUTE, OP_MOVE,
	OP_SUSPEND, OP_RESUME, OP_PIN, OP_DRAIN, OP_UNDRAIN, OP_ETRN,
	OP_SAVE_SEARCH, OP_REMOVE_SEARCH,
	OP_FOR,
	OP_COUNT_OF
};

struct request_row {
	const char	*name;
	enum right	 right;
	bool		 is_change;	/* of mail: needs a choice */
	unsigned	 fields;	/* request.c's own */
};
extern const struct request_row request_rows[OP_COUNT_OF];

struct request {
	enum request_op	 op;
	const char	*tag, *who, *reason;	/* "" when not given */
	/* choice of mail */
	struct slice	*ids;
	size_t		 id_count;
	uint32_t	*offsets;
	size_t		 offset_count;
	struct selector	*selector;	/* NULL: ids alone, or everything */
	bool		 has_choice;
	/* the rest; NULL, 0, false when not given */
	const char	*after, *by, *ev, *from;
	const char	*channel, *host;	/* of a destination */
	const char	*right;		/* for: "read", "write" */
	const char	*via;		/* reroute: to this target; "": by the
					 * routes, but it counts */
	const char	*to;		/* move: the node */
	const char	*name, *words;	/* of a saved search: the selector */
	int64_t		 until_s, next_s, expire_s;	/* wall */
	int64_t		 timeout_s;	/* -1: not given */
	int64_t		 limit;		/* -1: not given */
	int64_t		 per_second;
	int64_t		 span_s, points;	/* 0: not given */
	int64_t		 file;		/* a message's inode; 0: none */
	bool		 is_brief, is_dry, is_all, is_undo;
};

/* Parse a line (without LF), in the arena.  now_s (wall) is for moments such as
 * "+2h".  out->tag is set as soon as it is known.  0; -1: *out_code is a code
 * of control.md section 1, err has the words. */
int request_parse(struct arena *arena, struct slice line, int64_t now_s,
    struct request *out, const char **out_code, struct err *err);

/* Append the choice as a selector's text, for the journal. */
void request_add_choice(struct str *out, const struct request *request);

#endif

/* view.h - the queue as people see it: every message in every directory
 *
 * It is read from the files, so it works when nothing runs; what a running
 * scheduler knows (which mail is active, which host is held) is added.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_VIEW_H
#define ZM_TOOLS_QUEUE_VIEW_H

#include "conf/conf.h"
#include "grammar/selector.h"
#include "mail/envelope.h"
#include "mail/spool/spool.h"
#include "mail/control_file/control_file.h"

enum {
	VIEW_ENVELOPE_BYTES_MAX = 4 << 20,	/* read of a message file */
	VIEW_ID_COLUMNS = 20		/* of a list: a node's ids are longer */
};

/* ---- the running scheduler (live.c) ------------------------------------- */

struct live_thread {
	const char	*channel, *host, *reason, *state;
	int64_t		 held_until_s;	/* 0: not held */
	bool		 is_suspended;
	unsigned	 flight;
};
struct live_next {		/* when a recipient that waits is tried */
	uint64_t	 file;
	uint32_t	 offset;
	int64_t		 next_s;
};
struct live {
	bool		 is_up;
	struct live_thread *threads;	/* sorted by channel, host */
	size_t		 count;
	struct live_next *nexts;	/* sorted by file, offset */
	size_t		 next_count;
	bool		 is_page;	/* nexts are of a page; no other file of
					 * transport/ is viewed */
};

/* Ask RUN/scheduler.sock; is_up is false when nobody answers in time. */
void live_ask(const char *run_dir, struct arena *arena, struct live *out);
/* The same for a page of its mail: at most limit messages after the id `after`
 * (NULL: from the oldest) that the selector selects (NULL: all; its keys must
 * mean the same there: selection_is_shared).  Sets is_page, unless the
 * scheduler does not answer or refuses: then it is as from live_ask. */
void live_ask_page(const char *run_dir, struct arena *arena, int64_t limit,
    const char *after, const char *select, struct live *out);
/* Read the answers to the requests `queue` and `next` (pure). */
void live_parse(struct slice text, struct arena *arena, struct live *out);
void live_parse_next(struct slice text, struct arena *arena,
    struct live *out);
/* 0: not known. */
int64_t live_next_s(const struct live *live, ino_t file, uint32_t offset);
const struct live_thread *live_find(const struct live *live,
    struct slice channel, struct slice host);

/* ---- messages ------------------------------------------------------------ */

struct view_rcpt {
	uint32_t	 offset;	/* of its line in a control file */
	struct slice	user, channel, host;
	struct slice	orcpt, given;	/* as in a control file */
	const char	*state;		/* "waiting" "active" "delivered" ... */
	const char	*dest_state;	/* of its destination; "": not known */
	bool		 is_untold;	/* failed, and its sender does not know
					 * yet */
	unsigned	 tries;
	int64_t		 next_s;	/* wall; 0: not known or now */
	const char	*who, *words;	/* of the last outcome, "" */
	const char	*status;
	const struct verdict *trouble;	/* of the last outcome; NULL: none, or
					 * it was good */
	struct slice	 zone;		/* named by its route, or empty */
};

struct view {
	enum spool_area	 area;
	unsigned	 priority;	/* of its directory, router.N */
	const char	*name;		/* below the area */
	const char	*why;		/* cause, keyword; "" */
	struct slice	 reason;	/* as it was when it was set aside:
					 * "FILE:LINE: RULE", "milter ...: its
					 * words", what the router said; or
					 * empty */
	const char	*id;		/* "-" if it is not known */
	const char	*state;		/* of the message as a whole */
	struct slice	 sender;	/* "" is the null sender */
	struct slice	 user, source;	/* who submitted it; else the client, or
					 * the domain, it came from */
	struct slice	 msgid, zone;	/* zone: named by its envelope */
	int		 asked;		/* MT-PRIORITY */
	const char	*tls;		/* what its sender asked about it
					 * (terms_tls), or NULL */
	uint64_t	 size_bytes;
	int64_t		 time_s;	/* accepted */
	struct view_rcpt *rcpts;
	size_t		 rcpt_count;	/* those still to be served come first
					 * in no special order */
	struct slice	 header;	/* empty unless asked for */
	const char	*trouble;	/* NULL; why it cannot be read */
};

enum view_flags { VIEW_HEADER = 1, VIEW_TRASH = 2,
	VIEW_MSGID = 4 };		/* also of message files */

/* Call fn for every message; false stops.  The view is valid during the call.
 * returns 0; -1 when a directory cannot be read. */
typedef bool view_fn(void *context, const struct view *view);
int view_each(const struct spool *spool, const struct live *live,
    enum view_flags flags, view_fn *fn, void *context, struct err *err);

/* What the cluster's database has of a message: the whole control file, or the
 * front of the message file, or neither.  view has id, area, name, why and
 * size_bytes; the rest is filled in, from the slices and the arena.  The state
 * of it, and of each recipient that is not over, is VIEW_COPY. */
#define VIEW_COPY "copy"
void view_from_copy(struct arena *arena, struct slice control,
    struct slice front, enum view_flags flags, struct view *view);
/* Is nothing left to be done for it?  A failure is told first. */
bool view_rcpt_is_over(const struct view_rcpt *rcpt);

/* named.c: is this the message's name?  "ID", "4711", "D/4711",
 * "transport/D/4711", "freezer/4711.policy". */
bool view_is_named(const struct view *view, const char *what);
/* named.c: open its message file.  The descriptor, for the caller to close;
 * or -1 with errno. */
int view_open_message(const struct spool *spool, const struct view *view);

/* asked.c: may the caller not read the spool?  Then the scheduler shows the
 * caller's own mail by the selector (NULL: all), as view_each does for
 * transport/. *out_is_own (may be NULL): there may be mail of others that is
 * not shown.  -1: it does not run, or refuses. */
bool view_is_forbidden(const struct conf *conf);
/* Why the caller may not read an area, into err; always -1. */
int view_refuse(const struct conf *conf, enum spool_area area,
    struct err *err);
int view_each_asked(const char *run_dir, const struct selector *selector,
    view_fn *fn, void *context, bool *out_is_own, struct err *err);

/* ---- printing (print.c) ------------------------------------------ */

/* Append one message: as lines of `zmailer list`; as a line of its --json; as
 * mailq(1) shows it; as `zmailer show` does. */
void view_add_list(struct str *out, const struct view *view, int64_t now_s);
void view_add_json(struct str *out, const struct view *view);
void view_add_mailq(struct str *out, const struct view *view);
void view_add_show(struct str *out, const struct view *view, int64_t now_s);
/* Append why it is where it is, for people: why (as why: of a selector compares
 * it; without policy-N, whose place says it) and the reason.  Nothing if there
 * is no reason. */
void view_add_why(struct str *out, struct slice reason, const char *why);
/* "1.2K", "3.4M". */
void view_add_size(struct str *out, uint64_t bytes);

#endif

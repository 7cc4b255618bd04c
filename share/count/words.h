/* words.h - what share is asked, what it asks Redis, what that answers
 *
 * Pure.  Keys are escaped: no byte of an address makes another key; their
 * length is bounded.  Scripts go by the clock of Redis alone.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COUNT_WORDS_H
#define ZM_SHARE_COUNT_WORDS_H

#include "base/str.h"

enum {
	WORDS_TOKEN_BYTES = 32,
	WORDS_NAME_BYTES_MAX = 32,	/* of a place that is held */
	WORDS_ZONE_BYTES_MAX = 64,
	WORDS_DAY_MAX = 3000000,	/* in the year 10183 */
	WORDS_KEY_BYTES_MAX = 2048,	/* of a question; more is nonsense */
	WORDS_ESCAPED_MAX = 200		/* of it in a key of Redis; the rest is
					 * a checksum */
};

enum words_verb { WORDS_TAKE, WORDS_HOLD, WORDS_KEEP, WORDS_DROP,
	WORDS_GREET, WORDS_WARM, WORDS_STATUS };

/* "TOKEN take COUNT SPAN_MS KEY", "TOKEN hold COUNT KEY", "TOKEN keep|drop NAME
 * COUNT KEY", "TOKEN greet AFTER WITHIN KEEP wait|pass NET SENDER RECIPIENT",
 * "TOKEN warm ZONE DAY USED BACK NEED WANT KEY", "TOKEN status". */
struct words_warm {
	struct slice	zone;		/* a sending zone */
	uint64_t	day;		/* of used: since 1970 */
	uint64_t	used;		/* recipients that were served */
	uint64_t	back;		/* of those that were given, no more */
	uint64_t	need, want;	/* to be given: at least, at most */
};
struct words_question {
	struct slice	token;
	enum words_verb	verb;
	struct slice	name;		/* of keep, drop: small hex digits */
	uint64_t	count;
	int64_t		span_ms;	/* of take */
	uint64_t	after_s, within_s, keep_s;	/* of greet */
	bool		has_passed;	/* of greet, on this node */
	struct words_warm warm;
	struct slice	key;
};
/* Read "TOKEN VERB" off the line.  returns which of the verbs; -1: none */
int words_verb_read(struct slice *line, struct slice *out_token,
    const char *const *verbs, size_t count);
/* false: it is none.  Borrowed from line. */
bool words_question_read(struct slice line, struct words_question *out);

/* The scripts: one takes of a rate, one says that a node is there, one takes a
 * place, one keeps many or gives them back, one knows who was seen, one gives
 * of a warm-up's day; those of news.h tell, hear, block, unblock, and list
 * blocks. */
enum words_script { SCRIPT_TAKE, SCRIPT_SEEN, SCRIPT_HOLD, SCRIPT_KEEP,
	SCRIPT_GREET, SCRIPT_TELL, SCRIPT_NEWS, SCRIPT_BLOCK, SCRIPT_UNBLOCK,
	SCRIPT_BLOCKS, SCRIPT_WARM, SCRIPT_COUNT };
extern const char *const words_scripts[SCRIPT_COUNT];
extern const char words_tell_script[], words_news_script[],
    words_block_script[], words_unblock_script[], words_blocks_script[],
    words_warm_script[];

/* Append "zm:NAME:r:{KEY}:COUNT/SPAN_MS", "zm:NAME:p:{KEY}:COUNT",
 * "zm:NAME:nodes". */
void words_add_rate_key(struct str *out, const char *cluster,
    struct slice key, uint64_t count, int64_t span_ms);
void words_add_slots_key(struct str *out, const char *cluster,
    struct slice key, uint64_t count);
void words_add_nodes_key(struct str *out, const char *cluster);

/* Append "zm:NAME:g:{SUM}", of an address or more: its text is nobody's to
 * read. */
void words_add_greet_key(struct str *out, const char *cluster,
    struct slice text);

/* Append "zm:NAME:w:{KEY}:", to which the script adds the day, and
 * "zm:NAME:w:{ZONE}", of the first days that the nodes say. */
void words_add_warm_key(struct str *out, const char *cluster,
    struct slice key);
void words_add_first_key(struct str *out, const char *cluster,
    struct slice zone);

/* What SCRIPT_WARM answers: "DAY LEFT-S FIRST SENT GIVEN".  false: it is
 * none. */
struct words_warmed {
	uint64_t	day;		/* since 1970, by the clock of Redis */
	uint64_t	left_s;		/* of it */
	uint64_t	first;		/* day of the plan */
	uint64_t	sent;		/* of today by all nodes, with what
					 * each was given */
	uint64_t	given;		/* to this one, now */
};
bool words_warmed_read(struct slice text, struct words_warmed *out);

/* What SCRIPT_GREET answers: the seconds to wait, 0: it passes.  false: it is
 * none. */
bool words_greeted_read(struct slice text, int64_t *out_wait_s);

/* What SCRIPT_TAKE answers: "GRANTED WAIT_US", of so many that were needed at
 * least.  false: it is none. */
bool words_taken_read(struct slice text, uint64_t *out_granted,
    int64_t *out_wait_us);

/* The next node of what SCRIPT_SEEN answers: "NAME SECONDS NAME SECONDS ...".
 * false: the end, or it is none. */
bool words_node_next(struct slice *rest, struct slice *out_name,
    uint64_t *out_seconds);

#endif

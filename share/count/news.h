/* news.h - what nodes tell each other: failed logins, and who is blocked
 *
 * Pure.  Failed logins are told by a checksum of who failed; a block has its
 * key and its words, for people.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COUNT_NEWS_H
#define ZM_SHARE_COUNT_NEWS_H

#include "base/str.h"

enum {
	NEWS_SUM_BYTES = 32,		/* hex digits, of who failed */
	NEWS_AFTER_BYTES = 48,		/* with its NUL: "MS-SEQUENCE" */
	NEWS_COUNTER_BYTES = 24,	/* with its NUL */
	NEWS_KEY_BYTES_MAX = 320,	/* of a block */
	NEWS_ABOUT_BYTES_MAX = 160
};

enum news_verb { NEWS_FAILED, NEWS_CLEARED, NEWS_HEAR, NEWS_BLOCKS, NEWS_BLOCK,
	NEWS_UNBLOCK };

struct news_block {
	struct slice	kind;		/* "clients", "senders", "users" */
	struct slice	key;
	uint64_t	until_s;	/* 0: for ever */
	struct slice	about;		/* "by=NAME REASON" */
};

/* "TOKEN failed|cleared SUM", "TOKEN news AFTER|- COUNTER|-", "TOKEN blocks",
 * "TOKEN block UNTIL KIND KEY ABOUT", "TOKEN unblock KIND KEY". */
struct news_question {
	struct slice		token;
	enum news_verb		verb;
	struct slice		sum;		/* of failed, cleared */
	struct slice		after, counter;	/* of news */
	struct news_block	block;		/* of block, unblock */
};
/* false: it is none.  Borrowed from line. */
bool news_question_read(struct slice line, struct news_question *out);

/* Append "zm:NAME:failures", "zm:NAME:blocks", "zm:NAME:blocks-count". */
void news_add_failures_key(struct str *out, const char *cluster);
void news_add_blocks_key(struct str *out, const char *cluster);
void news_add_count_key(struct str *out, const char *cluster);
/* Append the field of a block in its hash: "KIND KEY". */
void news_add_field(struct str *out, const struct news_block *block);

/* The beginning of what SCRIPT_NEWS answers: how often blocks were changed,
 * and what was heard now.  false: it is none. */
bool news_head_read(struct slice *text, struct slice *out_counter,
    struct slice *out_after);
/* The next failed login of it.  false: the end, or it is none. */
struct news_item {
	struct slice	node, sum;
	bool		is_failed;	/* else it is forgotten */
	uint64_t	age_ms;
};
bool news_item_next(struct slice *text, struct news_item *out);

/* The next block of what SCRIPT_BLOCKS answers, after its first line, "KIND KEY
 * UNTIL ABOUT"; what is none is passed over.  false: the end. */
bool news_block_next(struct slice *text, struct news_block *out);

#endif

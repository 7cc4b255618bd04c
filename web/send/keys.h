/* keys.h - requests that must not be done twice
 *
 * A client names a request by a key.  A line is in DIR/keys before its message
 * is sent, and another one after that: so a client that repeats the request,
 * even after the desk was killed, gets the first answer, and no second message
 * is sent.
 *
 *   B SECONDS KEY BODY REFUSED	begun: sums of user and key, and of the
 *					request; recipients that were refused
 *   D SECONDS KEY ID			done: the server's id
 *   X SECONDS KEY			nothing was sent: it may be repeated
 *
 * A line is complete if it ends in LF; others are ignored.  The file is
 * rewritten, and the old one replaced by a rename, at the start, and when half
 * of it or more is out of date.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_KEYS_H
#define ZM_WEB_KEYS_H

#include <sys/queue.h>
#include <sys/types.h>

#include "base/err.h"
#include "mail/spool_id.h"
#include "tls/digest.h"

struct event_base;

enum {
	KEYS_MAX = 100000,
	KEYS_BUCKETS = 1 << 16,
	KEYS_REFUSED_BYTES_MAX = 1 << 20,	/* of one */
	KEYS_REFUSED_ALL_BYTES_MAX = 32 << 20,	/* of all: then no key is
						 * accepted */
	KEYS_FILE_BYTES_MAX = 128 << 20,
	KEYS_FOR_S = 24 * 3600
};

struct key_sums {		/* what a key is known by */
	unsigned char	key[DIGEST_SHA256_BYTES], body[DIGEST_SHA256_BYTES];
};

struct key {
	LIST_ENTRY(key)		 bucket;
	TAILQ_ENTRY(key)	 age;
	struct key_sums		 sums;
	int64_t			 at_s;		/* begun */
	bool			 is_under_way;	/* in this process */
	char			 id[SPOOL_ID_BYTES];	/* "": not done */
	char			*refused;	/* no blanks; "-": nobody */
};

/* The table without its file, also for tests. */
struct key_table {
	LIST_HEAD(, key)	* buckets;
	TAILQ_HEAD(, key)	 all;		/* oldest first */
	size_t			 count, refused_bytes;
};

/* Make it empty. */
void key_table_init(struct key_table *table);
/* Forget all; for tests, because the desk keeps its table until it ends. */
void key_table_release(struct key_table *table);
/* Read a line of the file, without its LF.  returns 0; -1: it is not one of
 * ours */
int key_table_take(struct key_table *table, struct slice line);
/* Append all lines that matter at now_s; older keys are forgotten. */
void key_table_write(struct key_table *table, int64_t now_s,
    struct str *out);
/* The key of this sum; NULL: it is not known. */
struct key *key_table_find(struct key_table *table,
    const unsigned char *sum);
/* Add a key.  returns it; NULL: the table is full */
struct key *key_table_add(struct key_table *table,
    const struct key_sums *sums, int64_t now_s, struct slice refused);
/* Forget one. */
void key_table_remove(struct key_table *table, struct key *key);
/* Forget those that are older than KEYS_FOR_S. */
void key_table_expire(struct key_table *table, int64_t now_s);

/* ---- with its file: keys.c ---------------------------------------------- */

struct keys;

/* Open DIR, which is created if it is missing (0700), and read its file.  DIR
 * must be ours, or the owner's, to whom keys_give gives it.
 * NULL: others may write it, another desk has it, or it cannot be read. */
struct keys *keys_new(const char *dir, uid_t owner, struct err *err);
/* If we are root, give DIR and its file to this account.  0 or -1. */
int keys_give(struct keys *keys, uid_t uid, gid_t gid, struct err *err);
/* A path of DIR by its descriptor, which is valid without access to DIR. */
const char *keys_dir(const struct keys *keys);
/* Let a thread write lines from now on; to be called once, before the first. */
void keys_thread_begin(struct keys *keys, struct event_base *base);
/* The table; never NULL. */
struct key_table *keys_table(struct keys *keys);

/* Write that the key is begun.  fn is called from the loop when the line is on
 * disk, or (is_good false) when that failed; then the key is forgotten. */
typedef void keys_fn(void *context, bool is_good);
void keys_begin(struct keys *keys, struct key *key, keys_fn *fn,
    void *context);
/* Write that it is done, with this id; the line is on disk soon after. */
void keys_end(struct keys *keys, struct key *key, const char *id);
/* Nothing was sent: write that, and forget the key. */
void keys_forget(struct keys *keys, struct key *key);

#endif

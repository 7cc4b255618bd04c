/* mark.h - how far a receiver has events, on the disk
 *
 * SPOOL/notify/NAME, a file for each receiver; NAME is made of its URL, so
 * that another URL is another receiver.  It is replaced by a rename, after an
 * fsync (doc/INTERNALS.md section 2.1):
 *
 *	zmailer-notify 1
 *	taken PLACE
 *	batch PLACE, or batch -
 *	end
 *
 * taken is the place after the last event that the receiver accepted; batch
 * the end of the batch that is being posted.  It is written before the first
 * try, so that the batch is the same one after a crash.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NOTIFY_MARK_H
#define ZM_NOTIFY_MARK_H

#include "conf/conf.h"
#include "past/trail.h"

enum { MARK_NAME_BYTES = 33 };

struct mark {
	struct trail_place taken;
	struct trail_place end;		/* of the batch, if there is one */
	bool		 has_batch;
};

/* The directory, for us alone: waits until no other process of ours has it.
 * Its descriptor, which must stay open; -1: err. */
int mark_open(const char *spool_dir, struct err *err);

/* What the file of this URL is called. */
void mark_name(const char *url, char out[MARK_NAME_BYTES]);

/* Remove files of URLs that are not in the configuration, so that one that
 * comes back begins anew. */
void mark_sweep(int dir_fd, const struct conf *conf);

/* What stands there.  A file that is not whole is none.
 * returns whether there is one */
bool mark_read(int dir_fd, const char *name, struct mark *out);
/* Durable when it returns.  0; -1: err, and what was there is there. */
int mark_write(int dir_fd, const char *name, const struct mark *mark,
    struct err *err);

#endif

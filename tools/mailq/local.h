/* local.h - what mailq shows of this machine besides the list
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_MAILQ_LOCAL_H
#define ZM_TOOLS_MAILQ_LOCAL_H

#include "mail/spool/spool.h"
#include "tools/mailq/flags.h"
#include "tools/queue/view.h"

/* -Q to -QQQQ, -M, -c: print the scheduler's threads in ZMailer's words, from
 * its socket; -d: print its answer.  returns an exit status. */
int mailq_threads(const struct mailq_flags *flags, const struct conf *conf);

/* -s: print a line about router, scheduler and transport queue.  0 or -1. */
int mailq_status(const struct conf *conf, struct spool *spool,
    struct err *err);

/* -S: messages are added to the sums of their destinations, which are printed
 * in the order of their names. */
struct mailq_sum {
	char		*name;		/* channel/host */
	uint64_t	 files, bytes;
};
struct mailq_sums {
	struct mailq_sum *all;		/* sorted by name */
	size_t		 count, room;
};
void mailq_sums_add(struct mailq_sums *sums, const struct view *view);
void mailq_sums_print(const struct mailq_sums *sums, struct str *out);
void mailq_sums_release(struct mailq_sums *sums);

#endif

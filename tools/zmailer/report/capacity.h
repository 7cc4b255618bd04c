/* capacity.h - how much mail this machine can take, and what limits it
 *
 * An estimate: each stage does as many at a time as the configuration allows,
 * and each takes as long as recently.  The sync of the disk is measured now.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_CAPACITY_H
#define ZM_TOOLS_REPORT_CAPACITY_H

#include "conf/conf.h"
#include "tools/zmailer/report/report.h"

struct capacity_stage {
	const char	*name;		/* "accept" "route" "deliver" */
	int64_t		 one_us;	/* the median; -1: not known */
	unsigned	 at_a_time;
	const char	*by;		/* the setting of at_a_time */
};

struct capacity {
	struct capacity_stage stages[3];
	int64_t		 sync_us, sync_worst_us;	/* -1: not measured */
	uint64_t	 free_bytes, free_inodes;
	uint64_t	 message_bytes;		/* on the average */
	uint64_t	 room;			/* messages that fit */
	const char	*room_by;		/* "bytes" "inodes" */
};

/* How many messages a second; 0: not known. */
uint64_t capacity_rate(const struct capacity_stage *stage);
/* The slowest stage; NULL: none is known. */
const struct capacity_stage *capacity_first(const struct capacity *capacity);

/* Estimate it from the journal, the configuration and the file system.  0; -1:
 * the spool's disk cannot be asked. */
int capacity_find(const struct conf *conf, const struct mail_report *report,
    struct capacity *out, struct err *err);

/* Append a page for people; a line of JSON for each stage and one for the
 * disk. */
void capacity_print(const struct capacity *capacity, struct str *out);
void capacity_print_json(const struct capacity *capacity, struct str *out);

#endif

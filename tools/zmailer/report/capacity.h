/* capacity.h - how much mail this machine can take, and what ends it first
 *
 * An estimate: each stage as many at a time as the configuration allows, each
 * as long as it took lately.  The sync of the disk is measured now.
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
	const char	*by;		/* what says how many at a time */
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
/* The stage that gives way first; NULL: none is known. */
const struct capacity_stage *capacity_first(const struct capacity *capacity);

/* What the journal tells, the configuration, the file system.  0; -1: the
 * spool's disk cannot be asked. */
int capacity_find(const struct conf *conf, const struct mail_report *report,
    struct capacity *out, struct err *err);

/* A page for people; a line of JSON for each stage and one for the disk. */
void capacity_print(const struct capacity *capacity, struct str *out);
void capacity_print_json(const struct capacity *capacity, struct str *out);

#endif

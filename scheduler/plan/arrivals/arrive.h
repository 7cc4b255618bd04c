/* arrive.h - how long mail took to arrive, as counts of spans
 *
 * Spans from acceptance to delivery, of about the last thousand deliveries:
 * when there are more, and once a day, all counts are halved, so that what is
 * new weighs more.  The second pair of counts says how good estimates made from
 * it were: how many were judged, and how many of those held.
 *
 * Pure: moments are arguments.  A zeroed struct knows nothing.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ARRIVE_H
#define ZM_SCHEDULER_ARRIVE_H

#include "base/str.h"

enum {
	ARRIVE_SPANS = 30,
	ARRIVE_COUNT_MAX = 1000,	/* halved when there are more */
	ARRIVE_FEW = 5,			/* fewer tell nothing */
	ARRIVE_AGE_S = 86400		/* halved after that */
};

struct arrive {
	uint16_t	counts[ARRIVE_SPANS + 1];	/* at most so long; the
							 * last: longer */
	uint16_t	judged, held;	/* estimates */
	int64_t		aged_s;		/* wall, when all was halved */
};

/* Another message arrived, span_ms after it was accepted. */
void arrive_add(struct arrive *arrive, int64_t span_ms, int64_t now_s);
/* An estimate came true, or did not. */
void arrive_judge(struct arrive *arrive, bool has_held, int64_t now_s);
/* How many deliveries count now. */
unsigned arrive_count(const struct arrive *arrive);

/* The time after acceptance, in ms, within which percent of those arrived that
 * took longer than age_ms.  -1: not known, as fewer than ARRIVE_FEW took
 * longer. */
int64_t arrive_within_ms(const struct arrive *arrive, unsigned percent,
    int64_t age_ms);
/* The same, when `waiting` more still wait and count as longer than all. */
int64_t arrive_within_beside_ms(const struct arrive *arrive,
    unsigned percent, int64_t age_ms, unsigned waiting);

/* As text: "AGED_S TAB JUDGED TAB HELD TAB COUNT,COUNT,..."; zeros at the end
 * are left out.  arrive_read reads it; false: malformed, and out is
 * unchanged. */
void arrive_add_text(const struct arrive *arrive, struct str *out);
bool arrive_read(struct slice text, struct arrive *out);

#endif

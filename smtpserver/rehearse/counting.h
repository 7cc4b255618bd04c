/* counting.h - questions of counters, as they were put and recorded
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_REHEARSE_COUNTING_H
#define ZM_SMTPSERVER_REHEARSE_COUNTING_H

#include "smtpserver/policy/facts.h"

struct counting {		/* "take COUNT SPAN LINE KEY", "hold MAX
				 * LINE KEY" */
	bool		is_rate;
	uint64_t	count, span_ms;
	struct slice	line_key, key;
};

/* Read a question; its slices are out's.  false: it is none. */
bool counting_parse(struct slice question, struct counting *out);

/* Does a recorded answer hold for these terms, too?  The same terms; more
 * room, and there was some; less, and there was none.  The line of the rule
 * is nothing: it may have moved. */
bool counting_agrees(const struct counting *now, const struct fact *then);

#endif

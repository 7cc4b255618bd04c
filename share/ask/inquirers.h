/* inquirers.h - who asks share, over RUN/share.sock
 *
 * smtpserver and the scheduler ask, and tools that root runs.
 *
 *	to it		TOKEN take COUNT SPAN_MS KEY  |  TOKEN hold COUNT KEY  |
 *			TOKEN keep NAME COUNT KEY  |  TOKEN drop NAME COUNT KEY
 *			|  TOKEN greet AFTER WITHIN KEEP wait|pass NET SENDER
 *			RECIPIENT  |  TOKEN status
 *	from it		TOKEN ok ok [NAME]  |  TOKEN ok over [SECONDS]  |
 *			TOKEN ok pass  |  TOKEN ok wait SECONDS  |  TOKEN ok
 *			away  |
 *			TOKEN ok, after the lines of a status
 *
 * about news what share/count/news.h has, and about copies what
 * share/copies/copying.h has.
 *
 * A line ends in LF.  Answers come in any order.  take is always answered,
 * whatever Redis does.  doc/protocol/share.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_ASK_INQUIRERS_H
#define ZM_SHARE_ASK_INQUIRERS_H

#include "daemon/callers.h"
#include "share/copies/copies.h"
#include "share/ledger/ledger.h"

/* Their context. */
struct inquired {
	struct ledger	*ledger;	/* NULL: no Redis */
	struct copies	*copies;	/* NULL: no PostgreSQL */
	uid_t		 scheduler;	/* whose word about control files
					 * counts */
};
extern const struct callers_kind inquirers_kind;

#endif

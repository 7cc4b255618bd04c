/* chains.h - the signatures of DKIM2 that a message gets, one for a recipient
 *
 * An internet draft (libzm/origin/dkim2/): sign ... dkim2.  A signature names
 * sender and recipients.  Each recipient of channel smtp has its own, so that
 * none of them sees another's address; a message for more than
 * CHAINS_RCPTS_MAX of them gets none.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_SIGN_CHAINS_H
#define ZM_ROUTER_SIGN_CHAINS_H

#include "origin/dkim2/dkim2.h"
#include "router/rcpts/rcpts.h"
#include "router/sign/signatures.h"

enum { CHAINS_RCPTS_MAX = 100 };

struct chains {			/* of one message */
	struct signatures *signatures;
	struct arena	*arena;
	struct slice	 before;	/* its header as it came */
	struct slice	 body;
	struct dkim2_hop returned;	/* of a report of ours: the last of what
					 * it returns; to_count 0: none */
	bool		 is_ours;	/* a chain may begin here */
	bool		 has_sum;
	unsigned char	 sum[DIGEST_SHA256_BYTES];
	unsigned	 flags;
	struct control_stamps stamps;
};

/* When all recipients are known: is this message signed by DKIM2?  Then
 * out->stamps makes the headers of the draft.  file has the message from
 * header_offset on. */
bool chains_begin(struct chains *out, struct signatures *signatures,
    const struct envelope *envelope, struct slice file, size_t body_offset,
    const struct rcpts *rcpts);

#endif

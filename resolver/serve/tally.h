/* tally.h - what was asked and answered, as numbers
 *
 * Told in two ways: every minute as an event (resolver.counted), of what came
 * since the one before; and at once, to who asks for the TXT record of
 * RESOLVER_STATUS_NAME, which the world does not have (RFC 6761).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_RESOLVER_SERVE_TALLY_H
#define ZM_RESOLVER_SERVE_TALLY_H

#include <stdint.h>

#include "base/str.h"
#include "resolver/wire/response.h"

struct tally {
	uint64_t	questions;
	uint64_t	secure, insecure, none, no_name, bogus, failed,
			refused;	/* answers; of none and no_name those
					 * that are secure, too */
	uint64_t	flights;	/* questions without an answer yet */
};

/* An answer went out; cut: how many records it had at the most. */
void tally_answer(struct tally *tally, const struct finding *finding);

/* Append "questions=3 secure=1 ... flights=0". */
void tally_add_text(struct str *out, const struct tally *tally);

/* The event, unless all is as in before; then before is as tally. */
void tally_tell(const struct tally *tally, struct tally *before);

#endif

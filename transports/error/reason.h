/* reason.h - the verdict that a host of channel error means
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_REASON_H
#define ZM_TRANSPORTS_REASON_H

#include "mail/verdict.h"

/* Make the verdict for a host, which is a form of forms.h, or xtext: words of a
 * route after an RFC 3463 status (else 5.7.1).  Always a failure. */
void reason_verdict(struct slice host, struct slice user,
    struct verdict *out);

#endif

/* policy.h - what a domain asks of receivers  (RFC 9989)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DMARC_POLICY_H
#define ZM_ORIGIN_DMARC_POLICY_H

enum dmarc_policy { DMARC_NONE, DMARC_QUARANTINE, DMARC_REJECT };

/* "none", "quarantine", "reject". */
const char *dmarc_policy_text(enum dmarc_policy policy);

#endif

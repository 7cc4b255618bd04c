/* send.h - zmailer report send: other domains hear how it went with them
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_SEND_H
#define ZM_TOOLS_REPORT_SEND_H

#include "tools/verb/verb.h"

/* The form `send`.
 * returns an exit status: EX_OK when each domain that asks was told */
int report_tell_domains(struct arguments *arguments);

#endif

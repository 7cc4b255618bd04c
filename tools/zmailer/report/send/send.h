/* send.h - zmailer report send: send reports to other domains
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_SEND_H
#define ZM_TOOLS_REPORT_SEND_H

#include "tools/verb/verb.h"

/* The form `send`.
 * returns an exit status: EX_OK if each domain that asks got a report */
int report_tell_domains(struct arguments *arguments);

#endif

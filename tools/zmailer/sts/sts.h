/* sts.h - zmailer sts: what its files share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_STS_STS_H
#define ZM_TOOLS_ZMAILER_STS_STS_H

#include "tools/zmailer/verbs/verb.h"

/* publish.c: write our own policy, as a file and as records.
 * returns the exit status */
int sts_publish(struct arguments *arguments);

#endif

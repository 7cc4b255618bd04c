/* cluster.h - zmailer cluster: the other machines, and what is shared
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_CLUSTER_H
#define ZM_TOOLS_CLUSTER_H

#include "conf/conf.h"

/* Print who is there and what answers, or JSON.  returns an exit status: 1 when
 * something is missing or away. */
int cluster_status(const struct conf *conf, bool is_json);

/* Print the SQL that makes the tables for copies.  returns an exit status. */
int cluster_init(void);

#endif

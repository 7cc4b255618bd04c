/* takeover.h - zmailer cluster takeover: the mail of a node that is lost
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_CLUSTER_TAKEOVER_H
#define ZM_TOOLS_CLUSTER_TAKEOVER_H

#include "conf/conf.h"

/* Take over what the database has of that node, into this spool; the daemons
 * may run.  is_yes: else only say what there is.
 * returns the exit status, having said what was done, or why not */
int cluster_takeover(const struct conf *conf, const char *node, bool is_yes,
    bool is_json);

#endif

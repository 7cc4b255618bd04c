/* cluster.h - zmailer cluster: the other machines, and what is shared
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_CLUSTER_H
#define ZM_TOOLS_CLUSTER_H

#include "conf/conf.h"
#include "tools/verb/verb.h"

/* Print who is there and what answers, or JSON.  returns an exit status: 1 when
 * something is missing or away. */
int cluster_status(const struct conf *conf, bool is_json);

/* Print whether the desks of the other nodes answer, if there is one.  returns
 * 1 when one does not, or its certificate ends within 30 days; else 0. */
int cluster_reach(const struct conf *conf, bool is_json);

/* Make an authority and a certificate with its key for each node, as files in
 * dir, and print what to do with them.  returns an exit status. */
int cluster_keys(const struct conf *conf, const char *dir);

/* Print the SQL that makes the tables for copies.  returns an exit status. */
int cluster_init(void);

/* nodes_held_fn: what the database has of a node that does not answer, as
 * `list`, `count` or `why` show its mail.  0; -1: it was said why not. */
int cluster_held(const struct verb_row *row,
    const struct arguments *arguments, const struct conf *conf,
    const char *node, bool is_json);

/* Take over what the database has of that node, into this spool; the daemons
 * may run.  is_yes: else only say what there is.
 * returns an exit status, having said what was done, or why not */
int cluster_takeover(const struct conf *conf, const char *node, bool is_yes,
    bool is_json);

#endif

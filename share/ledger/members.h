/* members.h - the nodes of the cluster, as Redis saw them last
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_LEDGER_MEMBERS_H
#define ZM_SHARE_LEDGER_MEMBERS_H

#include "conf/conf.h"

enum { MEMBERS_FRESH_S = 30 };	/* seen within: it counts */

struct members;

/* Nobody was seen yet. */
struct members *members_new(const struct conf_cluster *cluster);
void members_free(struct members **members);

/* What SCRIPT_SEEN answered at now_ms: "NAME SECONDS NAME SECONDS ...". */
void members_take(struct members *members, struct slice text,
    int64_t now_ms);

/* How many were there when Redis last said; before that all that the
 * configuration names.  At least 1. */
unsigned members_count(const struct members *members);

/* Append "TOKEN node NAME SECONDS|- self|other" each: those of the
 * configuration, then strangers. */
void members_add_status(const struct members *members, struct slice token,
    int64_t now_ms, struct str *out);

#endif

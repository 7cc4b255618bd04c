/* vet.h - who is delivered as whom is said by this node alone
 *
 * A control file of the cluster's database names channels, programs and
 * accounts.  Whoever can write there would choose them: a recipient goes on as
 * it stands there only if the router of this node, asked about the address,
 * says the same, or if it is sent to another machine (channel smtp) or to
 * nobody.  Else it is given to the channel reroute, which hands it to the
 * router; holds, times and records stay.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_COPIES_VET_H
#define ZM_TOOLS_COPIES_VET_H

#include "conf/conf.h"

struct vet;

/* Asks nobody yet.  conf is borrowed. */
struct vet *vet_new(const struct conf *conf);
void vet_free(struct vet **vet);

/* Look at the control file of a message that node had; it is changed if
 * something of it is in doubt, each of which is an event.
 * returns 0; -1: it is in doubt, and cannot be written again: leave it out */
int vet_control(struct vet *vet, const char *id, const char *node,
    struct str *control);

/* Does the front of a message file choose a way other than to another machine?
 * Then a person looks at it first. */
bool vet_front_is_odd(struct slice front);

#endif

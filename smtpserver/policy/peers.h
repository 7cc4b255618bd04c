/* peers.h - clients that are told less, or believed more, than others
 *
 * The trust and ehlo statements of a configuration, asked once a session.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_PEERS_H
#define ZM_SMTPSERVER_POLICY_PEERS_H

#include "conf/conf.h"

struct peers;

/* The statements and their tables; conf must outlive it. */
struct peers *peers_new(const struct conf *conf);
void peers_free(struct peers **peers);

/* What client may tell about others: bits 1 << enum conf_trust_word.  A
 * table that cannot be read is trusted with nothing, and an event says so. */
unsigned peers_trust(struct peers *peers, const struct net *client);

/* What is not announced to client: bits 1 << enum ehlo_keyword.  A table
 * that cannot be read is taken to have the client in it. */
unsigned peers_withheld(struct peers *peers, const struct net *client);

#endif

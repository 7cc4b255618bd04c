/* peers.h - clients that are offered less, or trusted more, than others
 *
 * The trust and ehlo statements of a configuration, looked up once a session.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_PEERS_H
#define ZM_SMTPSERVER_POLICY_PEERS_H

#include "conf/conf.h"

struct peers;

/* Open the statements and their tables; conf must outlive it. */
struct peers *peers_new(const struct conf *conf);
void peers_free(struct peers **peers);

/* What client may say about other clients: bits 1 << enum conf_trust_word.  If
 * a table cannot be read, it trusts nobody, and an event says so. */
unsigned peers_trust(struct peers *peers, const struct net *client);

/* What is not announced to client: bits 1 << enum ehlo_keyword.  A table that
 * cannot be read counts as having the client. */
unsigned peers_withheld(struct peers *peers, const struct net *client);

#endif

/* rights.h - who is at the other end of a socket, and what may it do
 *
 * doc/protocol/control.md section 2.  The kernel says who it is; names of
 * groups and accounts are looked up when the configuration is read, not while
 * mail waits.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_RIGHTS_H
#define ZM_DAEMON_RIGHTS_H

#include <sys/types.h>

#include "conf/conf.h"

/* What a peer may do; each right includes those before it. */
enum right { RIGHT_OWN, RIGHT_ETRN, RIGHT_READ, RIGHT_WRITE };

enum { PEER_GROUPS_MAX = 1024, PEER_NAME_BYTES = 136 };	/* a name
					 * at a node */

/* Who may do what, as numbers; (uid_t)-1 and (gid_t)-1: nobody. */
struct peer_rules {
	uid_t	writers[2];	/* root, ourselves */
	uid_t	readers[2];	/* router, agents */
	uid_t	etrn;		/* smtpserver */
	uid_t	nodes;		/* it speaks for others */
	gid_t	admins, operators;
};

struct rights_peer {
	uid_t		 uid;
	enum right	 right;
	bool		 is_mailq;	/* of the mailq protocol: only its
					 * verbs */
	bool		 is_nodes;	/* it may say for whom it is here */
	char		 name[PEER_NAME_BYTES];	/* of the user; else uid */
};

/* Look up the configuration's groups and accounts; a group that does not
 * exist is nobody, with a warning. */
void peer_rules_read(const struct conf *conf, struct peer_rules *out);

/* The right of a user with this uid and these groups. */
enum right peer_right(const struct peer_rules *rules, uid_t uid,
    const gid_t *groups, size_t group_count);

/* Ask the kernel about a connected socket.  0; -1: it does not know. */
int peer_ask(int socket, const struct peer_rules *rules,
    struct rights_peer *out);

#endif

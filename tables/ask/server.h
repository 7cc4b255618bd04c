/* server.h - the process that asks databases: who asks it, and for what
 *
 * smtpserver, router and scheduler ask over RUN/tables.sock, which belongs to
 * smtpserver's group; so do tools that root runs.  It alone knows where the
 * databases are and with which passwords (mail/table/definition.h).
 *
 *	to it		TOKEN get TABLE KEY  |  TOKEN list TABLE
 *	from it		TOKEN ok found VALUE  |  TOKEN ok none  |
 *			TOKEN trouble WORDS; of list in front of none:
 *			TOKEN row NAME, each
 *
 * A line ends in LF.  Answers come in any order.  A database that does not
 * answer is trouble, never "none".  doc/protocol/tables.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ASK_SERVER_H
#define ZM_TABLES_ASK_SERVER_H

#include "daemon/skeleton.h"

struct server;

/* Read the definitions of the tables of process->conf that are asked. */
struct server *server_new(struct process *process);
/* Answer at the listening socket until the other end of lifeline is closed:
 * then what was asked, no more, and the loop stops. */
void server_listen(struct server *server, int socket, int lifeline);
void server_free(struct server **server);

#endif

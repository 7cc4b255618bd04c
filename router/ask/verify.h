/* verify.h - the process that answers whether a recipient would be served
 *
 * smtpserver asks it at RCPT.  It is a child of the router with the router's
 * account, because only that account may be able to read tables; it listens on
 * the socket verify.sock in the run directory, open to smtpserver's group.
 *
 *	to it		TOKEN rcpt ADDRESS  |  TOKEN list ADDRESS  |
 *			TOKEN hook ADDRESS TAB SENDER TAB CLIENT TAB USER
 *	from it		TOKEN ok served  |  TOKEN ok refused FORM  |
 *			TOKEN ok later WORDS  |
 *			TOKEN ok members COUNT ADDRESS...  |
 *			TOKEN trouble WORDS
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_VERIFY_H
#define ZM_ROUTER_VERIFY_H

#include "daemon/skeleton.h"

enum {
	VERIFY_CLIENTS_MAX = 16	/* connections at once */
};

struct verify;

/* Bind the socket, fork the process.  NULL with err. */
struct verify *verify_new(struct process *process, struct err *err);
/* In another child of the router: close the listening socket. */
void verify_in_child(struct verify *verify);
/* Start a new one with the process's configuration; the old one answers the
 * questions that it has, and ends. */
void verify_renew(struct verify *verify);
/* End it and unlink the socket.  Sets *verify to NULL. */
void verify_free(struct verify **verify);

#endif

/* order.h - one message for one program
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_ORDER_H
#define ZM_TRANSPORTS_ORDER_H

#include "conf/conf.h"
#include "mail/verdict.h"
#include "mail/control_file/control_file.h"
#include "transports/frame/account.h"
#include "transports/frame/content.h"
#include "transports/pipe/program.h"

struct pipe_order {
	const struct conf	*conf;		/* limits and timeouts */
	struct arena		*arena;
	const struct control_job	*job;
	const struct control_rcpt	*rcpt;
	const struct job_content	*content;	/* loaded,
	    with From_ line */
	const struct account	*owner;		/* as whom it runs */
	const char		*recipient;	/* for RECIPIENT; NULL: see
						 * zmailer-pipe(8) */
	struct slice		 command;	/* command.h */
	bool			 shell_ok;	/* all of the command is the
						 * owner's own: /bin/sh gets it
						 * when it says what a shell
						 * understands */
};

/* Run the command with the message on its standard input and fill the
 * verdict. */
void order_run(const struct pipe_order *order, struct verdict *verdict);

/* Open a file without a name for a message of this size, in memory if it is
 * small.  A descriptor or -1. */
int order_file(uint64_t size_bytes, struct err *err);

/* The environment of a program for this recipient, in the arena; it has little
 * of ours. */
char **order_environment(struct arena *arena, const struct control_job *job,
    const struct account *owner, const char *recipient);

#endif

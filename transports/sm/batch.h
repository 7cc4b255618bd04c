/* batch.h - a message in the form that a mailer wants
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_BATCH_H
#define ZM_TRANSPORTS_BATCH_H

#include "mail/control_file/control_file.h"
#include "transports/sm/mailer.h"

struct batch {
	const struct mailer	*mailer;
	const char		*host;		/* our name */
	const struct control_job	*job;
	int			 body_fd;
	const struct control_rcpt	*const *rcpts;
	size_t			 rcpt_count;
};

/* Write envelope (batch SMTP, if the mailer wants it), header and body to
 * fd.  0 or -1. */
int batch_write(const struct batch *batch, int fd, struct err *err);

#endif

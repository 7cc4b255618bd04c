/* box.h - a mailbox agent without a process, in a directory of its own
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_BOX_H
#define ZM_TESTS_BOX_H

#include "transports/mailbox/mailbox.h"

struct box {
	char			top[64];	/* private directory */
	char			template[200];
	struct conf		conf;
	struct agent_run	run;
	/* of one recipient, zm-alice */
	struct control_job		job;
	struct control_rcpt	rcpts[3];
	struct verdict		verdicts[3];
	int			body_fd;
};
extern struct box box;

/* A path below top; eight of them stand at a time. */
const char *box_path_of(const char *name);
/* Write, read a small file. */
void box_file_put(const char *name, const char *text);
char *box_file_get(const char *path);
/* Files in a directory below top; out_path: one of them, or NULL. */
unsigned box_count_in(const char *name, char *out_path);
/* The body of the next delivery. */
void box_body_set(const char *text);
/* Begin, with mailboxes of this kind at top/name. */
void box_start(enum conf_mailbox_kind kind, const char *name);
/* One job, settled. */
void box_deliver(void);
void box_finish(void);

#endif

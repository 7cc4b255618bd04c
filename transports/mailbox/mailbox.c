/* mailbox.c - the agent of channel local
 *
 * Spec   zmailer-mailbox(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/mailbox/mailbox.h"

#include "base/banned.h"

static const struct agent_kind mailbox = {
	.name = "mailbox",
	.purpose = "puts mail into Maildirs, mboxes and files",
	.channel = "local",
	.start = mailbox_start,
	.job = mailbox_job,
	.settle = mailbox_settle,
	.finish = mailbox_finish,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &mailbox);
}

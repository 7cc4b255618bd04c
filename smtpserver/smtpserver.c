/* smtpserver.c - the process that listens
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/listener/listener.h"
#include "smtpserver/rehearse/rehearse.h"
#include "smtpserver/rehearse/replay.h"
#include "smtpserver/worker/standalone.h"

#include "base/banned.h"

int
main(int argc, char **argv)
{
	static const struct daemon daemon = {
		.name = "smtpserver",
		.purpose = "Takes mail from the network into the spool.",
		.role = ROLE_SMTPSERVER,
		.open_privileged = listener_bind,
		.after_drop = listener_start,
		.reload = listener_reload,
		.stop = listener_stop,
		.leave = listener_leave,
	};

	if (rehearse_is_meant(argc, argv))
		return rehearse(argc, argv);
	if (replay_is_meant(argc, argv))
		return replay_run(argc, argv);
	if (standalone_is_meant(argc, argv))
		return standalone_run(argc, argv);
	return daemon_run(argc, argv, &daemon);
}

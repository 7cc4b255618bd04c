/* smtpserver.c - the process that listens
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/doorman/doorman.h"
#include "smtpserver/test/rehearse.h"
#include "smtpserver/standalone.h"

#include "base/banned.h"

int
main(int argc, char **argv)
{
	static const struct daemon daemon = {
		.name = "smtpserver",
		.purpose = "Takes mail from the network into the spool.",
		.role = ROLE_SMTPSERVER,
		.open_privileged = doorman_bind,
		.after_drop = doorman_start,
		.reload = doorman_reload,
		.stop = doorman_stop,
	};

	if (rehearse_is_meant(argc, argv))
		return rehearse(argc, argv);
	if (standalone_is_meant(argc, argv))
		return standalone_run(argc, argv);
	return daemon_run(argc, argv, &daemon);
}

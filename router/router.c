/* router.c - main: from router/ to queue/ and transport/
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/ask/ask.h"
#include "router/ask/explain.h"
#include "router/workers/parent.h"

#include "base/banned.h"

int
main(int argc, char **argv)
{
	static const struct daemon router = {
		.name = "router",
		.purpose = "Routes accepted messages: who gets them, and how.",
		.role = ROLE_ROUTER,
		.open_privileged = parent_open,
		.after_drop = parent_start,
		.reload = parent_reload,
		.stop = parent_stop,
	};

	if (ask_is_meant(argc, argv))
		return ask_run();
	if (explain_is_meant(argc, argv))
		return explain_run(argc - 2, argv + 2);
	return daemon_run(argc, argv, &router);
}

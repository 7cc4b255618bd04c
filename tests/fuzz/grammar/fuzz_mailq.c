/* fuzz_mailq.c - what a client of the mailq protocol says, and its users
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/mailq.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = fuzz_slice(data, size), line;
	struct mailq_command command;
	struct mailq_user user;
	struct net address;
	struct err err;

	MUST(net_parse(SLICE("192.0.2.1"), &address, NULL) == 0);
	while (slice_cut(&rest, '\n', &line)) {
		mailq_command_parse(line, &command);
		/* arguments are parts of the line */
		for (int i = 0; i < 2; i++)
			MUST(command.args[i].n == 0 ||
			    (command.args[i].p >= line.p && command.args[i].p +
			    command.args[i].n <= line.p + line.n));
		MUST(command.verb != MAILQ_VERB_UNKNOWN ||
		    command.rights == 0);
		if (mailq_user_parse(line, &user, &err) == MAILQ_LINE_USER) {
			MUST(user.name.n > 0 && user.password.n > 0);
			MUST((user.rights & ~(unsigned)MAILQ_ANY) == 0);
			(void)mailq_user_admits(&user, &address);
		}
	}
	return 0;
}

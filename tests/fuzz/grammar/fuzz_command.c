/* fuzz_command.c - any bytes as a command line
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/smtp/command.h"

static void
check_params(struct slice in)
{
	struct slice rest = in, keyword, value;
	size_t left = rest.n + 1;
	struct err err;
	int rc;

	while ((rc = command_param(&rest, &keyword, &value, &err)) ==
	    COMMAND_PARAM) {
		MUST(rest.n < left);
		left = rest.n;
		MUST(fuzz_inside(keyword, in) && keyword.n > 0);
		MUST(fuzz_inside(value, in));
		MUST(value.p == NULL || value.n > 0);
		MUST(!fuzz_has_control(keyword) && !fuzz_has_control(value));
		MUST(slice_find(keyword, ' ') == keyword.n);
		MUST(slice_find(value, ' ') == value.n);
	}
	MUST(rc < 0 || rest.n == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct err err = { "" };
	struct command command;
	int rc = command_parse(in, &command, &err);

	MUST(rc == 0 || (rc == -1 && err.text[0] != '\0'));
	MUST(!fuzz_has_control(slice_of(err.text)));
	check_params(in);
	if (rc < 0)
		return 0;
	MUST(!fuzz_has_control(in));
	MUST(fuzz_inside(command.verb, in) && fuzz_inside(command.args, in));
	MUST(command.verb.n > 0);
	MUST(slice_find(command.verb, ' ') == command.verb.n);
	MUST(command.verb.n + command.args.n <= in.n);
	if (command_keyword(&command.args, "FROM") ||
	    command_keyword(&command.args, "TO:"))
		MUST(fuzz_inside(command.args, in));
	check_params(command.args);
	return 0;
}

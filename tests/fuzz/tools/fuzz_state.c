/* fuzz_state.c - whatever stands in RUN/zmailer.state: what was read is within
 * its bounds, and is written as it was read
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

static char dir[] = "/tmp/zmfuzzstateXXXXXX", path[64];

static void
state_clean(void)
{
	state_remove(dir);
	(void)rmdir(dir);
}

static void
state_prepare(void)
{
	MUST(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/zmailer.state", dir);
	MUST(atexit(state_clean) == 0);
}

static void
state_check(const struct state *state)
{
	MUST(state->pid > 0 && state->since_s >= 0);
	MUST(state->program.made_s >= 0 && state->program.bytes >= 0);
	MUST(state->child_count <= STATE_CHILDREN_MAX);
	for (size_t i = 0; i < state->child_count; i++) {
		MUST(state->children[i].pid >= 0);
		MUST(state->children[i].since_s >= 0);
		MUST(state->children[i].name[0] != '\0');
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct state first, second;
	struct err err;
	int fd;

	if (path[0] == '\0')
		state_prepare();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	if (state_read(dir, &first, &err) != STATE_READ)
		return 0;
	state_check(&first);
	MUST(state_write(dir, &first, &err) == 0);
	MUST(state_read(dir, &second, &err) == STATE_READ);
	state_check(&second);
	MUST(first.pid == second.pid && first.since_s == second.since_s &&
	    first.reloads == second.reloads && first.conf == second.conf &&
	    first.child_count == second.child_count);
	return 0;
}

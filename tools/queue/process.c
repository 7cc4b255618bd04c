/* process.c - what the system says of a process
 *
 * In     /proc/PID/stat
 * Out    its parent, its name, whether it is stopped
 * Trusts nothing in the name
 * Spec   process.h; proc(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "tools/queue/process.h"

#include "base/banned.h"

bool
process_look(pid_t pid, struct process_look *out)
{
	char path[64], text[512], *name_end, *name;
	struct slice rest, state, word;
	uint64_t parent;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = fd_read_at(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	name = strchr(text, '(');
	/* the name may have anything, ")" and blanks too */
	name_end = strrchr(text, ')');
	if (name == NULL || name_end == NULL)
		return false;
	*name_end = '\0';
	strlcpy(out->name, name + 1, sizeof(out->name));
	rest = slice_of(name_end + 1);
	if (!slice_word(&rest, &state) || !slice_word(&rest, &word) ||
	    !slice_number(word, 0, INT32_MAX, &parent))
		return false;
	out->parent = (pid_t)parent;
	out->is_stopped = slice_is(state, "T") || slice_is(state, "t");
	return true;
}

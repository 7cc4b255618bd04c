/* postmap.c - the contents of a database of Postfix whose source is gone
 *
 * In     TYPE:PLACE
 * Out    what `postmap -s` prints
 * Holds  a child process while it runs
 * Spec   postmap(1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

enum { POSTMAP_MAX_BYTES = 256 << 20 };

static void
postmap_run(const char *spec, int out)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	execlp("postmap", "postmap", "-s", spec, (char *)NULL);
	_exit(127);
}

int
import_postmap(struct import *import, const struct import_map *map,
    struct slice *out_text)
{
	const char *spec = arena_printf(import->arena, SLICE_FMT ":%s",
	    SLICE_ARG(map->type), map->path);
	struct str text = STR_INIT;
	int ends[2], status = -1;
	ssize_t n = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0)
		postmap_run(spec, ends[1]);
	(void)close(ends[1]);
	while (pid > 0 && text.len < POSTMAP_MAX_BYTES &&
	    ((n = read(ends[0], str_room(&text, 65536), 65536)) > 0 ||
	    (n < 0 && errno == EINTR)))
		text.len += n > 0 ? (size_t)n : 0;
	(void)close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*out_text = slice_copy(import->arena, str_slice(&text));
	str_release(&text);
	return pid > 0 && status == 0 && n == 0 ? 0 : -1;
}

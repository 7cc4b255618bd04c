/* ask_router.c - the router's own code, run to be asked
 *
 * In     addresses
 * Out    what `router --route --json` says of them
 * Holds  one process, while it is asked
 * Trusts its answer only as bytes, and so many
 * Spec   ask_router.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/skeleton.h"
#include "tools/run/ask_router.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum { ANSWER_BYTES_MAX = 4 << 20 };

/* The router's place in a child, with the pipe as its output. */
static void
router_exec(const char *const *words, int fd)
{
	if (dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0)
		execv(words[0], (char *const *)(uintptr_t)words);
	_exit(127);
}

/* Add what it prints; false: it could not be run. */
static bool
router_listen(const char *const *words, struct str *out)
{
	int ends[2], status = -1;
	ssize_t n = 1;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	pid = fork();
	if (pid == 0)
		router_exec(words, ends[1]);
	close(ends[1]);
	while (pid > 0 && n > 0 && out->len < ANSWER_BYTES_MAX) {
		n = read(ends[0], str_room(out, 4096), 4096);
		if (n > 0)
			out->len += (size_t)n;
	}
	str_room(out, 1)[0] = '\0';
	close(ends[0]);
	return pid > 0 && waitpid(pid, &status, 0) == pid &&
	    WIFEXITED(status) && WEXITSTATUS(status) != 127;
}

const char *
router_asked(const char *conf_path, const char *const *addresses,
    struct str *out)
{
	static char path[PATH_MAX];
	const char **words;
	size_t n = 0;
	bool is_heard;

	while (addresses[n] != NULL)
		n++;
	words = mem_alloc(n + 5, sizeof(*words));
	libexec_settle();
	daemon_libexec("router", path, sizeof(path));
	words[0] = path;
	words[1] = "--route";
	words[2] = "--json";
	words[3] = "--";	/* an address may look like an option */
	for (size_t i = 0; i <= n; i++)
		words[4 + i] = addresses[i];
	if (conf_path != NULL)
		setenv("ZMAILER_CONF", conf_path, 1);
	is_heard = router_listen(words, out);
	mem_free(&words);
	return is_heard ? path : NULL;
}

/* unit.c - the unit by which systemd starts zmailer
 *
 * In     the unit that make install wrote; the cgroup of what runs
 * Out    systemctl enable PATH, systemctl restart UNIT, whose words go to the
 *        terminal
 * Spec   systemctl(1), doc/zmailer.service
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/str.h"
#include "tools/run/unit.h"

#include "base/banned.h"

enum { UNIT_NAME_BYTES = 256 };		/* systemd's own bound */

const char *
unit_path(void)
{
	return ZM_UNITDIR "/zmailer.service";
}

bool
unit_is_installed(void)
{
	return access(unit_path(), R_OK) == 0;
}

/* Not by execvp alone: what is missing is asked before a question. */
bool
unit_has_manager(void)
{
	struct slice rest = slice_of(getenv("PATH") ? getenv("PATH") : "");
	struct str path = STR_INIT;
	bool is_found = false;

	while (rest.n > 0 && !is_found) {
		const char *colon = memchr(rest.p, ':', rest.n);
		size_t n = colon != NULL ? (size_t)(colon - rest.p) : rest.n;

		str_reset(&path);
		str_addf(&path, "%.*s/systemctl", (int)n, rest.p);
		is_found = n > 0 && access(path.buf, X_OK) == 0;
		rest.p += n + (colon != NULL);
		rest.n -= n + (colon != NULL);
	}
	str_release(&path);
	return is_found;
}

/* Its output goes to that descriptor, and what it complains of nowhere; -1:
 * both where ours go.  0; -1 */
static int
unit_manage(const char *const words[], int out_fd)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		if (out_fd >= 0) {
			dup2(out_fd, STDOUT_FILENO);
			dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		}
		execvp("systemctl", (char *const *)(uintptr_t)words);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 :
	    -1;
}

int
unit_enable(void)
{
	const char *path = unit_path();
	const char *words[] = { "systemctl", "enable", path, NULL };

	if (unit_manage(words, -1) == 0)
		return 0;
	fprintf(stderr, "zmailer: the unit is not enabled; say: systemctl "
	    "enable %s\n", path);
	return -1;
}

/* ---- what runs ---------------------------------------------------------- */

/* The last part of a path, if a service is called so. */
static bool
service_in_path(struct slice path, struct str *out)
{
	size_t at;

	for (at = path.n; at > 0 && path.p[at - 1] != '/'; at--)
		;
	path = slice_from(path, at);
	if (!slice_ends(path, ".service") || path.n == strlen(".service") ||
	    path.n >= UNIT_NAME_BYTES || path.p[0] == '-')
		return false;
	str_reset(out);
	str_add_slice(out, path);
	return true;
}

bool
unit_in_cgroup(struct slice text, struct str *out)
{
	struct slice line;

	while (slice_cut(&text, '\n', &line))
		if ((slice_starts(line, "0::/") || slice_find_text(line,
		    SLICE(":name=systemd:/")) < line.n) &&
		    service_in_path(line, out))
			return true;
	return false;
}

/* Is it the unit's main process?  What an admin started by hand in a shell that
 * belongs to a unit is not. */
static bool
unit_has_main(const char *name, pid_t pid)
{
	const char *words[] = { "systemctl", "show", "--property=MainPID",
	    "--value", name, NULL };
	char text[32];
	int ends[2];
	ssize_t n = -1;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	if (unit_manage(words, ends[1]) == 0)
		n = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	close(ends[1]);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 && strtol(text, NULL, 10) == pid;
}

bool
unit_of_process(pid_t pid, struct str *out)
{
	char path[64], text[4096];
	ssize_t n = -1;
	int fd;

	if (geteuid() != 0 || !unit_has_manager())
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/cgroup", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text));
		close(fd);
	}
	return n > 0 && unit_in_cgroup((struct slice){ text, (size_t)n },
	    out) && unit_has_main(out->buf, pid);
}

int
unit_restart(const char *name)
{
	const char *words[] = { "systemctl", "restart", name, NULL };

	printf("systemctl restart %s\n", name);
	fflush(stdout);
	if (unit_manage(words, -1) == 0)
		return EX_OK;
	fprintf(stderr, "zmailer: restart: %s did not start; journalctl -u %s "
	    "says why\n", name, name);
	return EX_UNAVAILABLE;
}

/* unit.c - enables the unit by which systemd starts zmailer
 *
 * In     the unit that make install wrote
 * Out    systemctl enable PATH, whose words go to the terminal
 * Spec   systemctl(1), doc/zmailer.service
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "tools/run/unit.h"

#include "base/banned.h"

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

int
unit_enable(void)
{
	const char *path = unit_path();
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		execlp("systemctl", "systemctl", "enable", path, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	fprintf(stderr, "zmailer: the unit is not enabled; say: systemctl "
	    "enable %s\n", path);
	return -1;
}

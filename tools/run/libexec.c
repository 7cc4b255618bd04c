/* libexec.c - a zmailer that was not installed finds its daemons
 *
 * In     ZMAILER_LIBEXEC, ZMAILER_BUILD, the path of this program
 * Out    ZMAILER_LIBEXEC in the environment, when it is needed
 * Spec   doc/OVERVIEW.md; the build makes libexec/zmailer (libexec-tree)
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/run/supervisor.h"

#include "base/banned.h"

static bool
libexec_take(const char *dir)
{
	char probe[PATH_MAX + 64], whole[PATH_MAX];

	snprintf(probe, sizeof(probe), "%s/libexec/zmailer/router", dir);
	if (access(probe, X_OK) < 0)
		return false;
	snprintf(probe, sizeof(probe), "%s/libexec/zmailer", dir);
	if (realpath(probe, whole) == NULL)
		return false;
	return setenv("ZMAILER_LIBEXEC", whole, 1) == 0;
}

void
libexec_settle(void)
{
	const char *given = getenv("ZMAILER_LIBEXEC");
	const char *build = getenv("ZMAILER_BUILD");
	char self[PATH_MAX];
	ssize_t n;

	if (given != NULL && *given != '\0')
		return;
	if (build != NULL && *build != '\0' && libexec_take(build))
		return;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return;
	self[n] = '\0';
	for (int up = 0; up < 2; up++) {	/* .../bin/zmailer */
		char *slash = strrchr(self, '/');

		if (slash == NULL)
			return;
		*slash = '\0';
	}
	(void)libexec_take(self);
}

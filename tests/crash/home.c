/* home.c - a home for an account that has none
 *
 * Part of the preloaded library: with ZM_NTH_HOME set, every account of the
 * user database lives there.  So a delivery that needs a home can be tested
 * as `nobody', without an account of its own.
 *
 * SPDX-License-Identifier: ISC
 */
#include <dlfcn.h>
#include <pwd.h>
#include <stdlib.h>

typedef int get_fn(const char *, struct passwd *, char *, size_t,
    struct passwd **);

int
getpwnam_r(const char *name, struct passwd *out, char *buffer, size_t size,
    struct passwd **found)
{
	char *home = getenv("ZM_NTH_HOME");
	get_fn *real;
	int result;

	*(void **)&real = dlsym(RTLD_NEXT, "getpwnam_r");
	result = real(name, out, buffer, size, found);
	if (result == 0 && *found != NULL && home != NULL)
		out->pw_dir = home;
	return result;
}

/* filtered.c - run a program with the system calls of a list alone
 *
 *	filtered LIST PROGRAM [ARGUMENT ...]
 *
 * LIST has a name a line; a name that this machine does not know is no
 * fault, as it is none for SystemCallFilter= of systemd.  All other calls
 * fail with EPERM.  The program and all that it starts have the filter.
 *
 * SPDX-License-Identifier: ISC
 */
#include <seccomp.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
filter_allow(scmp_filter_ctx filter, const char *name)
{
	int number = seccomp_syscall_resolve_name(name);
	int error;

	if (number == __NR_SCMP_ERROR)
		return;
	error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
	if (error < 0 && error != -EEXIST && error != -EDOM)
		errx(70, "%s: %s", name, strerror(-error));
}

static void
filter_read(scmp_filter_ctx filter, const char *path)
{
	char line[128];
	FILE *in = fopen(path, "re");

	if (in == NULL)
		err(66, "%s", path);
	while (fgets(line, sizeof(line), in) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		filter_allow(filter, line);
	}
	fclose(in);
}

int
main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

	if (argc < 3 || filter == NULL)
		errx(64, "usage: filtered LIST PROGRAM [ARGUMENT ...]");
	filter_read(filter, argv[1]);
	/* systemd is root when it does this: what is started may still get
	 * rights by the files that it runs */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	if (seccomp_load(filter) < 0)
		errx(71, "the filter is refused");
	execvp(argv[2], argv + 2);
	err(69, "%s", argv[2]);
}

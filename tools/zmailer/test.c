/* test.c - zmailer test: what would be said to whom
 *
 * In     options for one mail, or files of rows and expectations
 * Out    what smtpserver's own code says (it is run for that); its status
 * Spec   zmailer-test(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/skeleton.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

int
verb_test(struct arguments *arguments)
{
	int argc = arguments->argc;
	char **argv = arguments->argv;
	const char *conf_path = arguments->conf_path;
	char path[PATH_MAX], **words;

	if (conf_path != NULL)
		setenv("ZMAILER_CONF", conf_path, 1);
	daemon_libexec("smtpserver", path, sizeof(path));
	words = mem_alloc((size_t)argc + 2, sizeof(*words));
	words[0] = path;
	for (int i = 0; i < argc; i++)
		words[i + 1] = argv[i];
	execv(path, words);
	fprintf(stderr, "zmailer: test: %s: %s\n", path, strerror(errno));
	mem_free(&words);
	return EX_UNAVAILABLE;
}

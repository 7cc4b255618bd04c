/* web.c - zmailer web: the desk in a browser
 *
 * In     --port N
 * Out    becomes zm-web, which prints a link and serves until Ctrl-C
 * Spec   zmailer-web(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/skeleton.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

/* The program that runs now, whose verbs the desk asks. */
static int
web_self(char out[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);

	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -1;
}

int
verb_web(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	char program[PATH_MAX], self[PATH_MAX], run_dir[PATH_MAX], port[16];
	struct conf *conf = verb_conf_spool(conf_path);

	strlcpy(run_dir, conf->run_dir, sizeof(run_dir));
	conf_free(&conf);
	snprintf(port, sizeof(port), "%d", (int)arguments_number(arguments,
	    OPT_PORT, 0));
	daemon_libexec("zm-web", program, sizeof(program));
	if (web_self(self) == 0)
		execl(program, program, self, conf_path != NULL ? conf_path :
		    "", run_dir, port, (char *)NULL);
	if (errno == ENOENT)
		fprintf(stderr, "zmailer: web: %s is not there: this zmailer "
		    "was built without libevent.  Install the package "
		    "zmailer-web; or libevent-dev, then configure and build "
		    "again\n",
		    program);
	else
		fprintf(stderr, "zmailer: web: %s: %s\n", program,
		    strerror(errno));
	return EX_UNAVAILABLE;
}

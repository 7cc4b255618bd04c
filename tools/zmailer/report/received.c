/* received.c - zmailer report dmarc|tls PATH...
 *
 * In     what the verb was told
 * Out    becomes zm-reports, which has the libraries that read reports
 * Spec   zmailer-report(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/skeleton.h"
#include "tools/verb/verb.h"
#include "tools/zmailer/report/received.h"

#include "base/banned.h"

int
received_report(struct arguments *arguments)
{
	char program[PATH_MAX], dmarc[] = "dmarc", tls[] = "tls",
	    text[] = "text", json[] = "json";
	size_t count = 0;
	char **words = mem_alloc((size_t)arguments->count + 4, sizeof(*words));
	int error;

	daemon_libexec("zm-reports", program, sizeof(program));
	words[count++] = program;
	words[count++] = arguments_is(arguments, "dmarc") ? dmarc : tls;
	words[count++] = arguments_has(arguments, OPT_JSON) ? json : text;
	for (int i = 0; i < arguments->count; i++)
		words[count++] = arguments->words[i];
	words[count] = NULL;
	execv(program, words);
	error = errno;
	mem_free(&words);
	if (error == ENOENT)
		fprintf(stderr, "zmailer: report: %s is not there: this "
		    "zmailer was built without expat, jansson and libarchive."
		    "  Install the package zmailer-report-reader; or "
		    "libexpat1-dev, libjansson-dev and libarchive-dev, then "
		    "configure and build again\n", program);
	else
		fprintf(stderr, "zmailer: report: %s: %s\n", program,
		    strerror(error));
	return EX_UNAVAILABLE;
}

/* classic.c - the words of ZMailer's script, for people and crontabs
 *
 * In     an old word and what follows it
 * Out    what today's verb does; a line that names it
 * Spec   zmailer(8), CLASSIC VERBS
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/err.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

static const struct old {
	const char	*name;
	const char	*verb, *word;	/* NULL: nothing is to be done */
	const char	*text;
} olds[] = {
	{ "kill", "stop", NULL, "zmailer stop" },
	{ "kills", "stop", NULL, "zmailer stop" },
	{ "killr", "stop", NULL, "zmailer stop" },
	{ "nuke", "stop", NULL, "zmailer stop" },
	{ "router", "restart", NULL, "zmailer restart: all belong together" },
	{ "scheduler", "restart", NULL,
	    "zmailer restart: all belong together" },
	{ "smtpserver", "restart", NULL,
	    "zmailer restart: all belong together" },
	{ "smtp", "restart", NULL, "zmailer restart: all belong together" },
	{ "unfreeze", "undrain", NULL, "zmailer undrain" },
	{ "newdb", "table", "build", "zmailer table build" },
	{ "new-routes", "table", "build", "zmailer table build" },
	{ "new-route", "table", "build", "zmailer table build" },
	{ "new-localnames", "table", "build", "zmailer table build" },
	{ "newaliases", "newaliases", NULL, "newaliases(1)" },
	{ "newfqdnaliases", "newaliases", NULL, "newaliases(1)" },
	{ "logsync", "logrotate", NULL, "zmailer logrotate" },
	{ "bootclean", NULL, NULL,
	    "nothing is left over: zmailer start looks after its files" },
	{ "cleanup", NULL, NULL,
	    "nothing to do: the router sweeps public/ and trash/ itself, and "
	    "postman/ is a person's" },
};
enum { OLDS = sizeof(olds) / sizeof(olds[0]) };

/* The program beside ours, or the one on PATH. */
static int
newaliases_run(const char *conf_path)
{
	char path[4200];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
	char *end;

	if (conf_path != NULL)
		(void)setenv("ZMAILER_CONF", conf_path, 1);
	if (n > 0) {
		path[n] = '\0';
		end = strrchr(path, '/') + 1;
		memcpy(end, "newaliases", sizeof("newaliases"));
		execl(path, "newaliases", (char *)NULL);
	}
	execlp("newaliases", "newaliases", (char *)NULL);
	fprintf(stderr, "zmailer: newaliases: %s\n", strerror(errno));
	return EX_OSFILE;
}

bool
classic_run(int argc, char **argv, const char *conf_path, int *out_status)
{
	char *words[3] = { NULL, NULL, NULL };
	size_t i = 0, count = 0;

	while (i < OLDS && strcmp(olds[i].name, argv[0]) != 0)
		i++;
	if (i == OLDS)
		return false;
	*out_status = EX_USAGE;
	if (argc > 1) {
		fprintf(stderr, "zmailer: %s: '%s' is too much; of today: %s\n",
		    argv[0], argv[1], olds[i].text);
		return true;
	}
	fprintf(stderr, "zmailer: %s: %s\n", argv[0], olds[i].text);
	*out_status = EX_OK;
	if (olds[i].verb == NULL)
		return true;
	if (strcmp(olds[i].verb, "newaliases") == 0) {
		*out_status = newaliases_run(conf_path);
		return true;
	}
	words[count++] = (char *)(uintptr_t)olds[i].verb;
	if (olds[i].word != NULL)
		words[count++] = (char *)(uintptr_t)olds[i].word;
	*out_status = verb_run_row(verb_row_find(olds[i].verb), (int)count,
	    words, conf_path);
	return true;
}

bool
classic_alone(const char *verb, int *out_status)
{
	bool is_freeze = strcmp(verb, "freeze") == 0;

	if (!is_freeze && strcmp(verb, "thaw") != 0)
		return false;
	fprintf(stderr, "zmailer: %s: which messages? 'all' means every one "
	    "(to stop all deliveries, as ZMailer's %s: zmailer %s)\n", verb,
	    verb, is_freeze ? "drain" : "undrain");
	*out_status = EX_USAGE;
	return true;
}

/* route.c - zmailer route: where mail for an address would go, and why
 *
 * In     addresses
 * Out    what router's own code says (it is run for that); its status
 * Spec   zmailer-route(8)
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
#include "tools/run/supervisor.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

/* How many words an option of the router's has behind it; -1: none of them. */
static int
option_words(const char *name)
{
	static const struct { const char *name; int words; } rows[] = {
		{ "--json", 0 }, { "--mx", 0 }, { "--from", 1 },
		{ "--as", 1 }, { "--ip", 1 }, { "--addresses", 1 },
		{ "--diff", 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(name, rows[i].name) == 0)
			return rows[i].words;
	return -1;
}

/* Take out --config FILE, which is ours, and -v, which says what is so: all
 * is told.  returns how many words are left. */
static int
take_ours(int argc, char **argv, const char **conf_path)
{
	int at = 1, left = 1;

	while (at < argc && argv[at][0] == '-') {
		int words = option_words(argv[at]);

		if (strcmp(argv[at], "-v") == 0) {
			at++;
		} else if (strcmp(argv[at], "--config") == 0 &&
		    at + 1 < argc) {
			*conf_path = argv[at + 1];
			at += 2;
		} else {
			for (words = words < 0 ? 0 : words; words >= 0 &&
			    at < argc; words--)
				argv[left++] = argv[at++];
		}
	}
	while (at < argc)
		argv[left++] = argv[at++];
	return left;
}

/* Is there an address among the words, and are the options ours? */
static int
check_words(int argc, char **argv)
{
	bool has_addresses = false;
	int at = 1;

	while (at < argc && argv[at][0] == '-') {
		int words = option_words(argv[at]);

		if (words < 0 || argc - at <= words)
			return verb_usage(argv[0], "unknown word '%s'",
			    argv[at]);
		has_addresses |= strcmp(argv[at], "--addresses") == 0;
		at += 1 + words;
	}
	if (has_addresses)
		return EX_OK;
	return at < argc ? EX_OK : verb_usage(argv[0], "say an address");
}

int
verb_route(int argc, char **argv, const char *conf_path)
{
	int status;
	char path[PATH_MAX], **words;
	struct conf *conf;

	argc = take_ours(argc, argv, &conf_path);
	status = check_words(argc, argv);
	if (status != EX_OK)
		return status;
	conf = verb_conf(conf_path);	/* says what is wrong with it */
	conf_free(&conf);
	libexec_settle();
	if (conf_path != NULL)
		setenv("ZMAILER_CONF", conf_path, 1);
	daemon_libexec("router", path, sizeof(path));
	words = mem_alloc((size_t)argc + 2, sizeof(*words));
	words[0] = path;
	words[1] = mem_strdup("--route");
	for (int i = 1; i < argc; i++)
		words[i + 1] = argv[i];
	fflush(stdout);
	execv(path, words);
	fprintf(stderr, "zmailer: route: %s: %s\n", path, strerror(errno));
	mem_free(&words[1]);
	mem_free(&words);
	return EX_UNAVAILABLE;
}

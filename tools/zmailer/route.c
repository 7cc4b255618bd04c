/* route.c - zmailer route: where mail for an address would go, and why
 *
 * In     addresses
 * Out    what the router's own code answers (it is run for that); its status
 * Spec   zmailer-route(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/skeleton.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

/* The router's arguments; -v is ignored, because everything is shown. */
static const enum option_id handed_on[] = {
	OPT_JSON, OPT_MX, OPT_FROM, OPT_AS, OPT_IP, OPT_ADDRESSES, OPT_DIFF
};
enum { HANDED_ON = sizeof(handed_on) / sizeof(handed_on[0]) };

/* The words of an execv, NULL at their end. */
static const char **
route_words(const struct arguments *arguments, const char *path)
{
	const char **words = mem_alloc((size_t)arguments->count +
	    3 * HANDED_ON + 4, sizeof(*words));
	size_t n = 0;

	words[n++] = path;
	words[n++] = "--route";
	for (size_t i = 0; i < HANDED_ON; i++) {
		const struct option_row *row = &option_rows[handed_on[i]];
		const struct argument *given =
		    &arguments->options[handed_on[i]];

		if (given->text == NULL)
			continue;
		words[n++] = row->name;
		if (row->value != NULL)
			words[n++] = given->text;
		if (given->second != NULL)
			words[n++] = given->second;
	}
	words[n++] = "--";	/* an address may look like an option */
	for (int i = 0; i < arguments->count; i++)
		words[n++] = arguments->words[i];
	words[n] = NULL;
	return words;
}

int
verb_route(struct arguments *arguments)
{
	const char *given = arguments_text(arguments, OPT_CONFIG_FILE);
	char path[PATH_MAX];
	const char **words;
	struct conf *conf;

	if (arguments->count == 0 && !arguments_has(arguments, OPT_ADDRESSES))
		return arguments_refuse(arguments, "say an address");
	/* says what is wrong with it */
	conf = given != NULL ? verb_conf_file(given) :
	    verb_conf(arguments->conf_path);
	if (given == NULL && conf_files_look(conf) != CONF_FILES_SAME)
		fprintf(stderr, "zmailer: route: %s was changed and not taken "
		    "over; --config %s asks it\n", conf->path, conf->path);
	conf_hand_on(conf);
	conf_free(&conf);
	daemon_libexec("router", path, sizeof(path));
	words = route_words(arguments, path);
	fflush(stdout);
	execv(path, (char *const *)(uintptr_t)words);
	fprintf(stderr, "zmailer: route: %s: %s\n", path, strerror(errno));
	mem_free(&words);
	return EX_UNAVAILABLE;
}

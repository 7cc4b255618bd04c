/* test.c - zmailer test: what a client would be answered
 *
 * In     options for one mail, or files of rows and expectations
 * Out    what smtpserver's own code answers (it is run for that); its status
 * Spec   zmailer-test(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/skeleton.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

/* As they were given, as each may be given more than once: "--to=X" becomes
 * two words, --session goes last. */
static size_t
test_options_add(const struct arguments *arguments, const char **words)
{
	size_t n = 0;

	for (int i = 1; i < arguments->argc; i++) {
		char *word = arguments->argv[i], *equals = strchr(word, '=');
		const struct option_row *row = usage_option(arguments->usage,
		    equals == NULL ? slice_of(word) :
		    slice_first(slice_of(word), (size_t)(equals - word)));

		if (row == NULL || row == &option_rows[OPT_TEST_SESSION])
			continue;
		words[n++] = row->name;
		if (row->value != NULL)
			words[n++] = equals != NULL ? equals + 1 :
			    arguments->argv[++i];
	}
	if (arguments_has(arguments, OPT_TEST_SESSION))
		words[n++] = "--session";
	return n;
}

/* The words of an execv, NULL at their end: what smtpserver reads has no
 * option that is a file, and no file that looks like an option. */
static const char **
test_words(const struct arguments *arguments, const char *path)
{
	bool is_smtp = arguments_is(arguments, "smtp");
	const char **words = mem_alloc(2 * (size_t)arguments->argc + 5,
	    sizeof(*words));
	size_t n = 0;

	words[n++] = path;
	words[n++] = "test";
	if (is_smtp)
		words[n++] = "smtp";
	n += test_options_add(arguments, words + n);
	if (!is_smtp)
		words[n++] = "--";
	for (int i = 0; i < arguments->count; i++)
		words[n++] = arguments->words[i];
	words[n] = NULL;
	return words;
}

int
verb_test(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	char path[PATH_MAX];
	const char **words;

	if (conf_path != NULL)
		setenv("ZMAILER_CONF", conf_path, 1);
	daemon_libexec("smtpserver", path, sizeof(path));
	words = test_words(arguments, path);
	execv(path, (char *const *)(uintptr_t)words);
	fprintf(stderr, "zmailer: test: %s: %s\n", path, strerror(errno));
	mem_free(&words);
	return EX_UNAVAILABLE;
}

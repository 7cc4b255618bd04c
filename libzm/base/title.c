/* title.c - what ps and top show as the command line of this process
 *
 * In     the words of main, a text
 * Out    the text in the place of the words
 * Holds  that place, and the copies of the words
 * Spec   title.h; proc(5), /proc/PID/cmdline; setproctitle(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/title.h"

#include "base/banned.h"

enum { TITLE_BYTES = 256 };

/* setproctitle of libbsd takes the environment's place, too: a process would
 * not be known by its environment (/proc/PID/environ) any more. */
static struct {
	char	 *place;
	size_t	  bytes;
	char	**words;
} title;

/* The C library's idea of our name is in the words that are overwritten. */
static void
name_keep(char *word)
{
#ifdef __GLIBC__
	char *slash = strrchr(word, '/');

	program_invocation_name = word;
	program_invocation_short_name = slash != NULL ? slash + 1 : word;
#else
	(void)word;
#endif
}

void
title_open(int argc, char **argv)
{
	if (argc < 1 || title.place != NULL)
		return;
	title.place = argv[0];
	title.words = mem_alloc((size_t)argc, sizeof(*title.words));
	for (int i = 0; i < argc; i++) {
		char *word = argv[i];

		if (word == title.place + title.bytes)
			title.bytes += strlen(word) + 1;
		title.words[i] = argv[i] = mem_strdup(word);
	}
	name_keep(argv[0]);
}

void
title_set(const char *format, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char text[TITLE_BYTES] = "zmailer: ";
	size_t used = strlen(text), n;
	va_list ap;

	if (title.bytes == 0)
		return;
	va_start(ap, format);
	vsnprintf(text + used, sizeof(text) - used, format, ap);
	va_end(ap);
	for (char *p = text; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
#ifdef __linux__
	/* The last byte stays NUL, else the kernel reads on. */
	n = strlen(text) < title.bytes ? strlen(text) : title.bytes - 1;
	pthread_mutex_lock(&lock);
	memcpy(title.place, text, n);
	memset(title.place + n, 0, title.bytes - n);
	pthread_mutex_unlock(&lock);
#else
	(void)n;
	setproctitle("-%s", text);
#endif
}

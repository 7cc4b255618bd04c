/* err.c - errors for the mail, the machine and ourselves
 *
 * In     a format and its values
 * Out    a struct err, or one whole line on stderr by one write
 * Holds  the program's name
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

#include "base/banned.h"

static const char *program_name = "zmailer";

void
err_program(const char *name)
{
	program_name = name;
}

const char *
err_program_name(void)
{
	return program_name;
}

/* Words of others stand in it, and it goes to terminals, replies and logs:
 * a control byte is none of ours. */
static void
err_mend(struct err *err)
{
	for (char *p = err->text; *p != '\0'; p++)
		if ((unsigned char)*p < 32 || *p == 127)
			*p = '?';
}

int
err_set(struct err *err, const char *format, ...)
{
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	err_mend(err);
	return -1;
}

int
err_sys(struct err *err, const char *format, ...)
{
	int saved = errno;
	va_list ap;
	size_t used;

	if (err == NULL)
		return -1;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s",
	    strerror(saved));
	err_mend(err);
	errno = saved;
	return -1;
}

bool
err_is_denied(const struct err *err)
{
	return strstr(err->text, strerror(EACCES)) != NULL ||
	    strstr(err->text, strerror(EPERM)) != NULL;
}

int
err_prefix(struct err *err, const char *format, ...)
{
	char old[ERR_TEXT_BYTES];
	va_list ap;
	size_t used;

	if (err == NULL)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
	err_mend(err);
	return -1;
}

static void
err_say(const char *kind, const char *format, va_list ap)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "%s: %s: ", program_name, kind);
	size_t used = (size_t)n;

	n = vsnprintf(line + used, sizeof(line) - used - 1, format, ap);
	used += n < 0 ? 0 : (size_t)n;
	if (used > sizeof(line) - 2)
		used = sizeof(line) - 2;
	/* never what would clear or colour a terminal */
	for (size_t i = 0; i < used; i++)
		if (((unsigned char)line[i] < 32 && line[i] != '\n') ||
		    line[i] == 127)
			line[i] = '?';
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}

void
warning(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	err_say("warning", format, ap);
	va_end(ap);
}

void
fatal(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	err_say("fatal", format, ap);
	va_end(ap);
	_exit(EXIT_FATAL);
}

void
panic(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	err_say("panic", format, ap);
	va_end(ap);
	abort();
}

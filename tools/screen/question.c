/* question.c - the last question before something is done
 *
 * In     the person's answer
 * Out    the question
 * Holds  nothing
 * Trusts nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/screen/question.h"

#include "base/banned.h"

bool
question_can_be_asked(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool
question_is_yes(const char *format, ...)
{
	char answer[16];
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("? [y/N] ");
	fflush(stdout);
	if (fgets(answer, sizeof(answer), stdin) != NULL &&
	    (answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	printf("Nothing was done.\n");
	return false;
}

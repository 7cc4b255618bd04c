/* question.h - the last question before something is done
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SCREEN_QUESTION_H
#define ZM_TOOLS_SCREEN_QUESTION_H

#include <stdbool.h>

/* Is there a person to ask: standard input and output are a terminal? */
bool question_can_be_asked(void);

/* Ask "TEXT? [y/N] ".  Every answer that does not begin with y or Y is no; then
 * a line says that nothing was done. */
bool question_is_yes(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif

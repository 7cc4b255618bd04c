/* shape_line.h - a line of RUN/scheduler.shape
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SHAPE_LINE_H
#define ZM_SCHEDULER_SHAPE_LINE_H

#include "base/str.h"

/* Has the line no control characters except tabs? */
static inline bool
shape_line_is_text(struct slice line)
{
	for (size_t i = 0; i < line.n; i++)
		if ((unsigned char)line.p[i] < ' ' && line.p[i] != '\t')
			return false;
	return true;
}

#endif

/* filter.h - the filter of a question to a directory
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ENGINE_FILTER_H
#define ZM_TABLES_ENGINE_FILTER_H

#include "mail/table/definition.h"

/* Append a filter with what $1, $2, $3 stand for, each byte that could mean
 * something there written as \XX (RFC 4515 section 3). */
void filter_render(struct str *out, const char *filter,
    const struct slice parameters[DEFINITION_PARAMETERS]);

#endif

/* past.h - rates and sizes of the past
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_PAST_H
#define ZM_TOOLS_REPORT_PAST_H

#include "conf/conf.h"

enum { PAST_POINTS = 24, PAST_MOST_S = 2 * 366 * 86400 };

/* Ask the scheduler and print the last span_s seconds, in PAST_POINTS rows.
 * Returns the exit status, after words about it */
int past_report(const struct conf *conf, int64_t span_s, bool is_json);

#endif

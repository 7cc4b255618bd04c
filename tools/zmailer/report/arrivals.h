/* arrivals.h - how long mail takes to arrive, and how estimates hold
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_ARRIVALS_H
#define ZM_TOOLS_REPORT_ARRIVALS_H

#include "conf/conf.h"

enum { ARRIVALS_SHOWN = 30 };

/* Ask the scheduler and print: channels and destinations, those with most
 * mail first, for people at most ARRIVALS_SHOWN.
 * returns the exit status, after words about it */
int arrivals_report(const struct conf *conf, bool is_json);

#endif

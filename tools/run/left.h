/* left.h - agents that a stop did not wait for; internal to tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_LEFT_H
#define ZM_TOOLS_RUN_LEFT_H

#include <stdint.h>
#include <stdio.h>

/* Print a line for each agent that the scheduler left at work since then (ms
 * since 1970), by the journal; nothing if that cannot be read. */
void left_print(const char *log_dir, int64_t since_ms, FILE *out);

#endif

/* ask.h - router --ask: answers on stdout, as the verify process gives them
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_ASK_H
#define ZM_ROUTER_ASK_H

#include <stdbool.h>

/* Do the arguments say "router --ask"? */
bool ask_is_meant(int argc, char **argv);

/* Read a question of router/ask/check.h from each line of stdin, until its end,
 * and write the answer as a line to stdout.  Or "way ADDRESS TAB SENDER TAB
 * CLIENT TAB USER": where a message would go, as `--route --json` says it, and
 * an empty line.  Or "bytes PATH": what becomes of a message file (bytes.h).
 * Touches no spool.  Returns the exit status. */
int ask_run(void);

#endif

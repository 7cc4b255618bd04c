/* internal.h - between the parts of tools/answers
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ANSWERS_INTERNAL_H
#define ZM_TOOLS_ANSWERS_INTERNAL_H

#include "tools/answers/answers.h"

/* Be the process that answers, until the other end of lifeline is closed. */
void answers_serve(int socket, int lifeline, const struct conf *conf,
    answers_run_fn *run) __attribute__((noreturn));

#endif

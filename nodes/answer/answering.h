/* answering.h - a verb that runs here, for somebody at another node
 *
 * RUN/answers.sock runs it; what it says goes out as frames (nodes_line.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NODES_ANSWERING_H
#define ZM_NODES_ANSWERING_H

#include "base/err.h"
#include "io/stream.h"

enum { ANSWERING_UNSENT_BYTES_MAX = 262144 };	/* then it has to wait */

struct answering;

/* Have it run.  words: each with a NUL after it.  Frames are said to `to`;
 * after that, or when it is over, changed(context) is called, which may free
 * it.  NULL: err. */
struct answering *answering_new(struct loop *loop, const char *run_dir,
    struct slice words, struct stream *to, loop_fn *changed, void *context,
    struct err *err);
/* Give it up; NULL is harmless; sets *answering to NULL. */
void answering_free(struct answering **answering);

/* To be called when `to` has sent something: go on, if it had to wait. */
void answering_resume(struct answering *answering);
/* Has its last frame been said? */
bool answering_is_over(const struct answering *answering);

#endif

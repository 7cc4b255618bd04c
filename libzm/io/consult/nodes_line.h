/* nodes_line.h - lines and frames of the desk of a cluster
 *
 * Between a tool, the processes nodes of two machines, and the tool again;
 * doc/protocol/nodes.md.  Pure; who said a line is not trusted.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_NODES_LINE_H
#define ZM_IO_NODES_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
	NODES_LINE_BYTES_MAX = 512,
	NODES_NAME_BYTES_MAX = 64,	/* of a cluster, of a node */
	NODES_WHO_BYTES_MAX = 63,	/* of a user */
	NODES_WORDS_BYTES_MAX = 16384,	/* of a verb with its arguments */
	NODES_FRAME_BYTES_MAX = 65536
};

enum nodes_want { NODES_CONTROL, NODES_VERB, NODES_CONFIG };

/* "to NODE control|verb|config", of a tool.  Slices borrow from line, which has
 * no LF.  0; -1: it is none. */
struct nodes_call {
	struct slice	node;
	enum nodes_want	want;
};
int nodes_call_parse(struct slice line, struct nodes_call *out);

/* "zmnodes 1 CLUSTER FROM TO control|verb|config read|write WHO", of a node.
 * The same. */
struct nodes_hello {
	struct slice	cluster, from, to, who;
	enum nodes_want	want;
	bool		may_write;
};
int nodes_hello_parse(struct slice line, struct nodes_hello *out);
/* Append it with its LF.  WHO must be one word (nodes_who_is_good). */
void nodes_hello_add(struct str *out, const struct nodes_hello *hello);
bool nodes_who_is_good(struct slice who);
/* The word of a line for it; static. */
const char *nodes_want_name(enum nodes_want want);

/* "ok", "ok NUMBER" or "no WORDS".  0: ok, *out_number is 0 where none stands;
 * 1: no, *out_words borrows from line; -1: neither. */
enum nodes_answer { NODES_NONSENSE = -1, NODES_OK = 0, NODES_NO = 1 };
enum nodes_answer nodes_answer_parse(struct slice line, uint64_t *out_number,
    struct slice *out_words);

/* "out N", "err N" with N bytes after the LF; "exit N", N at most 255, which is
 * the last.  The line without its LF.  0; -1: it is none. */
enum nodes_frame { NODES_OUT, NODES_ERR, NODES_EXIT };
int nodes_frame_parse(struct slice line, enum nodes_frame *out_kind,
    size_t *out_number);
void nodes_frame_add(struct str *out, enum nodes_frame kind,
    struct slice bytes);

#endif

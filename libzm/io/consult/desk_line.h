/* desk_line.h - lines and frames of the desk of a cluster
 *
 * Between a tool, the processes nodes of two machines, and the tool again;
 * doc/protocol/nodes.md.  Pure; who said a line is not trusted.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_DESK_LINE_H
#define ZM_IO_DESK_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
	DESK_LINE_BYTES_MAX = 512,
	DESK_NAME_BYTES_MAX = 64,	/* of a cluster, of a node */
	DESK_WHO_BYTES_MAX = 63,	/* of a user */
	DESK_WORDS_BYTES_MAX = 16384,	/* of a verb with its arguments */
	DESK_FRAME_BYTES_MAX = 65536
};

enum desk_want { DESK_CONTROL, DESK_VERB };

/* "to NODE control|verb", of a tool.  Slices borrow from line, which has no LF.
 * 0; -1: it is none. */
struct desk_call {
	struct slice	node;
	enum desk_want	want;
};
int desk_call_parse(struct slice line, struct desk_call *out);

/* "zmnodes 1 CLUSTER FROM TO control|verb read|write WHO", of a node.  The
 * same. */
struct desk_hello {
	struct slice	cluster, from, to, who;
	enum desk_want	want;
	bool		may_write;
};
int desk_hello_parse(struct slice line, struct desk_hello *out);
/* Append it with its LF.  WHO must be one word (desk_who_is_good). */
void desk_hello_add(struct str *out, const struct desk_hello *hello);
bool desk_who_is_good(struct slice who);

/* "ok", "ok NUMBER" or "no WORDS".  0: ok, *out_number is 0 where none stands;
 * 1: no, *out_words borrows from line; -1: neither. */
enum desk_answer { DESK_NONSENSE = -1, DESK_OK = 0, DESK_NO = 1 };
enum desk_answer desk_answer_parse(struct slice line, uint64_t *out_number,
    struct slice *out_words);

/* "out N", "err N" with N bytes after the LF; "exit N", N at most 255, which is
 * the last.  The line without its LF.  0; -1: it is none. */
enum desk_frame { DESK_OUT, DESK_ERR, DESK_EXIT };
int desk_frame_parse(struct slice line, enum desk_frame *out_kind,
    size_t *out_number);
void desk_frame_add(struct str *out, enum desk_frame kind,
    struct slice bytes);

#endif

/* frame.h - what a program and its script's process say to each other
 *
 *	frame	= TYPE LENGTH ":" field* LF
 *	TYPE	= one capital letter; LENGTH = 8 digits, bytes of all fields
 *	field	= DIGITS ":" BYTES ","
 *
 * To the process:
 *	Q name key value ...		call this function
 *	R "found"|"none"|"trouble" text	the result of a lookup
 * From it:
 *	H name line ...			ready: the functions it has
 *	T table key			a lookup; R follows
 *	G text				a line for the journal
 *	A verdict line code text edit ...	the end of a call
 *	E kind text			the end of a call that went wrong
 * Pure; both sides check every byte, because the process runs foreign code.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_HOOK_FRAME_H
#define ZM_DAEMON_HOOK_FRAME_H

#include "base/err.h"
#include "base/str.h"

enum {
	HOOK_FRAME_BYTES_MAX = 8 << 20,	/* of all fields */
	HOOK_FRAME_HEAD_BYTES = 10	/* "Q00000042:" */
};

struct hook_frame {
	char		type;
	struct slice	fields;		/* hook_field takes them */
};

enum hook_frame_found {
	HOOK_FRAME_BAD = -1,	/* it is not a frame, or a bound is exceeded */
	HOOK_FRAME_PART,	/* more bytes are needed */
	HOOK_FRAME_WHOLE	/* *out has slices into bytes; *out_used is
				 * the frame's length */
};
/* Read the first frame of bytes, which may have more or less than one.  After
 * HOOK_FRAME_BAD err says why. */
enum hook_frame_found hook_frame_take(struct slice bytes,
    struct hook_frame *out, size_t *out_used, struct err *err);

/* Take the next field of a frame; false: there is none. */
bool hook_field(struct slice *fields, struct slice *out);

/* Begin a frame at the end of out / add a field / end it.  begin returns its
 * offset, for end. */
size_t hook_frame_begin(struct str *out, char type);
void hook_field_add(struct str *out, struct slice bytes);
void hook_frame_end(struct str *out, size_t start);

#endif

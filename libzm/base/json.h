/* json.h - one object on one line, written and read back
 *
 * A flat one is the shape of every journal line, of nearly every --json line
 * and of the control socket: {"key":"text","key":12,"key":["text",...]}; what
 * is read here has no deeper nesting.  What needs real JSON input uses a
 * library.
 * Bytes that are not valid UTF-8 are written as U+FFFD; what a terminal would
 * obey (controls, C1 and directions in UTF-8 too) as \u and four digits.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_JSON_H
#define ZM_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Writing: json_open, then members in order, then json_close. */
void json_open(struct str *out);
/* The same for a line that other programs read: "v":1 stands first. */
void json_open_answer(struct str *out);
/* A whole object from elsewhere (journal, socket) as such a line. */
void json_add_answer(struct str *out, struct slice object);
void json_text(struct str *out, const char *key, struct slice value);
void json_number(struct str *out, const char *key, int64_t value);
void json_bool(struct str *out, const char *key, bool value);
void json_list(struct str *out, const char *key, const struct slice *values,
    size_t count);
void json_close(struct str *out);		/* adds "}\n" */
/* An object as a member, or with key NULL as an element of a list of
 * objects. */
void json_begin(struct str *out, const char *key);
void json_end(struct str *out);
void json_begin_list(struct str *out, const char *key);
void json_end_list(struct str *out);

/* Reading one line.  Finds key at the top level; *out_value becomes
 * the value, unescaped (numbers and true/false as their text, a list as its
 * raw text), and nothing of what it was.  Returns false, and leaves it alone,
 * when there is no such key or the line is not such an object. */
bool json_get(struct slice line, const char *key, struct str *out_value);
/* Append the value, escaped for a terminal; nothing when there is none. */
void json_add_escaped(struct str *out, struct slice line, const char *key);
/* A whole number from 0 to INT64_MAX; 0 when it is not there or is none. */
int64_t json_get_number(struct slice line, const char *key);
/* Whether the value is this text, this number, true or false. */
bool json_is(struct slice line, const char *key, const char *value);

/* Walk all members: *cursor starts at 0.  *out_key borrows from line,
 * *out_value is overwritten.  False at the end or at malformed input. */
bool json_next(struct slice line, size_t *cursor, struct slice *out_key,
    struct str *out_value);

#endif

/* json.h - one object on one line, written and read back
 *
 * Lines of the journal, of the control socket and nearly all of --json are
 * flat: {"key":"text","key":12,"key":["text",...]}.  The functions that read
 * accept no deeper nesting; code that needs any JSON uses a library.
 *
 * Bytes that are not valid UTF-8 are written as U+FFFD; characters that a
 * terminal would obey (controls, C1, directions) as \u and four digits.
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
/* The same for a line that other programs read: it begins with "v":1. */
void json_open_answer(struct str *out);
/* Append a whole object from the journal or a socket as such a line. */
void json_add_answer(struct str *out, struct slice object);
void json_text(struct str *out, const char *key, struct slice value);
void json_number(struct str *out, const char *key, int64_t value);
void json_bool(struct str *out, const char *key, bool value);
void json_list(struct str *out, const char *key, const struct slice *values,
    size_t count);
void json_close(struct str *out);		/* adds "}\n" */
/* Begin an object as a member or, with key NULL, as an element of a list of
 * objects; json_end ends it. */
void json_begin(struct str *out, const char *key);
void json_end(struct str *out);
void json_begin_list(struct str *out, const char *key);
void json_end_list(struct str *out);

/* Reading one line.  Finds key at the top level and replaces *out_value by its
 * value, unescaped (numbers and true/false as their text, a list as its raw
 * text).  Returns false, and does not change *out_value, when there is no such
 * key or the line is not such an object. */
bool json_get(struct slice line, const char *key, struct str *out_value);
/* Append the key's value, escaped for a terminal; nothing if there is none. */
void json_add_escaped(struct str *out, struct slice line, const char *key);
/* A whole number from 0 to INT64_MAX; 0 when it is missing or not a number. */
int64_t json_get_number(struct slice line, const char *key);
/* Is the key's value this text, this number, true or false? */
bool json_is(struct slice line, const char *key, const char *value);

/* Walk all members: *cursor starts at 0.  *out_key borrows from line,
 * *out_value is overwritten.  False at the end or at malformed input. */
bool json_next(struct slice line, size_t *cursor, struct slice *out_key,
    struct str *out_value);

#endif

/* bundle.h - several files in one text
 *
 * Each file is a line of JSON {"file":PATH,"bytes":N}, N bytes, and LF.  The
 * line "end" is last.  What precedes the first file belongs to the caller.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_BUNDLE_H
#define ZM_GRAMMAR_BUNDLE_H

#include "base/str.h"

struct bundle_file {
	const char	*path;
	struct slice	 text;
};

/* Append a file.  Bytes of path that are not UTF-8 become U+FFFD. */
void bundle_add_file(struct str *out, const char *path, struct slice text);
/* Append the mark that follows the last file. */
void bundle_add_end(struct str *out);

/* Read all files of text, at most max, up to the end mark, which must be last.
 * *out_files is an array in the arena, which also has copies of the texts.
 * returns 0; -1: text is truncated, a length does not fit, or there are too
 * many files */
int bundle_parse(struct slice text, size_t max, struct arena *arena,
    struct bundle_file **out_files, size_t *out_count);

#endif

/* bundle.h - several files in one text
 *
 * A line of JSON {"file":PATH,"bytes":N}, N bytes, LF, for each of them;
 * then the line "end".  What comes before the first belongs to the owner.
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

/* Append a file.  Bytes of path that are not UTF-8 are lost. */
void bundle_add_file(struct str *out, const char *path, struct slice text);
/* Append the mark that follows the last file. */
void bundle_add_end(struct str *out);

/* Read all files of text, at most max, up to the end mark, which must be last.
 * *out_files is an array in the arena, the texts are copied there.
 * returns 0; -1: truncated, a length that does not fit, too many files */
int bundle_parse(struct slice text, size_t max, struct arena *arena,
    struct bundle_file **out_files, size_t *out_count);

#endif

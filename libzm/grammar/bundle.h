/* bundle.h - several files in one text
 *
 * A line of JSON {"file":PATH,"bytes":N}, N bytes, LF, for each of them;
 * then the line "end".  What stands in front of the first is the owner's.
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

/* One more file.  Bytes of path that are not UTF-8 do not come back. */
void bundle_add_file(struct str *out, const char *path, struct slice text);
/* The mark after the last one. */
void bundle_add_end(struct str *out);

/* Read all files of text, up to the end mark, after which nothing stands; at
 * most max of them.  *out_files is an array in the arena, the texts are
 * copied there.
 * returns 0; -1: truncated, a length that does not fit, too many files */
int bundle_parse(struct slice text, size_t max, struct arena *arena,
    struct bundle_file **out_files, size_t *out_count);

#endif

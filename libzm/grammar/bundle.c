/* bundle.c - several files in one text, written and read back
 *
 * In     paths and texts; or the bytes of a bundle
 * Out    the bytes; or paths and texts
 * Holds  nothing
 * Trusts no length: each is held against the bytes that there are
 * Spec   bundle.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "grammar/bundle.h"

#include "base/banned.h"

static const char end_mark[] = "end";

void
bundle_add_file(struct str *out, const char *path, struct slice text)
{
	json_open(out);
	json_text(out, "file", slice_of(path));
	json_number(out, "bytes", (int64_t)text.n);
	json_close(out);
	str_add_slice(out, text);
	str_addc(out, '\n');
}

void
bundle_add_end(struct str *out)
{
	str_addf(out, "%s\n", end_mark);
}

/* The bytes after the line that names them, and their LF. */
static bool
bundle_take_file(struct slice *rest, struct slice line, struct arena *arena,
    struct bundle_file *out)
{
	struct str path = STR_INIT;
	uint64_t n = (uint64_t)json_get_number(line, "bytes");
	bool is_good = json_get(line, "file", &path) && n < rest->n &&
	    rest->p[n] == '\n' && strlen(path.buf) == path.len;

	if (is_good) {
		out->path = slice_dup(arena, str_slice(&path));
		out->text = slice_copy(arena, slice_first(*rest, n));
		*rest = slice_from(*rest, n + 1);
	}
	str_release(&path);
	return is_good;
}

int
bundle_parse(struct slice text, size_t max, struct arena *arena,
    struct bundle_file **out_files, size_t *out_count)
{
	struct slice line;
	size_t count = 0;

	*out_files = arena_alloc(arena, (max + 1) * sizeof(**out_files));
	*out_count = 0;
	while (slice_cut(&text, '\n', &line)) {
		if (slice_is(line, end_mark)) {
			*out_count = count;
			return text.n == 0 ? 0 : -1;
		}
		if (count == max || !bundle_take_file(&text, line, arena,
		    &(*out_files)[count]))
			return -1;
		count++;
	}
	return -1;
}

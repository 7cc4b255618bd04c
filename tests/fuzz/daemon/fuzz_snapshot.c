/* fuzz_snapshot.c - any bytes as a snapshot of a configuration, and as the
 * bundle of files in it
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/snapshot/snapshot.h"
#include "grammar/bundle.h"
#include "tests/fuzz/fuzz.h"

/* What was read is written, and read again. */
static void
bundle_again(const struct bundle_file *files, size_t count,
    struct arena *arena)
{
	struct str text = STR_INIT;
	struct bundle_file *again;
	size_t again_count;

	for (size_t i = 0; i < count; i++)
		bundle_add_file(&text, files[i].path, files[i].text);
	bundle_add_end(&text);
	MUST(bundle_parse(str_slice(&text), count, arena, &again,
	    &again_count) == 0);
	MUST(again_count == count);
	for (size_t i = 0; i < count; i++)
		MUST(slice_equal(again[i].text, files[i].text));
	str_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = { (const char *)data, size };
	struct arena *arena = arena_new();
	struct conf_snapshot snapshot;
	struct bundle_file *files;
	struct err err;
	size_t count;

	if (bundle_parse(text, 8, arena, &files, &count) == 0)
		bundle_again(files, count, arena);
	if (conf_snapshot_parse(text, arena, &snapshot, &err) == 0) {
		MUST(conf_snapshot_is(text));
		MUST(snapshot.pid > 0);
		MUST(snapshot.file_count <= SNAPSHOT_FILES_MAX);
		MUST((snapshot.file_count == 0) == (snapshot.path[0] == '\0'));
	}
	if (conf_snapshot_parse_front(text, arena, &snapshot, &err) == 0 &&
	    snapshot.has_brief) {
		MUST(snapshot.brief.spool_dir[0] == '/');
		MUST(snapshot.brief.log_dir[0] == '/');
		MUST(snapshot.brief.hash_levels <= 2);
		MUST(snapshot.brief.sync <= SYNC_EPHEMERAL);
	}
	arena_free(&arena);
	return 0;
}

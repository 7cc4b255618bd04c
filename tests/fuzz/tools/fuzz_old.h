/* fuzz_old.h - what a reader of an old queue promises
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_FUZZ_OLD_H
#define ZM_TESTS_FUZZ_OLD_H

#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/import/queue/old.h"

/* What comes out is a message of ours: no NUL and no CR. */
static int
fuzz_put(void *context, struct slice bytes, struct err *err)
{
	uint64_t *sum = context;

	(void)err;
	MUST(slice_find(bytes, '\0') == bytes.n);
	MUST(slice_find(bytes, '\r') == bytes.n);
	*sum += bytes.n;
	return 0;
}

/* Who can be listed can be made: the envelope is one that the router reads. */
static void
fuzz_envelope(struct arena *arena, struct envelope *envelope)
{
	struct str text = STR_INIT;
	struct envelope again;
	struct err err;

	spool_id_make_of(1763600000000000, 4711, envelope->id);
	MUST(envelope_add(&text, envelope, &err) == 0);
	MUST(envelope_parse(arena, str_slice(&text), &again, &err) == 0);
	MUST(again.rcpt_count == envelope->rcpt_count);
	str_release(&text);
}

static void
fuzz_old(const struct old_kind *kind, const struct old_files *files)
{
	struct arena *arena = arena_new();
	struct old_message message = { .lost = STR_INIT };
	uint64_t sum = 0;
	struct old_sink sink = { .put = fuzz_put, .context = &sum };
	struct err err = { "" };

	if (kind->read(arena, files, &message, &err) == 0 &&
	    kind->copy(files, &message, &sink, &err) == 0) {
		MUST(sum == sink.bytes);
		if (message.envelope.rcpt_count > 0)
			fuzz_envelope(arena, &message.envelope);
	} else {
		MUST(err.text[0] != '\0');
	}
	str_release(&message.lost);
	arena_free(&arena);
}

/* The next part of the input: a line of "===" ends it. */
static inline struct slice
fuzz_part(struct slice *rest)
{
	const char *at = rest->n == 0 ? NULL : memmem(rest->p, rest->n,
	    "===\n", 4);
	size_t n = at == NULL ? rest->n : (size_t)(at - rest->p);
	struct slice part = slice_first(*rest, n);

	*rest = slice_from(*rest, n + 4);
	return part;
}

#endif

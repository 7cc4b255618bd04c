/* content.c - one revision of a message: its fields, its body, their sums
 *
 * In     a message, with any line ends (each is taken as CRLF)
 * Out    what is signed of it, and the sums of that
 * Trusts nobody: fields are bounded
 * Spec   draft-ietf-dkim-dkim2-spec-04 sections 4, 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "origin/dkim/internal.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

/* ---- the header ------------------------------------------------------- */

/* Fields of the way here, of other signatures, and of their own. */
bool
dkim2_is_signed(struct slice name)
{
	static const char *const names[] = {
		"received", "return-path", "delivered-to", "dkim-signature",
		"authentication-results", "message-instance",
		"dkim2-signature"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_is_nocase(name, names[i]))
			return false;
	return !slice_is_nocase(slice_first(name, 2), "x-") &&
	    !slice_is_nocase(slice_first(name, 4), "arc-");
}

bool
dkim2_content_read(struct slice message, struct arena *arena,
    struct dkim2_content *out)
{
	struct header_field *fields = arena_alloc(arena,
	    DKIM_HEADER_FIELDS_MAX * sizeof(*fields)), field;
	bool is_broken;
	size_t n = 0;

	while (header_next(&message, &field, &is_broken)) {
		if (!dkim2_is_signed(field.name))
			continue;
		if (n == DKIM_HEADER_FIELDS_MAX)
			return false;
		fields[n++] = field;
	}
	*out = (struct dkim2_content){ .fields = fields, .count = n };
	for (size_t i = 0; i < n / 2; i++) {
		field = fields[i];
		fields[i] = fields[n - 1 - i];
		fields[n - 1 - i] = field;
	}
	if (message.n > 0) {
		out->pieces = arena_alloc(arena, sizeof(*out->pieces));
		out->pieces[0].text = message;
		out->piece_count = out->piece_room = 1;
	}
	return true;
}

static int
field_order(const void *left, const void *right)
{
	const struct header_field *a = *(const struct header_field *const *)
	    left, *b = *(const struct header_field *const *)right;
	size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;

	for (size_t i = 0; i < n; i++) {
		unsigned char x = (unsigned char)ascii_lower(a->name.p[i]);
		unsigned char y = (unsigned char)ascii_lower(b->name.p[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	if (a->name.n != b->name.n)
		return a->name.n < b->name.n ? -1 : 1;
	return a < b ? -1 : a > b;	/* as they stand */
}

int
dkim2_header_sum(const struct dkim2_content *content, struct arena *arena,
    unsigned char *out)
{
	struct arena_mark mark = arena_mark(arena);
	const struct header_field **order = arena_alloc(arena,
	    (content->count + 1) * sizeof(*order));
	static const struct slice none = { NULL, 0 };
	struct str text = STR_INIT;
	int result;

	for (size_t i = 0; i < content->count; i++)
		order[i] = &content->fields[i];
	qsort(order, content->count, sizeof(*order), field_order);
	for (size_t i = 0; i < content->count; i++) {
		dkim_add_field(&text, order[i], none, true);
		str_adds(&text, "\r\n");
	}
	result = digest(DIGEST_SHA256, str_slice(&text), out);
	str_release(&text);
	arena_back(arena, mark);
	return result;
}

/* ---- the body --------------------------------------------------------- */

struct body_run {
	struct digest_run *run;
	char		   bytes[16384];
	size_t		   n;
	uint64_t	   empty;	/* lines that may be the last */
	bool		   is_begun;
};

static void
body_run_add(struct body_run *run, struct slice bytes)
{
	if (bytes.n > sizeof(run->bytes) - run->n) {
		digest_take(run->run, (struct slice){ run->bytes, run->n });
		run->n = 0;
	}
	if (bytes.n > sizeof(run->bytes)) {
		digest_take(run->run, bytes);
		return;
	}
	if (bytes.n > 0)
		memcpy(run->bytes + run->n, bytes.p, bytes.n);
	run->n += bytes.n;
}

static void
body_run_add_lines(struct body_run *run, struct slice text)
{
	struct slice line;

	while (text.n > 0 && slice_cut(&text, '\n', &line)) {
		if (slice_ends(line, "\r"))
			line.n--;
		if (line.n == 0) {
			run->empty++;
			continue;
		}
		for (; run->empty > 0; run->empty--)
			body_run_add(run, SLICE("\r\n"));
		body_run_add(run, line);
		body_run_add(run, SLICE("\r\n"));
		run->is_begun = true;
	}
}

int
dkim2_body_sum(const struct dkim2_content *content, unsigned char *out)
{
	struct body_run run = { .run = digest_begin(DIGEST_SHA256) };

	for (size_t i = 0; i < content->piece_count; i++)
		body_run_add_lines(&run, content->pieces[i].text);
	if (!run.is_begun)
		body_run_add(&run, SLICE("\r\n"));
	digest_take(run.run, (struct slice){ run.bytes, run.n });
	return digest_end(&run.run, out);
}

uint64_t
dkim2_body_bytes(const struct dkim2_content *content)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < content->piece_count; i++)
		bytes += content->pieces[i].text.n;
	return bytes;
}

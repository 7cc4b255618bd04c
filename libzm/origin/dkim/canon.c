/* canon.c - what is signed, as it is signed
 *
 * In     header fields, a body, with any line ends
 * Out    the header's bytes; the body's sum
 * Spec   RFC 6376 sections 3.4, 3.7, 5.4.2
 *
 * A line ends in LF, and a CR before that is a part of the end; CR elsewhere
 * is a byte of the line.  The body is summed up in pieces: it may be large.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/siphash.h"
#include "origin/dkim/internal.h"
#include "tls/digest.h"

#include "base/banned.h"

/* ---- the body ----------------------------------------------------------- */

struct body_sum {
	struct digest_run *run;
	struct dkim_body_want *wants;	/* those that are not made yet */
	size_t		   left;
	uint64_t	   total;
	bool		   is_broken;
	char		   bytes[16384];
	size_t		   n;
};

static void
body_flush(struct body_sum *sum)
{
	digest_take(sum->run, (struct slice){ sum->bytes, sum->n });
	sum->n = 0;
}

static void
body_sum_take(struct body_sum *sum, struct slice bytes)
{
	sum->total += bytes.n;
	if (sum->left == 0)
		return;
	if (bytes.n > sizeof(sum->bytes) - sum->n)
		body_flush(sum);
	if (bytes.n > sizeof(sum->bytes)) {
		digest_take(sum->run, bytes);
		return;
	}
	if (bytes.n > 0)
		memcpy(sum->bytes + sum->n, bytes.p, bytes.n);
	sum->n += bytes.n;
}

/* Make the sums that end within the bytes that come now. */
static void
canon_add(struct body_sum *sum, struct slice bytes)
{
	while (sum->left > 0 && sum->wants->length - sum->total < bytes.n) {
		size_t n = (size_t)(sum->wants->length - sum->total);

		body_sum_take(sum, slice_first(bytes, n));
		bytes = slice_from(bytes, n);
		body_flush(sum);
		sum->is_broken |= digest_so_far(sum->run,
		    sum->wants->sum) != 0;
		sum->wants++;
		sum->left--;
	}
	body_sum_take(sum, bytes);
}

/* Blanks as one, those at the end left out (section 3.4.4).  What has single
 * spaces alone, as most lines have, is added whole: no blank is the last byte,
 * so there is one after each. */
static void
body_add_relaxed(struct body_sum *sum, struct slice line)
{
	size_t i = 0, run;

	while (line.n > 0 && ascii_is_blank(line.p[line.n - 1]))
		line.n--;
	while (i < line.n) {
		run = i;
		while (run < line.n && (!ascii_is_blank(line.p[run]) ||
		    (line.p[run] == ' ' && !ascii_is_blank(line.p[run + 1]))))
			run++;
		canon_add(sum, (struct slice){ line.p + i, run - i });
		for (i = run; i < line.n && ascii_is_blank(line.p[i]);)
			i++;
		if (i > run)
			canon_add(sum, SLICE(" "));
	}
}

static bool
body_line_is_empty(struct slice line, bool is_relaxed)
{
	for (size_t i = 0; i < line.n; i++)
		if (!is_relaxed || !ascii_is_blank(line.p[i]))
			return false;
	return true;
}

static void
body_add_lines(struct body_sum *sum, struct slice body, bool is_relaxed)
{
	uint64_t empty = 0;
	struct slice line;

	while (body.n > 0 && slice_cut(&body, '\n', &line)) {
		if (slice_ends(line, "\r"))
			line.n--;
		if (body_line_is_empty(line, is_relaxed)) {
			empty++;
			continue;
		}
		for (; empty > 0; empty--)
			canon_add(sum, SLICE("\r\n"));
		if (is_relaxed)
			body_add_relaxed(sum, line);
		else
			canon_add(sum, line);
		canon_add(sum, SLICE("\r\n"));
	}
	if (sum->total == 0 && !is_relaxed)
		canon_add(sum, SLICE("\r\n"));
}

int
dkim_body_sums(struct slice body, bool is_relaxed,
    struct dkim_body_want wants[], size_t count, uint64_t *out_bytes)
{
	struct body_sum sum;	/* its bytes are not cleared: they are many */
	unsigned char whole[DIGEST_SHA256_BYTES];

	sum.run = digest_begin(DIGEST_SHA256);
	sum.wants = wants;
	sum.left = count;
	sum.total = sum.n = 0;
	sum.is_broken = false;
	body_add_lines(&sum, body, is_relaxed);
	body_flush(&sum);
	*out_bytes = sum.total;
	if (digest_end(&sum.run, whole) != 0)
		return -1;
	for (; sum.left > 0; sum.left--)
		memcpy((sum.wants++)->sum, whole, sizeof(whole));
	return sum.is_broken ? -1 : 0;
}

int
dkim_body_sum(struct slice body, bool is_relaxed, uint64_t length,
    unsigned char *out_sum, uint64_t *out_bytes)
{
	struct dkim_body_want want = { .length = length };
	int result = dkim_body_sums(body, is_relaxed, &want, 1, out_bytes);

	memcpy(out_sum, want.sum, sizeof(want.sum));
	return result;
}

/* ---- the header ------------------------------------------------------- */

/* As it is, with line ends of CRLF (section 3.4.1). */
static void
header_add_simple(struct str *out, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n' && (i == 0 || text.p[i - 1] != '\r'))
			str_addc(out, '\r');
		str_addc(out, text.p[i]);
	}
}

/* On one line, blanks as one, none at the ends (section 3.4.2). */
static void
header_add_relaxed(struct str *out, struct slice text)
{
	bool is_blank = false, is_begun = false;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n' || ascii_is_blank(text.p[i]) ||
		    (text.p[i] == '\r' && i + 1 < text.n &&
		    text.p[i + 1] == '\n')) {
			is_blank = true;
			continue;
		}
		if (is_blank && is_begun)
			str_addc(out, ' ');
		str_addc(out, text.p[i]);
		is_begun = true;
		is_blank = false;
	}
}

static struct slice
header_without_end(struct slice whole)
{
	if (slice_ends(whole, "\n"))
		whole.n--;
	if (slice_ends(whole, "\r"))
		whole.n--;
	return whole;
}

void
dkim_add_field(struct str *out, const struct header_field *field,
    struct slice hole, bool is_relaxed)
{
	struct slice whole = header_without_end(field->whole);
	size_t colon = slice_find(whole, ':');
	struct str text = STR_INIT;

	if (hole.p != NULL) {
		str_add(&text, whole.p, (size_t)(hole.p - whole.p));
		str_add_slice(&text, slice_from(whole, (size_t)(hole.p -
		    whole.p) + hole.n));
	} else {
		str_add_slice(&text, whole);
	}
	if (!is_relaxed) {
		header_add_simple(out, str_slice(&text));
	} else {
		for (size_t i = 0; i < field->name.n; i++)
			str_addc(out, ascii_lower(field->name.p[i]));
		str_addc(out, ':');
		header_add_relaxed(out, slice_from(str_slice(&text),
		    colon + 1));
	}
	str_release(&text);
}

/* Fields by their names: each has a chain, the last field of the header first.
 * Names are strangers', so nobody can have them all in one chain, and thousands
 * of names and of fields cost no more than to read them. */
enum { HEADER_CHAINS = 1024 };

struct header_index {
	const struct header_field *fields;
	uint32_t	*next;			/* a field's number and 1; 0:
						 * no more */
	uint32_t	 first[HEADER_CHAINS];
	struct str	 name;			/* in lower case */
};

static uint32_t *
header_chain(struct header_index *index, struct slice name)
{
	str_reset(&index->name);
	for (size_t i = 0; i < name.n; i++)
		str_addc(&index->name, ascii_lower(name.p[i]));
	return &index->first[siphash(siphash_process_key(), str_slice(
	    &index->name)).low % HEADER_CHAINS];
}

static struct header_index *
header_index_new(struct arena *arena, const struct header_field *fields,
    size_t count)
{
	struct header_index *index = arena_alloc(arena, sizeof(*index));

	*index = (struct header_index){ .fields = fields, .name = STR_INIT,
	    .next = arena_alloc(arena, (count + 1) * sizeof(*index->next)) };
	for (size_t i = 0; i < count; i++) {
		uint32_t *chain = header_chain(index, fields[i].name);

		index->next[i] = *chain;
		*chain = (uint32_t)i + 1;
	}
	return index;
}

/* The last one of this name that was not taken yet (section 5.4.2). */
static const struct header_field *
header_take(struct header_index *index, struct slice name)
{
	uint32_t *link = header_chain(index, name), number;

	for (; (number = *link) != 0; link = &index->next[number - 1])
		if (slice_equal_nocase(index->fields[number - 1].name,
		    name)) {
			*link = index->next[number - 1];
			return &index->fields[number - 1];
		}
	return NULL;
}

void
dkim_add_signed_header(struct str *out, struct arena *arena,
    const struct header_field *fields, size_t count,
    const struct dkim_field *signature)
{
	struct header_index *index = header_index_new(arena, fields, count);
	struct slice names = signature->names, name, none = { NULL, 0 };
	const struct header_field *field;

	while (slice_cut(&names, ':', &name)) {
		field = header_take(index, slice_trim(name));
		if (field == NULL)
			continue;
		dkim_add_field(out, field, none,
		    signature->is_relaxed_header);
		str_adds(out, "\r\n");
	}
	str_release(&index->name);
	dkim_add_field(out, &signature->field, signature->b_at,
	    signature->is_relaxed_header);
}

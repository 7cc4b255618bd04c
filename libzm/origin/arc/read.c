/* read.c - the sets of a chain as they stand in a header
 *
 * In     a message
 * Out    three fields a set, read; or what is wrong with them
 * Trusts nobody: sets, fields and bytes are bounded
 * Spec   RFC 8617 sections 4.1, 4.2, 5.2 (steps 1 to 3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>

#include "origin/arc/internal.h"
#include "origin/authres_read.h"

#include "base/banned.h"

enum { REASON_BYTES = 900 };	/* names of the DNS, and words around them */

static const char *const arc_names[ARC_KINDS] = {
	[ARC_RESULTS] = "ARC-Authentication-Results",
	[ARC_MESSAGE] = "ARC-Message-Signature",
	[ARC_SEAL] = "ARC-Seal"
};

enum origin
arc_fail(struct arc_chain *chain, const char *format, ...)
{
	char text[REASON_BYTES];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	chain->out->origin = ORIGIN_FAIL;
	chain->out->reason = slice_dup(chain->arena, slice_of(text));
	return ORIGIN_FAIL;
}

/* ---- one field -------------------------------------------------------- */

/* 0: it is none. */
static size_t
instance_of(struct slice text)
{
	uint64_t number;

	return text.n <= 3 && slice_number(text, 1, ARC_SETS_MAX, &number) ?
	    (size_t)number : 0;
}

/* "i=2; lists.example; ..." of which *out is what follows. */
static size_t
results_instance(struct slice value, struct slice *out)
{
	struct slice i, name;

	if (!authres_skip(&value) || !slice_cut(&value, ';', &i) ||
	    value.p == NULL || !slice_cut(&i, '=', &name) || i.p == NULL ||
	    !slice_is(slice_trim(name), "i"))
		return 0;
	*out = value;
	return instance_of(slice_trim(i));
}

static void
part_place(struct arc_chain *chain, enum arc_kind kind, size_t instance,
    const struct arc_part *part)
{
	struct arc_part *place = &chain->parts[instance - 1][kind];

	if (place->field.whole.n > 0) {
		(void)arc_fail(chain, "there are two fields %s with i=%zu",
		    arc_names[kind], instance);
		return;
	}
	*place = *part;
	if (instance > chain->count)
		chain->count = instance;
}

static void
chain_take(struct arc_chain *chain, enum arc_kind kind,
    const struct header_field *field)
{
	struct arc_part part = { .field = *field, .is_read = true };
	size_t instance;

	chain->bytes += field->whole.n;
	if (chain->bytes > ARC_BYTES_MAX) {
		(void)arc_fail(chain, "its fields have more than %d bytes",
		    (int)ARC_BYTES_MAX);
		return;
	}
	if (kind == ARC_RESULTS) {
		instance = results_instance(field->value,
		    &part.results);
	} else {
		part.is_read = dkim_field_read(field, kind == ARC_SEAL ?
		    DKIM_ARC_SEAL : DKIM_ARC_MESSAGE, chain->arena,
		    &part.said, &part.out);
		instance = instance_of(part.said.instance);
	}
	if (instance == 0)
		(void)arc_fail(chain, "a field %s has no i= from 1 to %d",
		    arc_names[kind], (int)ARC_SETS_MAX);
	else
		part_place(chain, kind, instance, &part);
}

static enum arc_kind
arc_kind_of(const struct header_field *field)
{
	enum arc_kind kind = ARC_RESULTS;

	while (kind < ARC_KINDS && !header_is(field, arc_names[kind]))
		kind++;
	return kind;
}

/* ---- all of them ------------------------------------------------------ */

/* Most mail is sealed by nobody: that costs a look at its names. */
static bool
message_is_sealed(struct slice message)
{
	struct header_field field;
	bool is_broken;

	while (header_next(&message, &field, &is_broken))
		if (arc_kind_of(&field) != ARC_KINDS)
			return true;
	return false;
}

static void
chain_walk(struct arc_chain *chain, struct slice message)
{
	struct header_field field;
	enum arc_kind kind;
	bool is_broken;

	while (chain->out->origin != ORIGIN_FAIL &&
	    header_next(&message, &field, &is_broken)) {
		if (chain->field_count == DKIM_HEADER_FIELDS_MAX) {
			(void)arc_fail(chain, "the header has more than %d "
			    "fields", (int)DKIM_HEADER_FIELDS_MAX);
			return;
		}
		chain->fields[chain->field_count++] = field;
		kind = arc_kind_of(&field);
		if (kind != ARC_KINDS)
			chain_take(chain, kind, &field);
	}
	chain->body = message;
}

/* What a seal says of the chain before it (section 4.1.3, cv=). */
static bool
seal_fits(struct arc_chain *chain, size_t row)
{
	struct slice seen = chain->parts[row][ARC_SEAL].said.seen;

	if (seen.n > 0 && slice_is_nocase(seen, row == 0 ? "none" : "pass"))
		return true;
	(void)arc_fail(chain, "the seal of set %zu says cv=%.*s", row + 1,
	    SLICE_ARG(slice_first(seen, 20)));
	return false;
}

static bool
set_is_whole(struct arc_chain *chain, size_t row)
{
	for (enum arc_kind kind = 0; kind < ARC_KINDS; kind++) {
		const struct arc_part *part = &chain->parts[row][kind];

		if (part->field.whole.n == 0) {
			(void)arc_fail(chain, "set %zu of %zu has no %s",
			    row + 1, chain->count, arc_names[kind]);
			return false;
		}
		if (!part->is_read) {
			(void)arc_fail(chain, "%s of set %zu: %s",
			    arc_names[kind], row + 1, part->out.reason);
			return false;
		}
	}
	return seal_fits(chain, row);
}

enum origin
arc_read(struct arc_chain *chain, struct slice message)
{
	struct arc *out = chain->out;

	*out = (struct arc){ .origin = ORIGIN_NONE,
	    .reason = "nobody sealed it" };
	if (!message_is_sealed(message))
		return ORIGIN_NONE;
	chain->fields = arena_alloc(chain->arena, DKIM_HEADER_FIELDS_MAX *
	    sizeof(*chain->fields));
	chain->parts = arena_alloc(chain->arena, ARC_SETS_MAX *
	    sizeof(*chain->parts));
	chain_walk(chain, message);
	if (out->origin == ORIGIN_FAIL)
		return ORIGIN_FAIL;
	for (size_t row = chain->count; row-- > 0;)
		if (!set_is_whole(chain, row))
			return ORIGIN_FAIL;
	out->count = chain->count;
	out->sets = arena_alloc(chain->arena, chain->count *
	    sizeof(*out->sets));
	for (size_t row = 0; row < chain->count; row++) {
		const struct dkim *seal = &chain->parts[row][ARC_SEAL].out;

		out->sets[row].domain = seal->domain;
		out->sets[row].selector = seal->selector;
		out->sets[row].results =
		    chain->parts[row][ARC_RESULTS].results;
	}
	return ORIGIN_PASS;
}

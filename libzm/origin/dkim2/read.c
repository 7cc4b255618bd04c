/* read.c - the fields of a chain, all of them
 *
 * In     a message
 * Out    signatures and instances by their numbers; or what is wrong with them
 * Trusts nobody: fields and bytes are bounded
 * Spec   draft-ietf-dkim-dkim2-spec-04 sections 7.1, 8.1, 11.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>

#include "origin/dkim2/internal.h"

#include "base/banned.h"

enum { REASON_BYTES = 900 };

enum origin
dkim2_end(struct dkim2_chain *chain, enum origin origin, const char *format,
    ...)
{
	char text[REASON_BYTES];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	chain->out->origin = origin;
	chain->out->reason = slice_dup(chain->arena, slice_of(text));
	return origin;
}

/* ---- all of them ------------------------------------------------------ */

static bool
field_is_signature(const struct header_field *field)
{
	return header_is(field, "DKIM2-Signature");
}

/* Most mail is signed by nobody so: that costs a look at its names. */
static bool
message_has_chain(struct slice message)
{
	struct header_field field;
	bool is_broken;

	while (header_next(&message, &field, &is_broken))
		if (field_is_signature(&field))
			return true;
	return false;
}

static void
chain_read_all(struct dkim2_chain *chain)
{
	struct slice message = chain->mail->message;
	struct header_field field;
	bool is_broken, is_signature;

	while (chain->out->origin == ORIGIN_NONE &&
	    header_next(&message, &field, &is_broken)) {
		is_signature = field_is_signature(&field);
		if (!is_signature && !header_is(&field, "Message-Instance"))
			continue;
		chain->bytes += field.whole.n;
		if (chain->bytes > DKIM2_BYTES_MAX)
			(void)dkim2_end(chain, ORIGIN_PERMERROR, "its fields "
			    "have more than %d bytes", (int)DKIM2_BYTES_MAX);
		else if (is_signature)
			dkim2_take_signature(chain, &field);
		else
			dkim2_take_instance(chain, &field);
	}
}

/* Numbers without gaps; each revision is signed, and each that is signed is
 * there. */
static enum origin
chain_numbers(struct dkim2_chain *chain)
{
	unsigned revision = 1;

	for (size_t i = 0; i < chain->signature_count; i++)
		if (chain->signatures[i].field.whole.n == 0)
			return dkim2_end(chain, ORIGIN_PERMERROR,
			    "DKIM2-Signature i=%zu missing", i + 1);
	for (size_t i = 0; i < chain->signature_count; i++) {
		if (chain->signatures[i].revision < revision)
			return dkim2_end(chain, ORIGIN_PERMERROR,
			    "DKIM2-Signature i=%zu has a smaller m= than the "
			    "one before", i + 1);
		revision = chain->signatures[i].revision;
	}
	for (size_t i = 0; i < revision; i++)
		if (chain->instances[i].field.whole.n == 0)
			return dkim2_end(chain, ORIGIN_PERMERROR,
			    "Message-Instance m=%zu missing", i + 1);
	if (chain->instance_count > revision)
		return dkim2_end(chain, ORIGIN_PERMERROR,
		    "Message-Instance m=%zu is not signed",
		    chain->instance_count);
	return ORIGIN_PASS;
}

static void
chain_tell_hops(struct dkim2_chain *chain)
{
	struct dkim2 *out = chain->out;

	out->count = chain->signature_count;
	out->revisions = (unsigned)chain->instance_count;
	out->hops = arena_alloc(chain->arena, out->count *
	    sizeof(*out->hops));
	for (size_t i = 0; i < out->count; i++) {
		const struct dkim2_signature *one = &chain->signatures[i];
		size_t set = 0;

		while (set + 1 < one->set_count && !one->sets[set].is_known)
			set++;
		out->hops[i] = (struct dkim2_hop){ .domain = one->domain,
		    .selector = one->sets[set].selector,
		    .sender = one->from, .to = one->to,
		    .to_count = one->to_count, .revision = one->revision,
		    .flags = one->flags };
	}
}

enum origin
dkim2_read(struct dkim2_chain *chain)
{
	struct dkim2 *out = chain->out;
	enum origin origin;

	*out = (struct dkim2){ .origin = ORIGIN_NONE,
	    .reason = "nobody signed it by DKIM2" };
	if (!message_has_chain(chain->mail->message))
		return ORIGIN_NONE;
	chain->signatures = arena_alloc(chain->arena, DKIM2_HOPS_MAX *
	    sizeof(*chain->signatures));
	chain->instances = arena_alloc(chain->arena, DKIM2_HOPS_MAX *
	    sizeof(*chain->instances));
	chain_read_all(chain);
	if (out->origin != ORIGIN_NONE)
		return out->origin;
	origin = chain_numbers(chain);
	if (origin == ORIGIN_PASS)
		chain_tell_hops(chain);
	return origin;
}

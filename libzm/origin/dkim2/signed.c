/* signed.c - what a signature signs
 *
 * In     fields of a chain
 * Out    their bytes as they are signed
 * Spec   draft-ietf-dkim-dkim2-spec-04 section 9.6
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

static bool
is_in_hole(const struct dkim2_signature *holes, const char *at)
{
	for (size_t i = 0; holes != NULL && i < holes->set_count; i++)
		if (at >= holes->sets[i].text.p &&
		    at < holes->sets[i].text.p + holes->sets[i].text.n)
			return true;
	return false;
}

void
dkim2_add_field(struct str *out, const struct header_field *field,
    const struct dkim2_signature *holes)
{
	struct slice text = field->value;

	for (size_t i = 0; i < field->name.n; i++)
		str_addc(out, ascii_lower(field->name.p[i]));
	str_addc(out, ':');
	for (size_t i = 0; i < text.n; i++)
		if (!ascii_is_space(text.p[i]) &&
		    !is_in_hole(holes, text.p + i))
			str_addc(out, text.p[i]);
	str_adds(out, "\r\n");
}

void
dkim2_add_signed(struct str *out, const struct dkim2_chain *chain, size_t row)
{
	const struct dkim2_signature *mine = &chain->signatures[row];

	for (size_t i = 0; i < mine->revision; i++)
		dkim2_add_field(out, &chain->instances[i].field, NULL);
	for (size_t i = 0; i < row; i++)
		dkim2_add_field(out, &chain->signatures[i].field, NULL);
	dkim2_add_field(out, &mine->field, mine);
}

/* name.c - a domain as the DNS has it
 *
 * In     a domain of a message or an envelope, in any form
 * Out    its A-labels
 * Spec   RFC 5891 section 5; RFC 8616 sections 3 to 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <idn2.h>

#include "origin/origin.h"

#include "base/banned.h"

struct slice
origin_name(struct arena *arena, struct slice domain)
{
	struct slice name = { NULL, 0 };
	uint8_t *ascii = NULL;

	if (domain.n > 0 && idn2_lookup_u8((const uint8_t *)slice_dup(arena,
	    domain), &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) ==
	    IDN2_OK)
		name = slice_lower(arena, slice_of((const char *)ascii));
	idn2_free(ascii);
	return name;
}

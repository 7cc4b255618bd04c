/* idn.c - the form that the DNS has of a name that is not ASCII
 *
 * In     a name in UTF-8
 * Out    "xn--..."
 * Holds  nothing
 * Spec   RFC 5891; sendmail is linked without (tools/sendmail/without.c)
 *
 * SPDX-License-Identifier: ISC
 */
#include <idn2.h>

#include "conf/read/read.h"

#include "base/banned.h"

static const char *
name_to_ascii(struct arena *arena, struct slice name)
{
	const char *result = NULL;
	uint8_t *ascii;

	if (idn2_lookup_u8((const uint8_t *)slice_dup(arena, name), &ascii,
	    IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
		return NULL;
	result = arena_printf(arena, "%s", (const char *)ascii);
	idn2_free(ascii);
	return result;
}

conf_to_ascii_fn *const conf_to_ascii = name_to_ascii;

/* ehlo.c - the keywords of SMTP's service extensions
 *
 * Holds  their names
 * Spec   RFC 5321 section 2.2.2; IANA "SMTP Service Extensions"
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/ehlo.h"

#include "base/banned.h"

#define EHLO_NAME_(symbol, keyword) keyword,
const char *const ehlo_names[EHLO_COUNT] = {
	EHLO_KEYWORDS(EHLO_NAME_, EHLO_NAME_)
};

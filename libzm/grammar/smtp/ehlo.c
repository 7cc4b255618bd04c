/* ehlo.c - the keywords of SMTP's service extensions
 *
 * Holds  their names
 * Spec   RFC 5321 section 2.2.2; IANA "SMTP Service Extensions"
 *
 *   ehlo-line    = ehlo-keyword *( SP ehlo-param )
 *   ehlo-keyword = ( ALPHA / DIGIT ) *( ALPHA / DIGIT / "-" )
 *   ehlo-param   = 1*%d33-126
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/smtp/ehlo.h"

#include "base/banned.h"

#define EHLO_NAME_(symbol, keyword) keyword,
const char *const ehlo_names[EHLO_COUNT] = {
	EHLO_KEYWORDS(EHLO_NAME_, EHLO_NAME_)
};

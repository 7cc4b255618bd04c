/* tlsa.c - TLSA records: what a domain says of its servers' certificates
 *
 * In     the data of records, from anywhere
 * Out    usage, selector, matching type and what is to be matched
 * Holds  nothing
 * Trusts no length
 * Spec   RFC 6698 section 2.1; RFC 7672 section 3.1
 *
 *	rdata     = usage selector matching 1*OCTET
 *	usage     = OCTET		; 2 an authority, 3 the certificate
 *	selector  = OCTET		; 0 all of it, 1 its public key
 *	matching  = OCTET		; 0 as it is, 1 SHA-256, 2 SHA-512
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/tlsa.h"

#include "base/banned.h"

enum { NUMBERS = 3, SHA256_BYTES = 32, SHA512_BYTES = 64 };

int
tlsa_parse(struct slice rdata, struct tlsa *out)
{
	if (rdata.n <= NUMBERS)
		return -1;
	out->usage = (unsigned char)rdata.p[0];
	out->selector = (unsigned char)rdata.p[1];
	out->matching = (unsigned char)rdata.p[2];
	out->data = slice_from(rdata, NUMBERS);
	return 0;
}

bool
tlsa_is_for_smtp(const struct tlsa *tlsa)
{
	if ((tlsa->usage != TLSA_DANE_TA && tlsa->usage != TLSA_DANE_EE) ||
	    tlsa->selector > TLSA_KEY)
		return false;
	switch (tlsa->matching) {
	case TLSA_FULL:
		return true;
	case TLSA_SHA256:
		return tlsa->data.n == SHA256_BYTES;
	case TLSA_SHA512:
		return tlsa->data.n == SHA512_BYTES;
	default:
		return false;
	}
}

void
tlsa_add_words(struct str *out, const struct tlsa *tlsa)
{
	str_addf(out, "%s%u %u %u", out->len > 0 ? ", " : "", tlsa->usage,
	    tlsa->selector, tlsa->matching);
}

bool
tlsa_add_text(struct str *out, const struct tlsa *tlsa)
{
	enum { NUMBERS_TEXT = sizeof("255 255 255 ") - 1 };

	if (tlsa->data.n * 2 + NUMBERS_TEXT > TLSA_TEXT_BYTES_MAX)
		return false;
	str_addf(out, "%u %u %u ", tlsa->usage, tlsa->selector,
	    tlsa->matching);
	for (size_t i = 0; i < tlsa->data.n; i++)
		str_addf(out, "%02x", (unsigned char)tlsa->data.p[i]);
	return true;
}

/* tlsa.h - TLSA records: what a domain says about its servers' certificates
 *
 * RFC 6698 section 2.1; the numbers are named as in RFC 7218.  Bytes in,
 * structs out; slices borrow from what was read.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_TLSA_H
#define ZM_GRAMMAR_TLSA_H

#include "base/str.h"

enum tlsa_usage { TLSA_PKIX_TA, TLSA_PKIX_EE, TLSA_DANE_TA, TLSA_DANE_EE };
enum tlsa_selector { TLSA_CERTIFICATE, TLSA_KEY };
enum tlsa_matching { TLSA_FULL, TLSA_SHA256, TLSA_SHA512 };

struct tlsa {
	unsigned	usage, selector, matching;	/* 0 to 255 each */
	struct slice	data;
};

/* Read the data of a record.  0; -1: it is too short. */
int tlsa_parse(struct slice rdata, struct tlsa *out);

/* May SMTP use it?  Usages 2 and 3, and digests of the right length; whether
 * full data can be parsed is not checked.  RFC 7672 section 3.1.3. */
bool tlsa_is_for_smtp(const struct tlsa *tlsa);

enum { TLSA_TEXT_BYTES_MAX = 512 };	/* of one record */

/* Append the record as in a zone file, "3 1 1 d2ab...", in lower case.
 * RFC 6698 section 2.2.  false: it would be longer than TLSA_TEXT_BYTES_MAX;
 * nothing is added. */
bool tlsa_add_text(struct str *out, const struct tlsa *tlsa);

/* Append "3 1 1", after ", " unless out is empty. */
void tlsa_add_words(struct str *out, const struct tlsa *tlsa);

#endif

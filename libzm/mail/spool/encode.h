/* encode.h - a claimed message becomes one without 8-bit bytes
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_ENCODE_H
#define ZM_MAIL_SPOOL_ENCODE_H

#include "mail/spool/spool.h"

enum spool_encoded {
	SPOOL_ENCODE_TROUBLE = -1,	/* err; the claim is as it was */
	SPOOL_ENCODED_NOT = 0,		/* nothing to encode, or it must stay
					 * as it is; the claim is as it was */
	SPOOL_ENCODED = 1
};
/* Put the same message without a byte over 127 in the place of a claimed one
 * (rows C2 and C3): parts become quoted-printable or base64, words of headers
 * encoded-words; envelope, id and age stay.  What is signed already, or has
 * parts that must not be encoded, is not touched.
 * file: the claim's bytes.  When it is encoded, the claim is closed, its inode
 * is the new one, and the message waits in router/ under that name. */
enum spool_encoded spool_encode(struct spool *spool, struct claim *claim,
    struct slice file, struct err *err);

#endif

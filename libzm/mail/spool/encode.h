/* encode.h - replace a claimed message by one without 8-bit bytes
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_ENCODE_H
#define ZM_MAIL_SPOOL_ENCODE_H

#include "mail/spool/spool.h"

enum spool_encoded {
	SPOOL_ENCODE_TROUBLE = -1,	/* err; the claim is unchanged */
	SPOOL_ENCODED_NOT = 0,		/* nothing to encode, or it must stay
					 * so; the claim is unchanged */
	SPOOL_ENCODED = 1
};
/* Replace a claimed message by the same without a byte over 127 (rows C2 and
 * C3): parts become quoted-printable or base64, words of headers encoded-words;
 * envelope, id and age stay.  A message that is signed already, or has parts
 * that must not be encoded, is not changed.
 * file: the claim's bytes.  SPOOL_ENCODED: the claim is closed, its inode is
 * the new one, and the message is in router/ under that name. */
enum spool_encoded spool_encode(struct spool *spool, struct claim *claim,
    struct slice file, struct err *err);

#endif

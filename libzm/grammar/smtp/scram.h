/* scram.h - the messages of SCRAM, server's side
 *
 * Pure: tls/scram.h does what is computed with passwords.
 *
 *	client-first = gs2-header "n=" user ",r=" nonce
 *	server-first = "r=" nonces ",s=" salt ",i=" count
 *	client-final = "c=" binding ",r=" nonces ",p=" proof
 *	server-final = "v=" signature
 *
 * RFC 5802 section 7, RFC 7677.  Attributes of extensions are refused when
 * they are mandatory ("m=") and skipped otherwise.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_SCRAM_H
#define ZM_GRAMMAR_SCRAM_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum { SCRAM_NONCE_BYTES_MAX = 256, SCRAM_NAME_BYTES_MAX = 255 };

enum scram_binding {		/* what the client says about channel binding */
	SCRAM_NO_BINDING,	/* "n": it cannot */
	SCRAM_NOT_OFFERED,	/* "y": it could, and thinks we cannot */
	SCRAM_BINDING		/* "p=NAME" */
};

struct scram_first {		/* slices borrow from the message */
	enum scram_binding binding;
	struct slice	 binding_name;	/* "tls-exporter" */
	struct slice	 gs2;		/* the header, with its last comma */
	struct slice	 bare;		/* what follows it */
	struct slice	 nonce;
	char		 user[SCRAM_NAME_BYTES_MAX + 1];	/* decoded */
	char		 authzid[SCRAM_NAME_BYTES_MAX + 1];
};

/* Parse client-first.  0 or -1. */
int scram_first_parse(struct slice text, struct scram_first *out,
    struct err *err);

struct scram_final {
	struct slice	 binding;	/* base64 */
	struct slice	 nonce;
	struct slice	 proof;		/* base64 */
	struct slice	 bare;		/* all before ",p=" */
};

/* Parse client-final; out borrows from text.  0 or -1. */
int scram_final_parse(struct slice text, struct scram_final *out,
    struct err *err);

#endif

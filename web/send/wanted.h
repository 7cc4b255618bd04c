/* wanted.h - the parts of a request for /send, checked before its body is read
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_WANTED_H
#define ZM_WEB_WANTED_H

#include "base/str.h"
#include "tls/digest.h"
#include "web/send/answer.h"

struct evhttp_request;

struct wanted {
	bool		 is_json;
	struct slice	 query, body;	/* the request's */
	struct slice	 user, password;	/* in secret */
	struct str	 secret;
	const char	*key;		/* Idempotency-Key; NULL: none */
};

/* Read its method and its fields.
 * returns 0; else the status of the refusal; *out_words says why */
int wanted_read(struct evhttp_request *http, struct slice uri,
    struct wanted *out, const char **out_words);
/* Forget the password. */
void wanted_release(struct wanted *wanted);

/* Sums of user and key, and of all that makes the message.  0; -1: this build
 * has no digest. */
int wanted_sums(const struct wanted *wanted, unsigned char *out_key,
    unsigned char *out_body);

#endif

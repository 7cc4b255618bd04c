/* tls_about.h - what a certificate says, for people
 *
 * No key is needed or read.  All text is escaped, because others wrote it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_ABOUT_H
#define ZM_TLS_ABOUT_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "tls/tls.h"

enum { TLS_ABOUT_NAMES_MAX = 64 };	/* taken of one certificate */

struct tls_about {
	int64_t		begins_s, expires_s;	/* wall */
	char		fingerprint[TLS_FINGERPRINT_BYTES];
	bool		is_own_issuer;	/* signed by itself */
	struct str	subject, issuer;	/* common names */
	struct str	names;		/* DNS names, blanks between */
};

/* Read the first certificate of a PEM file.  0, or -1 (err names the file).
 * tls_about_release frees it, and accepts a zeroed struct. */
int tls_about_load(struct tls_about *about, const char *file,
    struct err *err);
void tls_about_release(struct tls_about *about);

enum { TLS_WARN_DAYS = 14, TLS_DAY_S = 86400 };

/* What its dates mean at now_s: it is good, expires within TLS_WARN_DAYS, has
 * expired, or is not yet valid. */
enum tls_term { TLS_TERM_GOOD, TLS_TERM_SOON, TLS_TERM_OVER,
	TLS_TERM_EARLY };
enum tls_term tls_term(int64_t begins_s, int64_t expires_s, int64_t now_s);

/* Is the certificate valid for this host name (RFC 6125; "*" counts)? */
bool tls_about_has(const struct tls_about *about, const char *host);
/* The first of the names (blanks between) under which it is shown for which it
 * is not valid; empty: it is valid for all.  "*.x" is tried with one such name;
 * ".x", which means too many, is skipped. */
struct slice tls_about_lacks(const struct tls_about *about,
    const char *names);

#endif

/* path.h - the addresses of an SMTP envelope
 *
 * Pure: bytes in, slices out.  All later code takes a struct path and does not
 * look for '@' again.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_PATH_H
#define ZM_GRAMMAR_PATH_H

#include "base/err.h"
#include "base/str.h"

enum {
	PATH_MAX_BYTES = 256,	/* RFC 5321 section 4.5.3.1.3, with < > */
	LOCAL_MAX_BYTES = 252,	/* section 4.5.3.1.1 wants at least 64; senders
				 * made by VERP, SRS and BATV are longer */
	DOMAIN_MAX_BYTES = 255	/* section 4.5.3.1.2 */
};

struct path {
	struct slice	local;	/* as written, quotes kept; empty if null */
	struct slice	domain;	/* as written; "[1.2.3.4]" for a literal;
				 * empty for <> and for <postmaster> */
};

enum path_flags {
	PATH_NULL_OK = 1,	/* "<>" is a reverse-path */
	PATH_POSTMASTER_OK = 2,	/* "<postmaster>" needs no domain */
	PATH_BARE_OK = 4,	/* no angle brackets (files, command lines) */
	PATH_LOCAL_OK = 8,	/* a local part alone (sendmail, aliases) */
	PATH_UTF8 = 16		/* RFC 6531: bytes over 127 must be UTF-8 */
};

/* Parse one path: "<" [A-d-l ":"] mailbox ">".  RFC 5321 section 4.1.2.
 * A source route is accepted and dropped.
 * in        unread bytes; if it is empty, and both PATH_BARE_OK and
 *           PATH_NULL_OK are given, this is the null path
 * out       slices into in
 * out_rest  what follows the path (">junk" is for the caller to refuse)
 * returns   0 done; -1 bad (err fit for the text of a 501 reply) */
int path_parse(struct slice in, enum path_flags flags, struct path *out,
    struct slice *out_rest, struct err *err);

/* Parse a domain or an address literal alone (the argument of EHLO).
 * RFC 5321 section 4.1.2, Domain and address-literal; an underscore in a
 * label is tolerated.  returns 0 or -1. */
int domain_parse(struct slice in, struct err *err);

/* Append "local@domain", "local" or "", without angle brackets. */
void path_add(struct str *out, const struct path *path);

/* Are they the same mailbox?  Domains are compared without case, local parts
 * byte for byte after needless quotes are removed. */
bool path_equal(const struct path *a, const struct path *b);

/* The local part without quotes and backslashes, in the arena. */
struct slice path_local_plain(struct arena *arena, const struct path *path);

/* Is it "<>"? */
bool path_is_null(const struct path *path);
/* Can the name be part of the path of a mailbox?  Most bytes are refused. */
bool path_is_mailbox_name(struct slice name);

#endif

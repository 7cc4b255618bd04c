/* sts.h - MTA-STS: what a domain says about the hosts that take its mail
 *
 * RFC 8461 section 3: a TXT record says that there is a policy and which
 * (id); the policy is a file on a web server.  Bytes in, structs out.  What
 * is in a struct has been checked: domains are A-labels in lower case without
 * a final dot.
 *
 * A policy is also written as words on one line, for files and sockets of
 * our own:  MODE MAX_AGE ID MX...  (ID "-": unknown)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_STS_H
#define ZM_GRAMMAR_STS_H

#include "base/err.h"
#include "base/str.h"

enum {
	STS_DOMAIN_BYTES = 254,		/* 253 and the NUL */
	STS_ID_BYTES = 33,
	STS_BODY_BYTES_MAX = 64 * 1024,	/* of the file; section 3.3 */
	STS_MAX_AGE_S = 31557600,	/* a year; section 3.2 */
	STS_MX_MAX = 100,		/* patterns kept, */
	STS_MX_BYTES = 4096		/* and their bytes */
};

enum sts_mode { STS_NONE, STS_TESTING, STS_ENFORCE };

/* The word of a mode. */
const char *sts_mode_word(enum sts_mode mode);

struct sts_policy {
	enum sts_mode	mode;
	int64_t		max_age_s;		/* or what is left of it */
	char		id[STS_ID_BYTES];	/* of the record; "" unknown */
	unsigned	mx_count;
	size_t		mx_bytes;
	char		mx[STS_MX_BYTES];	/* patterns, a NUL after each */
};

/* Normalize a domain: lower case, A-labels, no final dot.
 * out      STS_DOMAIN_BYTES
 * returns false: it is no domain (nor is an address) */
bool sts_domain(struct slice text, char out[STS_DOMAIN_BYTES]);

/* Does this TXT record claim to be for MTA-STS?  Others at the same name are
 * ignored.  RFC 8461 section 3.1 */
bool sts_record_is(struct slice text);
/* Read its id.  0; -1: it is no such record (err).  RFC 8461 section 3.1 */
int sts_record_parse(struct slice text, char out_id[STS_ID_BYTES],
    struct err *err);

/* Read the policy file.  The id stays empty; a max_age above a year becomes a
 * year.  0; -1: it is no policy (err says which line).  RFC 8461 section 3.2 */
int sts_policy_parse(struct slice body, struct sts_policy *out,
    struct err *err);
/* Pattern number index, from 0; NULL: there are no more. */
const char *sts_policy_mx(const struct sts_policy *policy, unsigned index);
/* Add a pattern; false: it is malformed, or there is no room for it. */
bool sts_policy_add_mx(struct sts_policy *policy, struct slice pattern);
/* May this MX host be given the domain's mail?  RFC 8461 section 4.1 */
bool sts_policy_allows(const struct sts_policy *policy, struct slice host);

/* Append the words of a policy; no line end. */
void sts_policy_add_words(struct str *out, const struct sts_policy *policy);
/* Read such words.  0; -1: malformed (err). */
int sts_policy_read_words(struct slice words, struct sts_policy *out,
    struct err *err);
/* Append the policy as it is published in a file; lines end in CRLF. */
void sts_policy_add_file(struct str *out, const struct sts_policy *policy);

#endif

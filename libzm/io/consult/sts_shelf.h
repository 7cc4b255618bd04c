/* sts_shelf.h - an MTA-STS policy as it lies on the disk
 *
 * A file a domain, SPOOL/sts/DOMAIN:
 *
 *	zmailer-sts 1
 *	DOMAIN MOMENT MODE MAX_AGE ID MX...
 *	end
 *
 * MOMENT: when it was fetched, in seconds since 1970.  The process sts writes
 * and removes them (sts/known/shelf.h).  An agent reads one when that process
 * does not answer: who can make it hang ends no policy by it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CONSULT_STS_SHELF_H
#define ZM_IO_CONSULT_STS_SHELF_H

#include "io/consult/sts_ask.h"

#define STS_SHELF_HEAD "zmailer-sts 1"

enum { STS_SHELF_BYTES_MAX = 8192 };

/* The text of a file, read.  domain: its name.  0; -1: it is none. */
int sts_shelf_parse(struct slice text, const char *domain,
    int64_t *out_fetched_s, struct sts_policy *out, struct err *err);

enum sts_shelf {
	STS_SHELF_POLICY,	/* whether it still counts or not */
	STS_SHELF_NONE,		/* there is no such file */
	STS_SHELF_DAMAGED,	/* it is no policy of this domain */
	STS_SHELF_TROUBLE	/* nobody knows what it is */
};
/* Read a file of the directory.  err: unless it is a policy. */
enum sts_shelf sts_shelf_read(int shelf, const char *name,
    int64_t *out_fetched_s, struct sts_policy *out, struct err *err);

/* What is kept of a domain and counts at now_s; its max_age_s is what is left
 * of it.  STS_ANSWER_NOBODY: there is something that cannot be read (err). */
enum sts_answer sts_shelf_ask(const char *spool_dir, const char *domain,
    int64_t now_s, struct sts_policy *out, struct err *err);

#endif

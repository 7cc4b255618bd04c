/* fetch.h - one look-up of a domain's policy: its record, then its file
 *
 * Straight-line code for a process of its own, which has sockets and nothing
 * else: it reads what strangers say.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_STS_FETCH_FETCH_H
#define ZM_STS_FETCH_FETCH_H

#include "grammar/sts.h"
#include "tls/client.h"

struct fetch_order {
	char		domain[STS_DOMAIN_BYTES];
	char		id[STS_ID_BYTES];	/* that is known; "": none */
	bool		is_due;		/* have the file whatever the id */
	unsigned	port;
	int64_t		for_ms;		/* the web server's part */
	struct tls_client *tls;
};

/* What a look-up found, as a line that our own processes write:
 *
 *	none			no record says that there is a policy
 *	same			the id is the one that is known
 *	policy MODE MAX_AGE ID MX...
 *	trouble TYPE WORDS	TYPE: a result type of RFC 8460 section 4.3
 */
enum fetch_found { FETCH_NONE, FETCH_SAME, FETCH_POLICY, FETCH_TROUBLE };

/* Look it up; appends the line, without its end. */
void fetch_run(const struct fetch_order *order, struct str *out);

/* Read such a line.  type and words of FETCH_TROUBLE borrow from it.
 * FETCH_TROUBLE as well when it is none. */
enum fetch_found fetch_line_read(struct slice line, struct sts_policy *out,
    struct slice *out_type, struct slice *out_words);

/* ---- the steps, for fetch.c and tests ---------------------------------- */

enum fetch_record { FETCH_RECORD, FETCH_NO_RECORD, FETCH_RECORD_TROUBLE };

/* record.c: the id of the record at _mta-sts.DOMAIN.  FETCH_NO_RECORD: there
 * is none, or not one, or it is bad.  FETCH_RECORD_TROUBLE: the DNS does not
 * say (err). */
enum fetch_record fetch_record(const char *domain, char out_id[STS_ID_BYTES],
    struct err *err);

/* file.c: the policy at https://mta-sts.DOMAIN/.well-known/mta-sts.txt, from
 * a server whose certificate has that name.  0; -1: *out_type says in the
 * words of RFC 8460 what was wrong, err in ours. */
int fetch_file(const struct fetch_order *order, struct sts_policy *out,
    const char **out_type, struct err *err);

#endif

/* authres.h - the field Authentication-Results  (RFC 8601)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_AUTHRES_H
#define ZM_ORIGIN_AUTHRES_H

#include "origin/arc/arc.h"
#include "origin/dkim2/dkim2.h"
#include "origin/dmarc/dmarc.h"

struct origins {		/* all that is judged about a message */
	const struct spf	*helo_spf, *spf;	/* NULL: not judged */
	const struct dkim	*dkims;
	size_t			 dkim_count;
	const struct dmarc	*dmarc;			/* or NULL */
	const struct arc	*arc;			/* or NULL */
	const struct dkim2	*dkim2;			/* or NULL */
	struct slice		 sealer;		/* in arc, which saw
							 * DMARC pass; or
							 * empty */
	struct slice		 sender, helo;		/* that SPF judged */
};

/* Append one field, folded, without its last line end.  Each value that is not
 * a token is quoted, and bytes that cannot be quoted are left out, so that
 * nothing that strangers wrote can make a field or line of its own.
 * host is our authserv-id. */
void authres_add(struct str *out, const char *host,
    const struct origins *origins);

/* Does a field with this value claim to be ours: does it have this authserv-id,
 * or can it not be read?  Such fields of strangers are removed, the last one
 * first (section 5). */
bool authres_is_ours(struct slice value, const char *host);

#endif

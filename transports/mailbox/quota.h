/* quota.h - how full a mailbox is
 *
 * A Maildir has the file maildirsize (Maildir++), which IMAP servers read
 * and keep as well:
 *
 *   maildirsize = definition LF *( [ "-" ] bytes SP [ "-" ] messages LF )
 *   definition  = limit *( "," limit )      limit = number ( "S" / "C" )
 *
 * The sum of its lines is the Maildir's content.  Each delivery appends a line
 * by one write(2); when the file has grown to MAILDIRSIZE_BYTES_MAX, or seems
 * to forbid a message that may fit, it is made anew by counting.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_QUOTA_H
#define ZM_TRANSPORTS_QUOTA_H

#include <stdint.h>

#include "base/err.h"
#include "conf/conf.h"
#include "mail/verdict.h"

enum {
	MAILDIRSIZE_BYTES_MAX = 5120,	/* by Maildir++ */
	MAILDIRSIZE_OLD_S = 15 * 60	/* counted again when it says full */
};

struct maildirsize {
	uint64_t	bytes_max, count_max;	/* 0: no limit */
	int64_t		bytes, count;		/* sums */
	unsigned	lines;			/* after the definition */
};

/* Read a whole maildirsize.  0; -1: malformed, count again. */
int maildirsize_parse(struct slice text, struct maildirsize *out);

/* Does a message fit into the Maildir whose new/ is open, beside more_bytes and
 * more_count of others that are being delivered?
 * quota       NULL or without limits: what maildirsize says
 * out_fd      maildirsize, for quota_tell; -1: there is none
 * QUOTA_EXCEEDED: no, verdict filled; QUOTA_TROUBLE: errno. */
enum quota_answer { QUOTA_TROUBLE = -1, QUOTA_EXCEEDED, QUOTA_FITS };
enum quota_answer quota_of_maildir(int new_fd, const struct conf_quota *quota,
    uint64_t bytes, uint64_t more_bytes, unsigned more_count, int *out_fd,
    struct verdict *verdict, struct err *err);

/* A message of so many bytes was added; closes fd. */
void quota_tell(int new_fd, int fd, uint64_t bytes);

/* The same for a file of file_bytes.  false: no, verdict filled. */
bool quota_of_file(const struct conf_quota *quota, uint64_t file_bytes,
    uint64_t bytes, struct verdict *verdict);

#endif

/* submit.h - a message from a local program, made durable
 *
 * What sendmail(1) does once its flags are understood.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SUBMIT_H
#define ZM_TOOLS_SUBMIT_H

#include "conf/conf.h"
#include "grammar/smtp/dsn.h"

enum { SUBMIT_ERROR_BYTES = 512 };

struct submission {
	const char	*sender;	/* -f; NULL: the caller; "": null */
	const char	*full_name;	/* -F, NAME; NULL: the account's */
	bool		 dot_ends;	/* no -i: "." alone ends the message */
	bool		 header_rcpts;	/* -t */
	const char	*bodytype;	/* -B; NULL: none */
	unsigned	 notify;	/* -N */
	enum dsn_ret	 ret;		/* -R */
	const char	*envid;		/* -V, xtext */
	const char	*tag;		/* -L: for the journal; NULL */
	bool		 is_gateway;	/* -G */
	bool		 needs_tls, is_utf8;	/* -O */
	bool		 is_verp;	/* -XV */
	bool		 is_queue_only;	/* -odq */
	uint64_t	 hops;		/* -h */
	int		 copy_fd;	/* gets what is read from in, all of
					 * it also when it is not taken;
					 * 0: nobody wants it */
	char		*out_error;	/* SUBMIT_ERROR_BYTES for the line
					 * on stderr; or NULL */
	const char	**rcpts;
	size_t		 rcpt_count;
	char		*out_id;	/* SPOOL_ID_BYTES for the id that it
					 * got; NULL: nobody asks */
};

/* Read the message from descriptor in and submit it.  Returns an exit
 * status: EX_OK only when the message is on disk and synced; EX_TEMPFAIL
 * when the spool cannot take it now; EX_USAGE, EX_DATAERR ... (with one
 * line on stderr). */
int submit_message(const struct conf_brief *conf,
    const struct submission *what, int in);

/* The caller's login name, or "uid-N"; static memory. */
const char *submit_caller(void);
/* The account's own words about itself (gecos), or "". */
const char *submit_caller_gecos(void);

/* For caller.c, and its test.  Does nsswitch.conf have accounts from files
 * first, with nothing said about what comes of that? */
bool submit_files_are_first(struct slice nsswitch);
/* The first line of passwd(5) with this uid.  False: there is none, or one
 * before it is not as plain as the others (comments, other databases). */
bool submit_line_of_uid(struct slice passwd, uid_t uid,
    struct slice *out_login, struct slice *out_gecos);

#endif

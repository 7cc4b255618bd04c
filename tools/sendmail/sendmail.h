/* sendmail.h - the command line of sendmail(1), understood
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SENDMAIL_H
#define ZM_TOOLS_SENDMAIL_H

#include "base/mem.h"
#include "tools/submit/submit.h"

struct sendmail_request {		/* the command line, understood */
	struct submission submission;
	struct arena	*arena;
	const char	*conf_path;
	const char	*mode;		/* after -b: "m", "p", "i" ... */
	const char	*queue;		/* after -q: "", "Iid" ...; NULL */
	bool		 is_verbose, waits, is_quiet;
	bool		 mails_errors;	/* -oem, -oew, -oee */
	bool		 hides_errors;	/* -oee: 0 when they are mailed */
};

/* What is wrong, and how to call it, on standard error; EX_USAGE. */
int sendmail_usage(const char *what, const char *value);

/* Do what the mode says: rows of flags.h.  self is argv[0].
 * Returns an exit status. */
int sendmail_act(const struct sendmail_request *request, const char *self);

#endif

/* mail_params.h - what MAIL says beside its address
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_COMMAND_MAIL_PARAMS_H
#define ZM_SMTPSERVER_COMMAND_MAIL_PARAMS_H

#include "smtpserver/command/argument.h"

struct mail_params {		/* slices borrow from the command line */
	uint64_t	 size_bytes;	/* 0: not said */
	struct slice	 bodytype, envid;
	enum dsn_ret	 ret;
	struct terms	 terms;
	int		 priority_asked;	/* terms have what is granted */
};

/* Take the parameters of MAIL.  returns false when out has a refusal. */
bool mail_params_take(struct session *session, struct slice rest,
    struct mail_params *params, struct session_answer *out);

/* Does the word SMTPUTF8 stand among the arguments of a command that is not
 * parsed yet?  RFC 6531 section 3.4. */
bool mail_params_utf8(struct slice args);

#endif

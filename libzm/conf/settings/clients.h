/* clients.h - which clients may connect, and milters for their mail
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_CLIENTS_H
#define ZM_CONF_SETTINGS_CLIENTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conf/settings/at.h"
#include "grammar/net.h"

struct conf;

enum { CONF_LISTEN_BYTES = 128 };

struct conf_listen {
	struct sockaddr_storage	address;
	socklen_t		length;
	char			text[CONF_LISTEN_BYTES];
					/* "127.0.0.1:25" "unix:/path" */
	bool			is_submission;
	bool			no_verify;	/* of recipients */
	bool			is_lmtp;	/* RFC 2033 */
	bool			decides_early;	/* rules before RCPT */
	bool			is_tls;		/* from the first byte */
	bool			is_optional;	/* the IPv6 half of a bare port:
						 * no error without IPv6 */
	struct conf_at		at;
};

enum conf_trust_word {	/* what a peer may say about others */
	TRUST_PROXY, TRUST_XCLIENT, TRUST_XFORWARD, TRUST_PRIORITY,
	TRUST_AUTH, TRUST_ETRN, TRUST_VRFY, TRUST_EXPN,
	TRUST_SIGN
};

struct conf_peers {		/* trust NET ...; ehlo without ... for NET */
	const char	*table;		/* client networks; or */
	struct net	 net;		/* 0 bits: all */
	unsigned	 words;		/* bits 1 << enum conf_trust_word, or
					 * 1 << enum ehlo_keyword */
	struct conf_at	 at;
};

enum conf_milter_fail {
	MILTER_FAIL_TEMPFAIL, MILTER_FAIL_ACCEPT, MILTER_FAIL_REJECT,
	MILTER_FAIL_QUARANTINE
};
extern const char *const conf_milter_fails[];
	/* "tempfail" "accept" "reject" "quarantine" */

struct conf_milter {		/* milter SOCKET ..., in file order */
	const char	*socket;	/* "unix:/path", "inet:host:port" */
	enum conf_milter_fail fail;	/* what is done if it fails */
	bool		 has_except;
	struct net	 except;	/* clients that it does not see */
	bool		 sees_local;	/* also: mail of sendmail(1) */
	int64_t		 connect_ms;	/* until it has negotiated */
	int64_t		 command_ms;	/* for its answer to a command */
	int64_t		 timeout_ms;	/* for its answer at the end of data */
	struct conf_at	 at;
};

/* Is there a milter that sees mail of sendmail(1)? */
bool conf_milters_see_local(const struct conf *conf);

/* The listener with this text; NULL when there is none. */
const struct conf_listen *conf_listen_find(const struct conf *conf,
    const char *text);

#endif

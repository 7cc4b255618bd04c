/* talk.h - one message past one milter
 *
 * The whole conversation at the end of data: negotiation, connection,
 * greeting, sender, recipients, header, body; then the milter's changes and
 * its word.  Straight-line code over io/peer.h with one deadline.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_TALK_H
#define ZM_SMTPSERVER_MILTER_TALK_H

#include "daemon/conf.h"
#include "smtpserver/milter/mail.h"

struct filter_facts {		/* about the session, for macros */
	struct slice	host;		/* our name: j */
	struct slice	client;		/* "192.0.2.1:4711" */
	struct slice	client_name;	/* "" unknown */
	struct slice	helo, user;
	struct slice	tls_version, tls_cipher;	/* "" no TLS */
	struct slice	listener;
	struct slice	id;		/* of the message */
};

enum filter_word {
	FILTER_PASS,		/* go on */
	FILTER_REFUSE,		/* code, status, text */
	FILTER_DISCARD,		/* 250, and nobody gets it */
	FILTER_TROUBLE		/* the milter did not do its work: err */
};

struct filter_result {
	enum filter_word	word;
	unsigned		code;
	char			status[12];
	struct str		text;		/* of the reply */
	struct str		freeze;		/* why to set it aside; "" */
	struct err		err;
};

/* Let the milter see mail and change it.  result's strings are the
 * caller's, initialised. */
void milter_talk(const struct conf_milter *milter,
    const struct filter_facts *facts, struct filter_mail *mail,
    struct filter_result *result);

#endif

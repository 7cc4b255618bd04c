/* dane.h - TLSA records of next hops: which questions to ask, and what follows
 *
 * RFC 7672 section 2.  dane_decide is pure: answers in, the next question or
 * the decision out.  client_dane asks.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_SMTP_DANE_H
#define ZM_TRANSPORTS_SMTP_DANE_H

#include "transports/smtp/client.h"

enum dane_answer {
	DANE_NOT_ASKED,
	DANE_USABLE,		/* secure records, one that SMTP can use */
	DANE_UNUSABLE,		/* secure records, none that can be used */
	DANE_NOTHING,		/* none, or not secure */
	DANE_FAILED		/* SERVFAIL, bogus, no answer */
};

/* What is known of one host so far. */
struct dane_facts {
	bool	is_name_secure;	/* the host's name: the answer that has the
				 * MX, or the configuration */
	bool	are_addresses_secure;
	bool	is_alias;	/* the addresses are another name's */
	enum dane_answer alias;	/* the alias itself: DANE_USABLE is secure */
	enum dane_answer at_end, at_host; /* TLSA of that name, of the host */
};

enum dane_step {
	DANE_ASK_ALIAS,		/* is the alias itself secure? */
	DANE_ASK_AT_END, DANE_ASK_AT_HOST,
	DANE_WITHOUT,		/* as if there were no DANE */
	DANE_MATCH,		/* a certificate that the records name */
	DANE_ENCRYPT,		/* TLS, whatever the certificate */
	DANE_DEFER		/* this host cannot be used now */
};

/* The next question, or the decision, by what is known so far.  RFC 7672
 * section 2.2; each question is answered once, so it ends after three. */
enum dane_step dane_decide(const struct dane_facts *facts);

/* Decide how the connection to host number index of hosts, whose addresses are
 * known, must be protected.
 * policy   of the domain; becomes the host's
 * records  a buffer; policy points to them if they apply
 * returns true; false: *out says why this host gets nothing now. */
bool client_dane(const struct client_hosts *hosts, size_t index,
    struct client_policy *policy, struct dns_records *records,
    struct verdict *out);

#endif

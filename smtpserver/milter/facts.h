/* facts.h - what filters are told about a session, by name
 *
 * A session sends what is new since its last question; the filters' helper
 * keeps it for the conversation.  One row a fact: FACT(SYMBOL, "key").
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_FACTS_H
#define ZM_SMTPSERVER_MILTER_FACTS_H

#include "base/str.h"

#define FILTER_FACTS(FACT)						\
	/* of the connection */						\
	FACT(HOST, "host")		/* our name */			\
	FACT(SESSION, "session")	/* id in our journal */		\
	FACT(LISTENER, "listener")					\
	FACT(DAEMON_ADDR, "daemon_addr")				\
	FACT(DAEMON_PORT, "daemon_port")				\
	FACT(ADDR, "addr")		/* of the client */		\
	FACT(PORT, "port")						\
	FACT(NAME, "name")		/* confirmed; or "[192.0.2.1]" */ \
	FACT(RESOLVE, "resolve")	/* OK, FAIL, TEMP */		\
	FACT(CONNECTIONS, "connections")	/* of that client */	\
	FACT(PEER, "peer")		/* "name [addr]" */		\
	/* of the greeting */						\
	FACT(HELO, "helo")						\
	FACT(TLS_VERSION, "tls_version")				\
	FACT(CIPHER, "cipher")						\
	FACT(CIPHER_BITS, "cipher_bits")				\
	FACT(CERT_SUBJECT, "cert_subject")				\
	FACT(CERT_ISSUER, "cert_issuer")				\
	FACT(CN_SUBJECT, "cn_subject")					\
	FACT(CN_ISSUER, "cn_issuer")					\
	FACT(CERT_PRINT, "cert_fingerprint")				\
	FACT(VERIFY, "verify")		/* OK, FAIL, NO */		\
	/* of the message */						\
	FACT(USER, "user")						\
	FACT(AUTH_TYPE, "auth_type")					\
	FACT(AUTH_AUTHOR, "auth_author")				\
	FACT(SENDER, "sender")		/* without < > */		\
	FACT(SENDER_HOST, "sender_host")				\
	FACT(SENDER_PARAMS, "sender_params")				\
	FACT(ID, "id")							\
	FACT(FILE, "file")		/* draft below public/ */	\
	/* of the recipient at hand */					\
	FACT(RCPT, "rcpt")						\
	FACT(RCPT_ADDR, "rcpt_addr")	/* the same, or why not */	\
	FACT(RCPT_HOST, "rcpt_host")					\
	FACT(RCPT_MAILER, "rcpt_mailer")	/* esmtp, local, error */ \
	FACT(RCPT_PARAMS, "rcpt_params")				\
	/* a command that nobody knows */				\
	FACT(LINE, "line")						\
	FACT(MTA, "mta")						\
	FACT(MAILER, "mailer")

enum filter_fact {
#define FACT(symbol, key) FILTER_##symbol,
	FILTER_FACTS(FACT)
#undef FACT
	FILTER_FACT_COUNT
};

extern const char *const filter_fact_keys[];

struct filter_facts {		/* zeroed: nothing is known */
	struct str	values[FILTER_FACT_COUNT];
};

/* Nothing is known. */
void filter_facts_init(struct filter_facts *facts);
/* Free what it holds. */
void filter_facts_release(struct filter_facts *facts);
/* Take the facts of a JSON object (unknown keys are skipped); others stay
 * unchanged. */
void filter_facts_take(struct filter_facts *facts, struct slice object);
/* One fact; empty when it is not known.  Borrows from facts. */
struct slice filter_fact(const struct filter_facts *facts,
    enum filter_fact fact);

#endif

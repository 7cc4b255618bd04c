/* classify.h - what went wrong, from a reply's code and words
 *
 * A rule says: replies with this code, this enhanced code and these words
 * have that class, and a scope, which says how much is concerned.  The first
 * rule that matches wins.  The shipped rules are in a file of their own
 * (libzm/mail/classes), which is compiled in; a site's rules come before
 * them (classify_load).  Classifying does not allocate and does no I/O.
 *
 *	CODE ENHANCED SCOPE CLASS [WORDS]
 *	4??  *        host  greylist greylist
 *
 * CODE and ENHANCED are patterns with * and ?; WORDS, to the end of the
 * line, is looked for anywhere in the text without regard to case, with *
 * for any bytes and ? for one.  CODE "-" matches words of our own, which are
 * no reply.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_CLASSIFY_H
#define ZM_MAIL_CLASSIFY_H

#include "base/err.h"
#include "base/str.h"
#include "mail/verdict.h"

/* CLASS(symbol, name, text) */
#define MAIL_CLASSES(CLASS) \
	CLASS(OTHER, "other", "nothing below fits") \
	CLASS(GREYLIST, "greylist", "come back later, then you are known") \
	CLASS(RATE, "rate", "too much in this time") \
	CLASS(CONNECTIONS, "connections", "too many sessions at once") \
	CLASS(QUOTA, "quota", "the sender's or site's allowance is used up") \
	CLASS(BLOCK, "block", "our address or name is on a list or has a " \
	    "bad name") \
	CLASS(CONTENT, "content", "the text is taken for spam or a virus") \
	CLASS(POLICY, "policy", "a rule of the other site forbids it") \
	CLASS(AUTHENTICATION, "authentication", "SPF, DKIM, DMARC or a " \
	    "password") \
	CLASS(RELAY, "relay", "the next host does not serve this domain") \
	CLASS(MAILBOX_FULL, "mailbox-full", "the mailbox takes no more") \
	CLASS(UNKNOWN_USER, "unknown-user", "there is no such mailbox") \
	CLASS(DISABLED_USER, "disabled-user", "the mailbox is switched off") \
	CLASS(ADDRESS, "address", "an address that the other host cannot " \
	    "read or take") \
	CLASS(SENDER, "sender", "our sender's address does not please") \
	CLASS(DOMAIN, "domain", "the domain does not exist or takes no mail") \
	CLASS(DNS, "dns", "a name server does not answer or errs") \
	CLASS(CONNECT, "connect", "nobody listens or nothing leads there") \
	CLASS(TIMEOUT, "timeout", "an answer did not come in time") \
	CLASS(LOST, "lost", "the connection broke") \
	CLASS(TLS, "tls", "encryption failed or is demanded") \
	CLASS(PROTOCOL, "protocol", "one side did not understand the other") \
	CLASS(SIZE, "size", "the message is too large") \
	CLASS(LOOP, "loop", "the message goes in circles") \
	CLASS(BUSY, "busy", "the host is overloaded or going down") \
	CLASS(SYSTEM, "system", "the host has trouble of its own: disk, " \
	    "file, program") \
	CLASS(UNSUPPORTED, "unsupported", "the host lacks what the message " \
	    "needs")

enum mail_class {
#define CLASS(symbol, name, text) CLASS_##symbol,
	MAIL_CLASSES(CLASS)
#undef CLASS
	CLASS_COUNT
};

enum mail_scope {
	SCOPE_RECIPIENT,	/* this address */
	SCOPE_MESSAGE,		/* this text or sender, to any recipient */
	SCOPE_HOST,		/* this host, for any recipient */
	SCOPE_PROVIDER,		/* us, at all hosts of a provider */
	SCOPE_COUNT
};

struct mail_finding {
	enum mail_class	class;
	enum mail_scope	scope;
	unsigned	line;		/* of the rule; 0: none matched */
	bool		is_own;		/* a rule of the site */
};

/* "mailbox-full"; "host".  mail_class_parse: -1 when there is no such class. */
const char *mail_class_name(enum mail_class class);
const char *mail_class_text(enum mail_class class);
int mail_class_parse(struct slice name);
const char *mail_scope_name(enum mail_scope scope);

/* Classify one reply line, "421 4.7.28 words", or words without a code.
 * status: the enhanced code if the line has none; may be empty.  Always finds
 * something: if no rule matches, CLASS_OTHER of the recipient. */
void classify_reply(struct slice reply, struct slice status,
    struct mail_finding *out);
/* The same for a verdict that is deferred or failed. */
void classify_verdict(const struct verdict *verdict,
    struct mail_finding *out);

/* Put a site's rules, which replace those loaded before, before the shipped
 * ones.  text is copied.  returns 0; -1 (err names the line): the old rules
 * stay. */
int classify_load(struct slice text, struct err *err);
/* The shipped rules, as text. */
struct slice classify_shipped(void);

#endif

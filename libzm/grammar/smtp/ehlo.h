/* ehlo.h - the keywords of SMTP's service extensions
 *
 * One list: the server announces them, `ehlo without` withholds them.
 * IANA's registry "SMTP Service Extensions" has where each is defined.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_EHLO_H
#define ZM_GRAMMAR_EHLO_H

/* FIRST(symbol, keyword) NEXT(symbol, keyword) ..., in the order in which
 * they are announced. */
#define EHLO_KEYWORDS(FIRST, NEXT)			\
	FIRST(PIPELINING, "PIPELINING")			\
	NEXT(SIZE, "SIZE")				\
	NEXT(8BITMIME, "8BITMIME")			\
	NEXT(BINARYMIME, "BINARYMIME")			\
	NEXT(CHUNKING, "CHUNKING")			\
	NEXT(SMTPUTF8, "SMTPUTF8")			\
	NEXT(ENHANCEDSTATUSCODES, "ENHANCEDSTATUSCODES")	\
	NEXT(DSN, "DSN")				\
	NEXT(DELIVERBY, "DELIVERBY")			\
	NEXT(FUTURERELEASE, "FUTURERELEASE")		\
	NEXT(MT_PRIORITY, "MT-PRIORITY")		\
	NEXT(REQUIRETLS, "REQUIRETLS")			\
	NEXT(LIMITS, "LIMITS")				\
	NEXT(STARTTLS, "STARTTLS")			\
	NEXT(AUTH, "AUTH")				\
	NEXT(ETRN, "ETRN")				\
	NEXT(VRFY, "VRFY")				\
	NEXT(EXPN, "EXPN")				\
	NEXT(XCLIENT, "XCLIENT")			\
	NEXT(XFORWARD, "XFORWARD")			\
	NEXT(HELP, "HELP")

#define EHLO_SYMBOL_(symbol, keyword) EHLO_##symbol,
enum ehlo_keyword {
	EHLO_KEYWORDS(EHLO_SYMBOL_, EHLO_SYMBOL_)
	EHLO_COUNT
};

/* "PIPELINING,SIZE,...": a string literal. */
#define EHLO_FIRST_NAME_(symbol, keyword) keyword
#define EHLO_NEXT_NAME_(symbol, keyword) "," keyword
#define EHLO_NAMES EHLO_KEYWORDS(EHLO_FIRST_NAME_, EHLO_NEXT_NAME_)

/* "SIZE" by number. */
extern const char *const ehlo_names[EHLO_COUNT];

#endif

/* dns.h - the questions a mail system asks of the DNS
 *
 * Only dns.c, records.c, text.c and wire.c include libresolv.  Calls block (up
 * to the resolver's bounds: 2 tries of 5 s); only agents and helper processes
 * make them.  Code that must not block asks with ask.h.
 * Answers come from anywhere: counts, names and loops are bounded.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_DNS_H
#define ZM_IO_DNS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

enum {
	DNS_MX_MAX = 50,	/* hosts taken of one MX answer */
	DNS_ADDRESS_MAX = 16,	/* addresses taken of one host */
	DNS_PTR_MAX = 8,	/* names taken of one address */
	DNS_TEXTS_MAX = 64,	/* TXT records taken of one name */
	DNS_RECORDS_MAX = 32,	/* records of another type */
	DNS_SERVERS_MAX = 3,
	DNS_RESOLVERS_MAX = 32,	/* threads that ask at a time */
	DNS_QUERY_BYTES_MAX = 320
};

/* The directory below the spool of the process resolver; and the name whose TXT
 * record has its figures, which nobody else has (RFC 6761). */
#define RESOLVER_DIR "resolver"
#define RESOLVER_STATUS_NAME "status.resolver.zmailer.invalid"

enum dns_result {
	DNS_OK = 1,
	DNS_NONE = 0,		/* the name exists, no such record */
	DNS_NO_NAME = -1,	/* NXDOMAIN */
	DNS_TRY_AGAIN = -2,	/* SERVFAIL, time-out: defer */
	DNS_BAD = -3		/* answer unusable: defer; err says why */
};

struct dns_mx {
	unsigned	preference;
	char		host[256];	/* "" is a null MX (RFC 7505) */
};

struct dns_address {
	struct sockaddr_storage	address;	/* port is 0 */
	socklen_t		length;
};

enum dns_type {			/* RFC 1035 section 3.2.2, RFC 3596 */
	DNS_TYPE_A = 1, DNS_TYPE_CNAME = 5, DNS_TYPE_PTR = 12,
	DNS_TYPE_MX = 15, DNS_TYPE_TXT = 16, DNS_TYPE_AAAA = 28,
	DNS_TYPE_TLSA = 52		/* RFC 6698 section 7.1 */
};

/* How far an answer can be trusted.  It is secure only when every name server
 * in use is on loopback and says, by the AD bit, that it validated all of it
 * (RFC 4035 section 3.2.3). */
struct dns_trust {
	bool		is_secure;
	char		name[256];	/* the name asked for, or where its
					 * aliases lead; "" unknown */
};

/* Ask this server instead of those of /etc/resolv.conf: "127.0.0.1:5353",
 * "[::1]:53"; NULL: the system's again.  0 or -1. */
int dns_use(const char *server, struct err *err);

/* Read the system's files (resolv.conf, hosts) now and not again.  Then that
 * many threads can ask at a time (at most DNS_RESOLVERS_MAX; others wait).
 * Without this call the files are read when they are needed, and one thread
 * asks at a time.  0 or -1. */
int dns_open(unsigned threads, struct err *err);

/* Ask for MX records: at most DNS_MX_MAX, lowest preference first, equal ones
 * shuffled (RFC 5321 section 5.1).  trust (may be NULL) is set also when there
 * are none. */
enum dns_result dns_mx(const char *domain, struct dns_mx *out, size_t *out_n,
    struct dns_trust *trust, struct err *err);

/* The data of records as they came: bytes has all of them, ends where each one
 * ends.  The caller calls init and release. */
struct dns_records {
	struct str	bytes;
	size_t		count;
	bool		is_secure;	/* as in struct dns_trust, also for the
					 * answer that there are none */
	size_t		ends[DNS_RECORDS_MAX];
};
void dns_records_init(struct dns_records *records);
struct slice dns_records_at(const struct dns_records *records, size_t index);
void dns_records_release(struct dns_records *records);
/* Ask for the records of a type.  DNS_TRY_AGAIN: err is the trouble in one word
 * or two ("SERVFAIL", "no answer", "bogus: WORDS" of the resolver). */
enum dns_result dns_ask_records(const char *name, enum dns_type type,
    struct dns_records *out, struct err *err);

/* Read whole answers (records.c), whoever asked, with the question in them.
 * Records count that are of the name asked for, or of the one that its aliases
 * lead to (walk.h), here and below.  dns_parse_addresses appends to the *out_n
 * that are there. */
enum dns_result dns_parse_mx(const unsigned char *answer, size_t n,
    struct dns_mx *out, size_t *out_n, struct err *err);
enum dns_result dns_parse_addresses(const unsigned char *answer, size_t n,
    struct dns_address *out, size_t *out_n, struct err *err);
enum dns_result dns_parse_records(const unsigned char *answer, size_t n,
    enum dns_type type, struct dns_records *out, struct err *err);
/* Read the AD bit as it is in the answer, and where the aliases lead. */
void dns_parse_trust(const unsigned char *answer, size_t n,
    struct dns_trust *out);
/* An address of 4 or 16 bytes, by its family. */
void dns_address_set(int family, const void *bytes, struct dns_address *out);

/* ---- the wire (wire.c) ---------------------------------------------- */

/* The 16-bit number at `at`, in the DNS's order: the high byte first. */
static inline unsigned
dns_get16(const unsigned char *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

struct dns_name {
	char		text[256];
};

/* Write a question to a recursive server that offers room for an answer of 1232
 * bytes (RFC 6891).  Returns its length; 0: the name is not a domain. */
size_t dns_make_query(const char *name, enum dns_type type, uint16_t id,
    unsigned char out[DNS_QUERY_BYTES_MAX]);
/* Is this the answer to that query?  Compares header and question. */
bool dns_is_answer(const unsigned char *answer, size_t n,
    const unsigned char *query, size_t query_n);
/* The result by an answer's header, before its records are read: DNS_OK,
 * DNS_NO_NAME, or DNS_TRY_AGAIN (the server failed, or the answer is truncated
 * and empty). */
enum dns_result dns_answer_result(const unsigned char *answer, size_t n);
/* Was the answer truncated (TC)?  Then its records must not be used (RFC 2181
 * section 9). */
bool dns_answer_is_cut(const unsigned char *answer, size_t n);
/* How long an answer is valid: the shortest TTL of its records, aliases too; of
 * one that there are none by its SOA (RFC 2308 section 5).  false: it cannot
 * be read, or does not say; a TTL beyond 2^31 is 0 (RFC 2181 section 8). */
bool dns_answer_lasts(const unsigned char *answer, size_t n,
    uint32_t *out_s);
/* Read what an answer adds about its trouble (RFC 8914).  n may exceed the
 * answer's length if zeros follow it.  false: nothing. */
enum { DNS_WORDS_BYTES = 201, DNS_ERROR_BOGUS = 6 };
struct dns_error {
	unsigned	code;
	char		words[DNS_WORDS_BYTES];	/* without controls */
};
bool dns_parse_error(const unsigned char *answer, size_t n,
    struct dns_error *out);
/* What the records of an answer come to: one that is damaged before the first
 * of them does not say that there are none. */
enum dns_result dns_parsed(bool is_there, bool is_damaged, const char *type,
    struct err *err);
/* Read PTR records whose names are host names; appends to the *out_n that are
 * there. */
enum dns_result dns_parse_ptr(const unsigned char *answer, size_t n,
    struct dns_name *out, size_t *out_n, struct err *err);
/* Read TXT records as they are, at most max: appends the bytes of all of them
 * to out; ends has where each one ends.  RFC 1035 section 3.3.14 */
enum dns_result dns_parse_texts(const unsigned char *answer, size_t n,
    struct str *out, size_t ends[], size_t max, size_t *out_n,
    struct err *err);
/* Append TXT records (RFC 1035 section 3.3.14) to out, each as a line: its
 * strings joined, controls escaped. */
enum dns_result dns_parse_txt(const unsigned char *answer, size_t n,
    struct str *out, struct err *err);
/* The name of an address's PTR records: "7.2.0.192.in-addr.arpa"; suffix, if
 * not NULL, replaces the end: "7.2.0.192.bl.example". */
void dns_reverse_name(const struct sockaddr *address, const char *suffix,
    struct dns_name *out);
/* The recursive servers in use; returns how many. */
size_t dns_servers(struct dns_address out[DNS_SERVERS_MAX]);

/* ---- as people write it (text.c) -------------------------------------- */

/* Parse "MX", "mx", "TYPE52".  false: no type has that name. */
bool dns_type_parse(const char *text, enum dns_type *out);
/* Append it; "TYPE999" if it has no name here. */
void dns_type_text(unsigned type, struct str *out);
struct dns_record {
	const char	*name;		/* odd bytes escaped */
	uint32_t	 ttl_s;
	unsigned	 type;
	struct slice	 value;		/* as in a master file; no controls */
};
typedef void dns_record_fn(void *context, const struct dns_record *record);
/* Call fn for each record of the answer, also for aliases.  false: the answer
 * is damaged; fn may have been called. */
bool dns_tell_records(const unsigned char *answer, size_t n,
    dns_record_fn *fn, void *context);
/* Is every server in use on this machine, so that an AD bit can count? */
bool dns_is_here(void);

/* The A and AAAA records of a host name, or the inside of an address literal
 * ("192.0.2.1", "IPv6:::1").  /etc/hosts is read as well ("localhost").  trust
 * (may be NULL) is secure if all answers that had an address were; literals and
 * /etc/hosts never are. */
enum dns_result dns_addresses(const char *host, struct dns_address *out,
    size_t *out_n, struct dns_trust *trust, struct err *err);

/* Write "192.0.2.1" or "IPv6:2001:db8::1", as in an address literal. */
void dns_address_text(const struct sockaddr *address, char *out, size_t size);

#endif

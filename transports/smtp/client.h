/* client.h - the client side of SMTP and LMTP: one connection, many messages
 *
 * Straight-line code over io/peer.h, shared by the smtp and lmtp agents.
 * A connection is kept for the next message to the same host, and closed for
 * another host or when it has been idle too long.
 *
 * Invariants
 *   the peer's faults lead to verdicts, and never harm the process; the words
 *   of the peer reach the verdict unchanged; after a reply that does not fit
 *   its command the connection is closed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_CLIENT_H
#define ZM_TRANSPORTS_CLIENT_H

#include "conf/conf.h"
#include "grammar/smtp/reply.h"
#include "io/dns/dns.h"
#include "tls/client.h"
#include "mail/verdict.h"
#include "mail/control_file/control_file.h"

enum {
	CLIENT_RCPTS_MAX = 1000,	/* in one transaction; at least 100
					 * (RFC 5321 section 4.5.3.1.8), less
					 * where the peer says so */
	CLIENT_LIMIT_MIN = 10,		/* a 452 after fewer is no limit */
	CLIENT_ADDRESSES_MAX = 10,	/* tried for one message */
	CLIENT_MEMORY_MAX = 64,		/* troubles remembered */
	CLIENT_DOWN_FOR_MS = 60000,	/* and for how long: no connection, */
	CLIENT_TLS_FOR_MS = 3600000,	/* broken TLS, */
	CLIENT_PIPES_FOR_MS = 3600000,	/* broken PIPELINING, */
	CLIENT_SIX_FOR_MS = 600000,	/* IPv6 that leads nowhere */
	CLIENT_JOB_FOR_MS = 3300000,	/* a job, however slow the host is:
					 * after an hour of silence the
					 * scheduler kills the process, and
					 * all that it carries */
	CLIENT_FRESH_MS = 1000,		/* a connection used so lately is
					 * not looked at before it is reused, */
	CLIENT_DOUBT_MS = 5000,		/* one that lay idle so long is asked,
					 * with time to answer: */
	CLIENT_DOUBT_FOR_MS = 10000,
	CLIENT_PROVIDER_BYTES = 256,
	CLIENT_NAMES_MAX = 16,		/* a certificate may have */
	CLIENT_KEY_BYTES = 512
};

enum client_extension {		/* announced by EHLO or LHLO */
	CLIENT_PIPELINING = 1 << 0,	/* RFC 2920 */
	CLIENT_SIZE = 1 << 1,		/* RFC 1870 */
	CLIENT_8BITMIME = 1 << 2,	/* RFC 6152 */
	CLIENT_DSN = 1 << 3,		/* RFC 3461 */
	CLIENT_STATUSCODES = 1 << 4,	/* RFC 2034 */
	CLIENT_SMTPUTF8 = 1 << 5,	/* RFC 6531 */
	CLIENT_STARTTLS = 1 << 6,	/* RFC 3207 */
	CLIENT_REQUIRETLS = 1 << 7,	/* RFC 8689 */
	CLIENT_CHUNKING = 1 << 8,	/* RFC 3030 */
	CLIENT_BINARYMIME = 1 << 9,	/* RFC 3030 */
	CLIENT_DELIVERBY = 1 << 10,	/* RFC 2852 */
	CLIENT_PRIORITY = 1 << 11,	/* RFC 6710 */
	CLIENT_LIMITS = 1 << 12,	/* RFC 9422 */
	CLIENT_AUTH = 1 << 13,		/* RFC 4954 */
	CLIENT_XCLIENT = 1 << 14	/* Postfix, XCLIENT_README */
};

enum client_attribute {		/* of XCLIENT, that the peer takes */
	XCLIENT_NAME = 1 << 0, XCLIENT_ADDR = 1 << 1, XCLIENT_PORT = 1 << 2,
	XCLIENT_PROTO = 1 << 3, XCLIENT_HELO = 1 << 4, XCLIENT_LOGIN = 1 << 5
};

enum client_mechanism {		/* of AUTH, best last */
	CLIENT_LOGIN = 1, CLIENT_PLAIN = 2, CLIENT_CRAM_MD5 = 4,
	CLIENT_SCRAM_SHA_256 = 8, CLIENT_XOAUTH2 = 16
};

/* What the peer announced. */
struct client_offer {
	unsigned	extensions;
	unsigned	mechanisms;
	unsigned	attributes;
	uint64_t	size_bytes;	/* largest message; 0: none known */
	uint64_t	by_min_s;	/* least time to deliver in (BY=) */
	unsigned	mails;		/* a connection; 0: none known */
	unsigned	rcpts;		/* a transaction */
	unsigned	domains;	/* of recipients, a transaction */
};

/* Where a host field points. */
struct client_target {
	enum { TARGET_MX, TARGET_HOST, TARGET_UNIX } kind;
	bool		is_implicit;	/* TLS from the first byte */
	char		name[256];	/* domain, host, or path */
	char		login[160];	/* key of auth-to; "": the name is */
	unsigned	port;
};

/* What the sender requires of the connection (RFC 8689). */
enum client_wish {
	WISH_NONE,
	WISH_TLS,		/* REQUIRETLS */
	WISH_TLS_OPTIONAL	/* TLS-Required: No: what the recipient's
				 * domain publishes is not enforced */
};

/* How a connection must be protected, and by whose policy. */
struct client_policy {
	enum conf_tls_level	 level;
	bool			 is_required;	/* by the sender (RFC 8689) */
	bool			 is_implicit;
	bool			 is_xclient;	/* it hears of our clients */
	bool			 asks_tlsa;	/* its hosts' TLSA records may
						 * change it (dane.h) */
	bool			 are_tlsa_unusable;	/* there are some */
	bool			 asks_sts;	/* its domain's policy may
						 * change it (sts.h) */
	bool			 is_judged;	/* whether the certificate is
						 * verified is asked, whatever
						 * the level */
	const char		*said_by;	/* "sts", "tlsa": who says so;
						 * NULL: nobody does */
	const char		*sts_mode, *sts_domain;	/* of said_by sts */
	const struct dns_records *tlsa;	/* of the host: they decide; or NULL */
	char			 base[256];	/* their base domain */
	struct tls_client	*tls;
	const char		*names[CLIENT_NAMES_MAX];
	size_t			 name_count;
	char			 name_text[2][256 + 2]; /* of names */
	const char		*source;	/* "tls-to", "default" */
	char			 key[CLIENT_KEY_BYTES];	/* the same key, the
					 * same trust: a connection made under
					 * one serves the other */
};

/* What is wrong with an address. */
enum client_trouble { TROUBLE_DOWN = 1, TROUBLE_TLS, TROUBLE_PIPELINING };
struct client_memory {
	enum client_trouble	trouble;	/* 0: empty */
	struct sockaddr_storage	address;
	int64_t			until_ms;	/* steady */
};

struct client_secret;		/* auth.h */

struct smtp_client {
	const struct conf	*conf;
	void			(*opened)(void *context,
				    const struct smtp_client *client);
						/* told of a new connection
						 * that may take mail; NULL */
	void			*opened_context;
	bool			 is_lmtp;
	unsigned		 port;		/* when the host names none */

	struct peer		 peer;
	char			 host[512];	/* host field it serves; "" */
	char			 provider[CLIENT_PROVIDER_BYTES];
						/* of the host looked for
						 * last */
	struct sockaddr_storage	 address;	/* of the peer */
	const struct conf_zone	*zone;		/* it sends from; NULL */
	bool			 is_required;	/* made for REQUIRETLS */
	enum client_wish	 wish;		/* of who it served last */
	char			 key[CLIENT_KEY_BYTES];	/* of its policy */
	bool			 is_xclient;	/* says its policy */
	struct str		 xclient;	/* what it heard by XCLIENT */
	char			 who[VERDICT_WHO_BYTES];
	struct client_offer	 offer;
	struct tls_info		 tls;		/* version "": no TLS */
	const struct client_secret *secret;	/* it authenticated as; NULL */
	unsigned		 messages;	/* over this connection */
	unsigned		 messages_max;	/* says the clause; 0: any */
	bool			 is_used;	/* a transaction was begun over
						 * it before this one */
	bool			 needs_reset;	/* RSET before MAIL */
	bool			 no_pipelining;	/* its PIPELINING is broken */
	char			 id[SPOOL_ID_BYTES];	/* of the message */
	unsigned		 said_left;	/* lines that may be noted
						 * (log-level debug) */
	const char		*said_as;	/* what stands in the journal
						 * for what is sent; NULL */
	int64_t			 used_at_ms;	/* steady */
	int64_t			 until_ms;	/* steady: end of the job under
						 * way; 0: it has none */
	size_t			 reply_bytes;	/* of the last reply: dropped
						 * before the next is read */
	struct client_memory	*memory;	/* CLIENT_MEMORY_MAX; NULL
						 * until there is a trouble */
	size_t			 memory_next;
	int64_t			 six_until_ms;	/* IPv4 goes first until */

	struct str		 piece;		/* room for a part of a body */
	bool			 is_joined;	/* what follows is another
						 * client's (client_join) */
	struct tls_client	**tls_clients;	/* one a row of conf->tls_to,
						 * then the default's */
	struct client_secret	*secrets;	/* of auth-to, a list */
};

/* Open the files that conf names: roots, certificates and secrets.  No other
 * function opens files, so the process can enter its sandbox afterwards.  0 or
 * -1 (err). */
int client_start(struct smtp_client *client, struct err *err);

/* Begin without a connection; client_start comes next. */
void client_init(struct smtp_client *client, const struct conf *conf,
    bool is_lmtp);
/* Instead of client_start: share the TLS contexts and secrets of first, which
 * is in another thread.  first must be released after this client. */
void client_join(struct smtp_client *client, const struct smtp_client *first);

/* A buffer for a piece of a body, owned by the client, in *out_piece.  Returns
 * its size: more than message_bytes, or CLIENT_PIECE_BYTES. */
enum { CLIENT_PIECE_BYTES = 60 * 1024, CLIENT_PIECE_BYTES_MIN = 4095 };
size_t client_piece(struct smtp_client *client, uint64_t message_bytes,
    char **out_piece);
/* The content is out, its answer is awaited, maybe for long and by thousands of
 * clients: give back the room that it needed. */
void client_shrink(struct smtp_client *client);

/* Send QUIT, if connected; free everything. */
void client_release(struct smtp_client *client);

/* Deliver one message to all recipients of job and fill their verdicts.
 * arena  for this message only */
void client_deliver(struct smtp_client *client, struct arena *arena,
    const struct control_job *job, int body_fd, struct verdict verdicts[]);

/* Send QUIT if the connection was not used for idle_ms. */
void client_idle(struct smtp_client *client, int64_t idle_ms);

/* ---- the steps, each in a file of its own ------------------------------ */

/* dialogue.c: write the dialogue with a host as events, where log-level says
 * debug: begin for the host called name; note what is in out; note a reply. */
enum { CLIENT_SAID_MAX = 500, CLIENT_SAID_BYTES_MAX = 512 };
void client_said_begin(struct smtp_client *client, const char *name);
void client_said_sent(struct smtp_client *client);
void client_said_heard(struct smtp_client *client, const struct reply *reply);

/* target.c: "example.org" (look for MX), "[192.0.2.1]:2525",
 * "[host]", "host:25", "inet:host:port", "smtps:host", "unix:/path".
 * 0 or -1. */
int client_target_parse(struct slice host, unsigned port,
    struct client_target *out, struct err *err);

/* policy.c: the policy for a target and a sender's wish, by a statement or by
 * default.  With asks_tlsa or asks_sts, client_dane and client_sts decide for
 * each host. */
void client_policy(const struct smtp_client *client,
    const struct client_target *target, enum client_wish wish,
    struct client_policy *out);
/* Make the key anew, after a change. */
void client_policy_make_key(struct client_policy *policy);
/* Open the files that policies name.  0 or -1. */
int client_policy_start(struct smtp_client *client, struct err *err);
void client_policy_release(struct smtp_client *client);

/* memory.c: remember a trouble of an address; ask about it. */
void client_note(struct smtp_client *client,
    const struct sockaddr_storage *address, enum client_trouble trouble);
bool client_has(struct smtp_client *client,
    const struct sockaddr_storage *address, enum client_trouble trouble);

/* hosts.c: the hosts of a target in the order in which to try them, with their
 * addresses. */
struct client_hosts {
	const struct client_target *target;
	struct dns_mx	*mx;		/* one, for a target without MX; NULL
					 * before client_hosts_find */
	size_t		count;
	bool		is_secure;	/* the answer that has them, or the
					 * configuration */
	size_t		asked;		/* index in mx of addresses + 1 */
	struct dns_trust trust;		/* of addresses */
	struct dns_address addresses[DNS_ADDRESS_MAX];
	size_t		address_count;
};
/* true; false: *out is the verdict.  In both cases client_hosts_release is
 * owed. */
bool client_hosts_find(const struct smtp_client *client,
    const struct client_target *target, struct client_hosts *hosts,
    struct verdict *out);
void client_hosts_release(struct client_hosts *hosts);
/* Ask for the addresses of host number index, with the port set, without those
 * that cannot be a mail host.  true; false: *out is the verdict. */
bool client_hosts_ask(struct client_hosts *hosts, size_t index,
    struct verdict *out);
/* Whether the address is one that this system listens on. */
bool client_is_own(const struct smtp_client *client,
    const struct sockaddr_storage *address);

/* zone.c: choose one of the zone's sources of this family, by weight.  False:
 * the zone has sources, but none of this family; *out NULL: it has none, so the
 * system chooses. */
bool client_source(const struct smtp_client *client, sa_family_t family,
    const struct sockaddr_storage **out);
/* The name for EHLO on the present connection. */
const char *client_helo(const struct smtp_client *client);

/* provider.c: the name of the provider whose best MX is this host: the host
 * without its first label, "" if there is none. */
void client_provider(const char *host, const char *domain,
    char out[CLIENT_PROVIDER_BYTES]);

/* connect.c: get a connection that serves host: the kept one, or a new one
 * after EHLO.  returns true; false: *out_trouble is the verdict for every
 * recipient. */
bool client_open(struct smtp_client *client, const char *host,
    enum client_wish wish, struct verdict *out_trouble);

/* hello.c: greeting, EHLO, TLS and AUTH on a fresh connection.
 * is_by_mx         the peer must not be ourselves
 * out_tls_broken   the peer's TLS does not work, and the policy allows to go
 *                  without: connect again
 * returns true; false: *out_trouble says why; another address may work. */
struct client_hello {
	const struct client_policy	*policy;
	const char			*name;	/* of the peer */
	bool				 is_by_mx;
	const struct client_secret	*secret;	/* NULL: none */
	bool				 is_tls_broken;	/* out */
	const char			*result;	/* out: "success", or a
							 * type of RFC 8460;
							 * NULL: it came to
							 * nothing before */
};
bool client_hello(struct smtp_client *client, struct client_hello *hello,
    struct verdict *out_trouble);

/* starttls.c: begin TLS on this connection, at once / by STARTTLS, if the
 * policy and the peer's offer say so (client->tls says whether there is TLS).
 * true; false: *out_trouble, closed. */
bool client_start_tls(struct smtp_client *client, struct client_hello *hello,
    struct verdict *out_trouble);
bool client_starttls(struct smtp_client *client, struct client_hello *hello,
    struct verdict *out_trouble);
/* RFC 8689 section 4.2.1: check that the next host promises the same.  true;
 * false: *out_trouble, closed. */
bool client_requiretls(struct smtp_client *client,
    const struct client_policy *policy, struct verdict *out_trouble);

/* hello.c: EHLO or LHLO (HELO) with this name; as client_hello. */
bool client_ehlo(struct smtp_client *client, const char *name,
    struct verdict *out_trouble);

/* xclient.c: tell the peer, if the policy says so, which client this message
 * came from.  true; false: *out_trouble, closed. */
bool client_xclient(struct smtp_client *client, int body_fd,
    struct verdict *out_trouble);

/* reply.c: send what is queued and read a reply, before a transaction; step as
 * in client_broken.  true; false: closed. */
bool client_ask(struct smtp_client *client, const char *step,
    struct reply *out, struct verdict *out_trouble);

/* offer.c: read the reply to EHLO. */
void client_offer_take(struct client_offer *offer, const struct reply *reply);

/* secret.c: read the table of secrets. 0 or -1. */
int client_auth_start(struct smtp_client *client, struct err *err);
void client_auth_release(struct smtp_client *client);
/* Put the directories of tokens, which are read again and again, into out, at
 * most `most`.  Returns how many. */
size_t client_token_directories(const struct smtp_client *client,
    const char *out[], size_t most);
/* The secret for a target, or NULL. */
const struct client_secret *client_auth_find(const struct smtp_client *client,
    const struct client_target *target);
/* auth.c: authenticate.  true; false: *out_trouble, closed. */
bool client_auth(struct smtp_client *client, const struct client_secret *secret,
    struct verdict *out_trouble);
/* The mechanism of a keyword of AUTH; 0: not known. */
unsigned client_auth_mechanism(struct slice word);

/* reply.c: QUIT and close; harmless when not connected.  Only client_quit_for
 * waits for the reply (RFC 5321 section 4.1.1.10), because other mail must not
 * wait for it. */
void client_quit(struct smtp_client *client);
void client_quit_for(struct smtp_client *client, int64_t timeout_ms);

/* hello.c: check that an idle connection still works (NOOP; RSET if one is
 * owed), before mail uses it.  returns false: it does not, and is closed; no
 * attempt is lost. */
bool client_answers(struct smtp_client *client);

/* reply.c: the time-out in milliseconds, or what is left of the job's time if
 * that is less; 0: it is over. */
int64_t client_wait_ms(const struct smtp_client *client, int64_t timeout_ms);

/* reply.c: send what is queued / wait for one whole reply, which is
 * valid until the next call.  PEER_OK, PEER_EOF, PEER_TIMEOUT, or PEER_ERROR
 * (err: the system's words, or that it is no reply). */
enum peer_result client_flush(struct smtp_client *client, int64_t timeout_ms,
    struct err *err);
enum peer_result client_reply(struct smtp_client *client, int64_t timeout_ms,
    struct reply *out, struct err *err);

/* reply.c: the verdict that a reply means: 2yz `good`, 4yz deferred,
 * 5yz failed, anything else deferred as a protocol error.  421 is host
 * trouble. */
void client_verdict(const struct smtp_client *client, const struct reply *reply,
    enum verdict_kind good, struct verdict *out);

/* reply.c: a host that refuses the whole session: deferred, whatever it says,
 * because another host, or the same one later, may accept / a host that we
 * cannot use, for a reason of our own.  Both end the session and return
 * false. */
bool client_refused(struct smtp_client *client, const struct reply *reply,
    struct verdict *out_trouble);
bool client_unfit(struct smtp_client *client, const char *status,
    const char *words, struct verdict *out_trouble);

/* reply.c: the verdict for a connection that failed; step completes
 * "while ..." ("waiting for the reply to MAIL").  Closes it. */
void client_broken(struct smtp_client *client, enum peer_result result,
    const struct err *err, const char *step, struct verdict *out);

/* reply.c: close at once, without QUIT. */
void client_drop(struct smtp_client *client);

/* reply.c: has nothing come after the last reply? */
bool client_is_level(const struct smtp_client *client);

#endif

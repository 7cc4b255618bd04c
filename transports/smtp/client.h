/* client.h - the client side of SMTP and LMTP: one connection, many messages
 *
 * Straight-line code over io/peer.h, shared by the smtp and lmtp agents.
 * A connection is kept for the next message of the same host and closed
 * when another host comes or it was idle for too long.
 *
 * Invariants
 *   what is wrong with the peer ends up in verdicts, never in the process;
 *   the words of the peer reach the verdict unchanged;
 *   after a reply that does not fit its command the connection is closed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_CLIENT_H
#define ZM_TRANSPORTS_CLIENT_H

#include "daemon/conf.h"
#include "grammar/reply.h"
#include "io/dns.h"
#include "io/peer.h"
#include "mail/verdict.h"
#include "mail/work.h"

enum {
	CLIENT_RCPTS_MAX = 100,		/* in one transaction (RFC 5321
					 * section 4.5.3.1.8) */
	CLIENT_ADDRESSES_MAX = 10,	/* tried for one message */
	CLIENT_DOWN_MAX = 64,		/* addresses remembered as down */
	CLIENT_DOWN_FOR_MS = 60000,	/* and for how long */
	CLIENT_FRESH_MS = 1000		/* a connection used so lately is
					 * not looked at before it is reused */
};

enum client_extension {		/* announced by EHLO or LHLO */
	CLIENT_PIPELINING = 1,	/* RFC 2920 */
	CLIENT_SIZE = 2,	/* RFC 1870 */
	CLIENT_8BITMIME = 4,	/* RFC 6152 */
	CLIENT_DSN = 8,		/* RFC 3461 */
	CLIENT_STATUSCODES = 16,/* RFC 2034 */
	CLIENT_SMTPUTF8 = 32	/* RFC 6531 */
};

/* Where a host field points. */
struct client_target {
	enum { TARGET_MX, TARGET_HOST, TARGET_UNIX } kind;
	char		name[256];	/* domain, host, or path */
	unsigned	port;
};

struct client_down {
	struct sockaddr_storage	address;
	int64_t			until_ms;	/* steady */
};

struct client {
	const struct conf	*conf;
	bool			 is_lmtp;
	unsigned		 port;		/* when the host names none */

	struct peer		 peer;
	char			 host[512];	/* host field it serves; "" */
	char			 who[VERDICT_WHO_BYTES];
	unsigned		 extensions;
	uint64_t		 size_limit_bytes;	/* 0: none known */
	unsigned		 messages;	/* over this connection */
	bool			 needs_reset;	/* RSET before MAIL */
	int64_t			 used_at_ms;	/* steady */
	size_t			 reply_bytes;	/* of the last reply: dropped
						 * before the next is read */
	struct client_down	 down[CLIENT_DOWN_MAX];
	size_t			 down_next;
};

void client_init(struct client *client, const struct conf *conf,
    bool is_lmtp);
/* QUIT, if connected; free. */
void client_release(struct client *client);

/* Deliver one message to all recipients of job and fill their verdicts.
 * arena  for what this message needs. */
void client_deliver(struct client *client, struct arena *arena,
    const struct work_job *job, int body_fd, struct verdict verdicts[]);

/* QUIT when the connection was not used for idle_ms. */
void client_idle(struct client *client, int64_t idle_ms);

/* ---- the steps, each in a file of its own ------------------------------ */

/* client_target.c: "example.org" (look for MX), "[192.0.2.1]:2525",
 * "[host]", "host:25", "inet:host:port", "unix:/path".  1 or -1. */
int client_target_parse(struct slice host, unsigned port,
    struct client_target *out, struct err *err);

/* client_connect.c: have a connection that serves host: the kept one, or a
 * new one that has said hello.  returns true; false: *out_trouble is the
 * verdict for every recipient. */
bool client_open(struct client *client, const char *host,
    struct verdict *out_trouble);

/* client_hello.c: greeting and EHLO on a fresh connection.
 * is_by_mx: the peer must not be ourselves.
 * returns true; false: *out_trouble says why, another address may do. */
bool client_hello(struct client *client, bool is_by_mx,
    struct verdict *out_trouble);

/* client_hello.c: QUIT and close; harmless when not connected.  The reply
 * (RFC 5321 section 4.1.1.10) is waited for only by client_quit_for: other
 * mail must not wait for a goodbye. */
void client_quit(struct client *client);
void client_quit_for(struct client *client, int64_t timeout_ms);

/* client_reply.c: send what is queued / wait for one whole reply, which is
 * valid until the next call.  PEER_OK, PEER_EOF, PEER_TIMEOUT, or
 * PEER_ERROR (system's words, or what came is no reply). */
enum peer_result client_flush(struct client *client, int64_t timeout_ms,
    struct err *err);
enum peer_result client_reply(struct client *client, int64_t timeout_ms,
    struct reply *out, struct err *err);

/* client_reply.c: the verdict that a reply means: 2yz `good`, 4yz deferred,
 * 5yz failed, anything else deferred as a protocol error.  421 is host
 * trouble. */
void client_verdict(const struct client *client, const struct reply *reply,
    enum verdict_kind good, struct verdict *out);

/* client_reply.c: the verdict for a connection that failed; step completes
 * "while ..." ("waiting for the reply to MAIL").  Closes it. */
void client_broken(struct client *client, enum peer_result result,
    const struct err *err, const char *step, struct verdict *out);

/* client_reply.c: close at once, without QUIT. */
void client_drop(struct client *client);

/* client_reply.c: nothing has come behind the last reply. */
bool client_is_level(const struct client *client);

/* client_data.c: header and body in wire form with the final dot in the
 * last write.  PEER_OK; else *out_trouble is filled and the connection
 * closed: the peer has no complete message. */
enum peer_result client_content(struct client *client,
    const struct work_job *job, int body_fd, struct verdict *out_trouble);

#endif

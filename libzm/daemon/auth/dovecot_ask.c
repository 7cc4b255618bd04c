/* dovecot_ask.c - ask Dovecot for one password
 *
 * In     a user and a password
 * Out    yes, no, or trouble
 * Trusts the socket's owner; what it says is bounded (io/peer.h)
 * Spec   Dovecot's auth-protocol.txt, client protocol 1.1; RFC 4616
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "daemon/auth/dovecot_lines.h"
#include "daemon/auth/servers.h"
#include "grammar/base64.h"
#include "io/peer.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { DOVECOT_FOR_MS = 20000, DOVECOT_ONE = 1 };

/* The line of PLAIN: no authorization identity, the user, the password. */
static bool
dovecot_add_question(struct str *out, const char *user, const char *password,
    const char *client)
{
	struct str plain = STR_INIT, args = STR_INIT;
	bool is_good;

	str_addc(&plain, '\0');
	str_adds(&plain, user);
	str_addc(&plain, '\0');
	str_adds(&plain, password);
	/* our own end has no name here; the client's port is not known */
	str_addf(&args, "PLAIN - [%s]:0 tls ", client);
	base64_add(&args, str_slice(&plain));
	dovecot_add_greeting(out);
	is_good = dovecot_add_auth(out, DOVECOT_ONE, str_slice(&args));
	explicit_bzero(plain.buf, plain.len);
	explicit_bzero(args.buf, args.len);
	str_release(&plain);
	str_release(&args);
	return is_good;
}

/* The verdict, if this line has it.  PLAIN says all at once: who wants more is
 * not Dovecot. */
static bool
dovecot_take_line(struct slice line, enum auth_result *out, struct err *err)
{
	struct dovecot_reply reply;

	if (!dovecot_reply_parse(line, &reply)) {
		err_set(err, "dovecot talks nonsense");
		*out = AUTH_TROUBLE;
		return true;
	}
	if (reply.verb == DOVECOT_OTHER || reply.id != DOVECOT_ONE)
		return false;
	*out = reply.verb == DOVECOT_OK ? AUTH_YES : AUTH_NO;
	if (reply.verb == DOVECOT_CONT || reply.is_temporary) {
		err_set(err, reply.is_temporary ? "dovecot cannot tell now" :
		    "dovecot talks nonsense");
		*out = AUTH_TROUBLE;
	}
	return true;
}

static enum auth_result
dovecot_await(struct peer *peer, int64_t until_ms, struct err *err)
{
	enum auth_result result;
	struct slice got;
	size_t end;

	for (;;) {
		got = peer_unread(peer);
		end = slice_find(got, '\n');
		if (end == got.n) {
			if (peer_fill(peer, until_ms, err) == PEER_OK)
				continue;
			err_prefix(err, "dovecot");
			return AUTH_TROUBLE;
		}
		if (dovecot_take_line(slice_first(got, end), &result, err))
			return result;
		peer_consume(peer, end + 1);
	}
}

enum auth_result
auth_dovecot_check(const char *path, const char *user, const char *password,
    const char *client, struct err *err)
{
	int64_t until_ms = clock_steady_ms() + DOVECOT_FOR_MS;
	struct sockaddr_un address;
	enum auth_result result = AUTH_TROUBLE;
	struct peer peer;

	err->text[0] = '\0';
	if (unix_socket_address(slice_of(path), &address, err) < 0)
		return AUTH_TROUBLE;
	peer_init(&peer);
	if (peer_connect(&peer, (struct sockaddr *)&address,
	    sizeof(address), until_ms, err) != PEER_OK)
		err_prefix(err, "cannot reach dovecot");
	else if (!dovecot_add_question(&peer.out, user, password, client))
		err_set(err, "this cannot be asked of dovecot");
	else if (peer_flush(&peer, until_ms, err) != PEER_OK)
		err_prefix(err, "dovecot");
	else
		result = dovecot_await(&peer, until_ms, err);
	peer_release(&peer);
	return result;
}

/* saslauthd.c - ask saslauthd of Cyrus SASL
 *
 * In     a user and a password
 * Out    yes, no, or trouble
 * Trusts the socket's owner; its reply is bounded
 * Spec   saslauthd(8): user, password, service, realm, each with its length
 *        in two bytes; the reply, with its length, begins with OK or NO
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/peer.h"
#include "io/unix_socket.h"
#include "daemon/auth/servers.h"

#include "base/banned.h"

enum { SASLAUTHD_FOR_MS = 20000, REPLY_BYTES_MAX = 1024 };

static void
saslauthd_add_counted(struct str *out, struct slice text)
{
	uint16_t n = htons((uint16_t)text.n);

	str_add(out, &n, sizeof(n));
	str_add_slice(out, text);
}

/* The realm is what follows the last @. */
static void
saslauthd_add_question(struct str *out, const char *service, const char *user,
    const char *password)
{
	const char *at = strrchr(user, '@');
	struct slice name = slice_of(user);

	if (at != NULL)
		name = slice_first(name, (size_t)(at - user));
	saslauthd_add_counted(out, name);
	saslauthd_add_counted(out, slice_of(password));
	saslauthd_add_counted(out, slice_of(service));
	saslauthd_add_counted(out, slice_of(at != NULL ? at + 1 : ""));
}

static enum auth_result
saslauthd_reply_take(struct peer *peer, int64_t until_ms, struct err *err)
{
	struct slice got;

	while ((got = peer_unread(peer)).n < 4) {
		if (got.n > REPLY_BYTES_MAX)
			break;
		if (peer_fill(peer, until_ms, err) != PEER_OK) {
			err_prefix(err, "saslauthd");
			return AUTH_TROUBLE;
		}
	}
	got = slice_from(got, 2);
	if (slice_starts(got, "OK"))
		return AUTH_YES;
	if (slice_starts(got, "NO"))
		return AUTH_NO;
	err_set(err, "saslauthd talks nonsense");
	return AUTH_TROUBLE;
}

enum auth_result
auth_saslauthd_check(const char *path, const char *service,
    const char *user, const char *password, struct err *err)
{
	int64_t until_ms = clock_steady_ms() + SASLAUTHD_FOR_MS;
	struct sockaddr_un address;
	enum auth_result result = AUTH_TROUBLE;
	struct peer peer;

	err->text[0] = '\0';
	if (unix_socket_address(slice_of(path), &address, err) < 0)
		return AUTH_TROUBLE;
	peer_init(&peer);
	if (peer_connect(&peer, (struct sockaddr *)&address, sizeof(address),
	    until_ms, err) == PEER_OK) {
		saslauthd_add_question(&peer.out, service, user, password);
		if (peer_flush(&peer, until_ms, err) == PEER_OK)
			result = saslauthd_reply_take(&peer, until_ms, err);
	}
	if (result == AUTH_TROUBLE && err->text[0] == '\0')
		err_set(err, "saslauthd closed the connection");
	peer_release(&peer);
	return result;
}

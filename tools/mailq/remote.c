/* remote.c - ask another machine's queue by ZMailer's protocol
 *
 * In     a place, a file with a name and a password, a command
 * Out    the server's answer
 * Holds  the connection
 * Trusts nothing the server says: it is bounded and made safe to print
 * Spec   doc/protocol/mailq.md; mailq(1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <sysexits.h>

#include "base/clock.h"
#include "io/peer.h"
#include "tls/digest.h"
#include "tools/mailq/remote.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { WAIT_MS = 30000, LINE_BYTES_MAX = 65536, FILE_BYTES_MAX = 4096 };

#define PORT "174"
#define NOBODY "nobody/nobody"	/* who ZMailer's mailq is, unless told */

struct remote {
	const struct mailq_flags *flags;
	struct peer	 peer;
	int64_t		 end_ms;
	struct err	 err;
};

/* ---- connecting ------------------------------------------------------ */

static int
connect_unix(struct remote *remote, const char *path)
{
	struct sockaddr_un address;

	if (unix_socket_address(slice_of(path), &address, &remote->err) < 0)
		return -1;
	return peer_connect(&remote->peer, (struct sockaddr *)&address,
	    sizeof(address), remote->end_ms, &remote->err) == PEER_OK ? 1 :
	    -1;
}

/* "host:port" is parted at its last colon, "[address]:port" after the
 * bracket; of more colons and no bracket none parts. */
static void
place_part(struct slice place, char host[256], char port[16])
{
	size_t colon = slice_find(place, ':');
	struct slice name = place;

	snprintf(port, 16, "%s", PORT);
	if (slice_starts(place, "[")) {
		colon = slice_find(place, ']');
		name = slice_from(slice_first(place, colon), 1);
		colon++;
	} else if (slice_find(slice_from(place, colon + 1), ':') <
	    slice_from(place, colon + 1).n) {
		colon = place.n;
	} else {
		name = slice_first(place, colon);
	}
	if (colon + 1 < place.n)
		snprintf(port, 16, SLICE_FMT,
		    SLICE_ARG(slice_first(slice_from(place, colon + 1), 15)));
	snprintf(host, 256, SLICE_FMT, SLICE_ARG(slice_first(name, 255)));
}

static int
connect_net(struct remote *remote, const char *place)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM,
	    .ai_family = remote->flags->family }, *found, *one;
	char host[256], port[16];
	int result;

	place_part(slice_of(place), host, port);
	if (remote->flags->port != NULL)
		strlcpy(port, remote->flags->port, sizeof(port));
	result = getaddrinfo(host, port, &want, &found);
	if (result != 0)
		return err_set(&remote->err, "%s: %s", place,
		    gai_strerror(result));
	result = -1;
	for (one = found; one != NULL && result < 0; one = one->ai_next)
		if (peer_connect(&remote->peer, one->ai_addr,
		    one->ai_addrlen, remote->end_ms, &remote->err) == PEER_OK)
			result = 1;
	freeaddrinfo(found);
	return result < 0 ? err_prefix(&remote->err, "%s", place) : 1;
}

/* ---- lines ----------------------------------------------------------- */

/* The next line without its end, into out. */
static int
mailq_remote_line_take(struct remote *remote, struct str *out)
{
	for (;;) {
		struct slice unread = peer_unread(&remote->peer);
		size_t n = slice_find(unread, '\n');

		str_reset(out);
		if (n < unread.n) {
			str_add_slice(out, slice_first(unread, n));
			peer_consume(&remote->peer, n + 1);
			return 1;
		}
		if (unread.n > LINE_BYTES_MAX)
			return err_set(&remote->err,
			    "the server's line has no end");
		if (peer_fill(&remote->peer, remote->end_ms,
		    &remote->err) != PEER_OK)
			return -1;
	}
}

static int
mailq_remote_say(struct remote *remote, const char *text)
{
	str_addf(&remote->peer.out, "%s\n", text);
	return peer_flush(&remote->peer, remote->end_ms, &remote->err) ==
	    PEER_OK ? 1 : -1;
}

static void
line_print(struct slice text)
{
	struct str safe = STR_INIT;

	str_add_escaped(&safe, text);
	puts(safe.buf);
	str_release(&safe);
}

/* ---- logging in ------------------------------------------------------ */

static int
secret_read(const char *path, char *name, char *password, size_t size,
    struct err *err)
{
	FILE *file = fopen(path, "re");
	char line[FILE_BYTES_MAX];
	struct slice rest, part;
	bool is_read;

	if (file == NULL)
		return err_sys(err, "%s", path);
	do
		is_read = fgets(line, sizeof(line), file) != NULL;
	while (is_read && (line[0] == '#' || line[0] == '\n'));
	fclose(file);
	rest = slice_trim(slice_of(is_read ? line : ""));
	(void)slice_cut(&rest, ':', &part);
	snprintf(name, size, SLICE_FMT, SLICE_ARG(part));
	if (!slice_cut(&rest, ':', &part) || part.n == 0 || part.n >= size ||
	    name[0] == '\0')
		return err_set(err, "%s: write NAME:PASSWORD", path);
	snprintf(password, size, SLICE_FMT, SLICE_ARG(part));
	return 1;
}

static void
hex_add(struct str *out, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%02x", bytes[i]);
}

/* SHA-256 where the server says that it knows it. */
static int
proof_add(struct slice challenge, const char *password, struct str *out,
    struct err *err)
{
	unsigned char sum[DIGEST_BYTES_MAX];
	struct str both = STR_INIT;
	int result;

	if (slice_ends(challenge, " sha-256")) {
		result = digest_hmac(DIGEST_SHA256, slice_of(password),
		    challenge, sum);
		hex_add(out, sum, DIGEST_SHA256_BYTES);
	} else {
		str_add_slice(&both, challenge);
		str_adds(&both, password);
		result = digest(DIGEST_MD5, str_slice(&both), sum);
		hex_add(out, sum, DIGEST_MD5_BYTES);
		str_release(&both);
	}
	return result < 0 ? err_set(err, "this system has no such digest") :
	    1;
}

static int
identity_read(const struct mailq_flags *flags, char *name, char *password,
    size_t size, struct err *err)
{
	if (flags->key_file != NULL)
		return secret_read(flags->key_file, name, password, size,
		    err);
	return mailq_identity(flags->identity != NULL ? flags->identity :
	    NOBODY, name, password, size) ? 1 : err_set(err,
	    "-U wants NAME/PASSWORD");
}

/* With -d everything is shown as it comes, but made safe to print. */
static int
line_heard(struct remote *remote, struct str *line)
{
	if (mailq_remote_line_take(remote, line) < 0)
		return -1;
	if (remote->flags->is_raw)
		line_print(str_slice(line));
	return 1;
}

static int
mailq_remote_login(struct remote *remote, struct str *line)
{
	char name[256], password[256];
	struct str auth = STR_INIT;
	int result;

	if (identity_read(remote->flags, name, password, sizeof(name),
	    &remote->err) < 0 || line_heard(remote, line) < 0)
		return -1;
	if (!slice_starts(str_slice(line), "version zmailer 2."))
		return err_set(&remote->err, "that is no mailq of version 2");
	if (line_heard(remote, line) < 0)
		return -1;
	if (slice_find(str_slice(line), ':') == line->len ||
	    slice_starts(str_slice(line), "5"))
		return err_set(&remote->err, "the server says: %.200s",
		    line->buf);
	str_addf(&auth, "AUTH %s ", name);
	result = proof_add(str_slice(line), password, &auth, &remote->err);
	if (result == 1)
		result = mailq_remote_say(remote, auth.buf);
	str_release(&auth);
	if (result < 0 || line_heard(remote, line) < 0)
		return -1;
	if (line->buf[0] != '+')
		return err_set(&remote->err, "the server says: %.200s",
		    line->buf);
	return 1;
}

/* ---- the command ----------------------------------------------------- */

/* returns 1, 0 refused, -1. */
static int
mailq_remote_talk(struct remote *remote, const char *command, struct str *line)
{
	bool is_raw = remote->flags->is_raw;

	if (mailq_remote_say(remote, command) < 0 || line_heard(remote,
	    line) < 0)
		return -1;
	if (!slice_starts(str_slice(line), "+OK until")) {
		if (!is_raw)
			line_print(str_slice(line));
		return line->buf[0] == '+';
	}
	while (line_heard(remote, line) == 1) {
		if (slice_is(str_slice(line), "."))
			return 1;
		if (!is_raw)
			line_print(slice_from(str_slice(line),
			    slice_starts(str_slice(line), "..") ? 1 : 0));
	}
	return -1;
}

static int
connect_place(struct remote *remote)
{
	const struct mailq_flags *flags = remote->flags;
	struct slice path;

	if (flags->port != NULL && flags->port[0] == '/')
		return connect_unix(remote, flags->port);
	if (unix_socket_path(slice_of(flags->server), &path))
		return connect_unix(remote, path.p);
	return connect_net(remote, flags->server);
}

int
mailq_remote(const struct mailq_flags *flags, const char *command)
{
	struct remote remote = { .flags = flags,
	    .end_ms = clock_steady_ms() + WAIT_MS };
	struct str line = STR_INIT;
	int result;

	peer_init(&remote.peer);
	result = connect_place(&remote);
	if (result == 1)
		result = mailq_remote_login(&remote, &line);
	if (result == 1)
		result = mailq_remote_talk(&remote, command, &line);
	if (result < 0)
		fprintf(stderr, "mailq: %s\n", remote.err.text);
	peer_release(&remote.peer);
	str_release(&line);
	return result == 1 ? EX_OK : result == 0 ? 1 : EX_UNAVAILABLE;
}

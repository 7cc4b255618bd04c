/* target.c - what a host field of the control file means
 *
 * In     the host of a recipient, as the router wrote it
 * Out    a domain to look up, a host and port, or a socket's path
 * Spec   zmailer-smtp(8), HOSTS
 *
 *   host    = [ login "@" ] ( domain / static / inet / smtps ) / unix
 *   static  = "[" name-or-address "]" [ ":" port ] / name ":" port
 *   inet    = "inet:" name-or-address ":" port
 *   smtps   = "smtps:" ( static / name )       TLS from the first byte
 *   unix    = "unix:" path
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/un.h>

#include "transports/smtp/client.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { SMTPS_PORT = 465 };	/* RFC 8314 section 7.3 */

static int
target_set_name(struct slice name, struct client_target *out, struct err *err)
{
	if (name.n == 0 || name.n >= sizeof(out->name) ||
	    memchr(name.p, '\0', name.n) != NULL)
		return err_set(err, "the host has no usable name");
	memcpy(out->name, name.p, name.n);
	out->name[name.n] = '\0';
	return 0;
}

static int
target_set_port(struct slice text, struct client_target *out, struct err *err)
{
	uint64_t port;

	if (!slice_number(text, 1, 65535, &port))
		return err_set(err, "'" SLICE_FMT "' is no port",
		    SLICE_ARG(slice_first(text, 20)));
	out->port = (unsigned)port;
	return 0;
}

/* "name:port" at the last colon; the port is optional only without it. */
static int
target_name_port(struct slice text, struct client_target *out, struct err *err)
{
	size_t at = text.n;

	out->kind = TARGET_HOST;
	while (at > 0 && text.p[at - 1] != ':')
		at--;
	if (at == 0)
		return target_set_name(text, out, err);
	if (target_set_port(slice_from(text, at), out, err) < 0)
		return -1;
	return target_set_name(slice_first(text, at - 1), out, err);
}

static int
target_bracketed(struct slice text, struct client_target *out, struct err *err)
{
	size_t end = slice_find(text, ']');
	struct slice rest = slice_from(text, end + 1);

	out->kind = TARGET_HOST;
	if (end == text.n)
		return err_set(err, "the host lacks its ']'");
	if (rest.n > 0 && (rest.p[0] != ':' ||
	    target_set_port(slice_from(rest, 1), out, err) < 0))
		return err_set(err, "after the host's ']' stands no port");
	return target_set_name(slice_from(slice_first(text, end), 1), out, err);
}

static int
target_parse_host(struct slice host, struct client_target *out, struct err *err)
{
	struct sockaddr_un address;
	struct slice path;

	if (unix_socket_path(host, &path)) {
		out->kind = TARGET_UNIX;
		return unix_socket_address(path, &address, err) < 0 ? -1 :
		    target_set_name(path, out, err);
	}
	if (slice_starts(host, "inet:"))
		return target_name_port(slice_from(host, 5), out, err);
	if (host.n > 0 && host.p[0] == '[')
		return target_bracketed(host, out, err);
	if (slice_find(host, ':') < host.n)
		return target_name_port(host, out, err);
	out->kind = TARGET_MX;
	if (slice_is(host, "-"))
		return err_set(err, "the recipient was given no host");
	return target_set_name(host, out, err);
}

int
client_target_parse(struct slice host, unsigned port,
    struct client_target *out, struct err *err)
{
	struct slice bare = conf_host_bare(host);
	bool is_smtps = slice_starts(bare, "smtps:");
	size_t login = host.n - bare.n;
	int result;

	memset(out, 0, sizeof(*out));
	if (login > sizeof(out->login))
		return err_set(err, "the login in front of the host is too "
		    "long");
	if (login > 0)
		memcpy(out->login, host.p, login - 1);
	host = bare;
	out->port = is_smtps ? SMTPS_PORT : port;
	result = target_parse_host(is_smtps ? slice_from(host, 6) : host, out,
	    err);
	if (result < 0 || out->kind == TARGET_UNIX)
		return result;
	if (is_smtps)
		out->kind = TARGET_HOST;
	out->is_implicit = is_smtps || out->port == SMTPS_PORT;
	return 0;
}

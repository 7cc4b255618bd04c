/* place.c - where the submission listener is
 *
 * In     a word of zmailer web
 * Out    an address, and how TLS begins there
 * Spec   place.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "io/unix_socket.h"
#include "tls/login/https.h"
#include "web/send/place.h"

#include "base/banned.h"

static bool
place_is_near(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)
		    address)->sin6_addr);
	return address->ss_family == AF_UNIX ||
	    ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >>
	    24 == 127;
}

/* "HOST:PORT", "[::1]:PORT". */
static int
place_resolve(const char *text, struct submit_place *out, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	const char *colon = strrchr(text, ':');
	size_t n = colon == NULL ? 0 : (size_t)(colon - text);
	uint64_t port;
	int status;

	if (n > 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	if (n == 0 || n >= sizeof(out->name) || !slice_number(slice_of(colon +
	    1), 1, 65535, &port))
		return err_set(err, "--submit: unix:/PATH or HOST:PORT is "
		    "wanted");
	memcpy(out->name, text, n);
	out->name[n] = '\0';
	out->is_tls |= port == 465;
	status = getaddrinfo(out->name, colon + 1, &hints, &found);
	if (status != 0)
		return err_set(err, "%s: %s", out->name, gai_strerror(
		    status));
	memcpy(&out->address, found->ai_addr, found->ai_addrlen);
	out->length = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

int
submit_place_find(const char *text, struct submit_place *out, struct err *err)
{
	struct slice path;

	*out = (struct submit_place){ .is_tls = false };
	if (strcmp(text, "none") == 0)
		return err_set(err, "No listener takes mail of users: write "
		    "`listen unix:/PATH submission` and `auth users <TABLE> "
		    "clear loopback` into zmailer.conf, or `listen 587 "
		    "submission` and `tls certificate`, and start the desk "
		    "again.");
	if (unix_socket_path(slice_of(text), &path)) {
		struct sockaddr_un at;

		if (unix_socket_address(path, &at, err) < 0)
			return -1;
		memcpy(&out->address, &at, sizeof(at));
		out->length = sizeof(at);
	} else {
		out->is_tls = strncmp(text, "tls:", 4) == 0;
		if (strncmp(text, "tcp:", 4) == 0 || out->is_tls)
			text += 4;
		if (place_resolve(text, out, err) < 0)
			return -1;
	}
	out->is_near = place_is_near(&out->address);
	out->tls = https_client_context(!out->is_near, err);
	return out->tls == NULL ? -1 : 0;
}

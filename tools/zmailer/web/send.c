/* send.c - which listener gets the mail of POST /send
 *
 * In     the listeners of a configuration
 * Out    a word for zm-web
 * Spec   send.h; zmailer-web(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "tools/zmailer/web/send.h"

#include "base/banned.h"

enum nearness { NEAR_PATH, NEAR_LOOPBACK, NEAR_ALL, NEAR_NOT };

static enum nearness
listen_nearness(const struct conf_listen *one)
{
	const struct sockaddr_in *in = (const void *)&one->address;
	const struct sockaddr_in6 *in6 = (const void *)&one->address;

	if (one->address.ss_family == AF_UNIX)
		return NEAR_PATH;
	if (one->address.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ? NEAR_LOOPBACK :
		    IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr) ? NEAR_ALL :
		    NEAR_NOT;
	return ntohl(in->sin_addr.s_addr) >> 24 == 127 ? NEAR_LOOPBACK :
	    in->sin_addr.s_addr == htonl(INADDR_ANY) ? NEAR_ALL : NEAR_NOT;
}

static bool
listen_fits(const struct conf *conf, const struct conf_listen *one)
{
	return one->is_submission && !one->is_lmtp &&
	    conf->auth.kind != AUTH_NONE &&
	    (conf_has_certificate(conf) || (conf->auth.clear_loopback &&
	    !one->is_tls));
}

static void
listen_add(struct str *out, const struct conf_listen *one)
{
	bool is_ipv6 = one->address.ss_family == AF_INET6;
	const struct sockaddr_in *in = (const void *)&one->address;
	const struct sockaddr_in6 *in6 = (const void *)&one->address;
	char text[INET6_ADDRSTRLEN] = "";

	if (one->address.ss_family == AF_UNIX) {
		str_adds(out, one->text);
		return;
	}
	if (listen_nearness(one) == NEAR_ALL)
		strlcpy(text, is_ipv6 ? "::1" : "127.0.0.1", sizeof(text));
	else
		(void)inet_ntop(one->address.ss_family, is_ipv6 ?
		    (const void *)&in6->sin6_addr :
		    (const void *)&in->sin_addr, text, sizeof(text));
	str_addf(out, is_ipv6 ? "%s[%s]:%u" : "%s%s:%u", one->is_tls ?
	    "tls:" : "tcp:", text, ntohs(is_ipv6 ? in6->sin6_port :
	    in->sin_port));
}

void
web_send_place(const struct conf *conf, struct str *out)
{
	for (int near = NEAR_PATH; near < NEAR_NOT; near++)
		for (size_t i = 0; i < conf->listen_count; i++) {
			const struct conf_listen *one = &conf->listens[i];

			if ((int)listen_nearness(one) == near &&
			    listen_fits(conf, one)) {
				listen_add(out, one);
				return;
			}
		}
	str_adds(out, "none");
}

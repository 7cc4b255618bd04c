/* attributes.c - the arguments of XCLIENT and XFORWARD
 *
 *	attributes = 1*( SP attribute-name "=" xtext )
 *
 * In     the bytes after the verb
 * Out    values, decoded; or the refusal
 * Trusts nothing in a value, whoever sent it
 * Spec   Postfix, XCLIENT_README and XFORWARD_README; RFC 3461 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <string.h>

#include "grammar/smtp/xtext.h"
#include "smtpserver/command/attributes.h"

#include "base/banned.h"

static const struct attribute_row *
attribute_row_find(const struct attribute_row rows[], struct slice name)
{
	for (; rows->name != NULL; rows++)
		if (slice_is_nocase(name, rows->name))
			return rows;
	return NULL;
}

static bool
attribute_take(struct slice word, const struct attribute_row rows[],
    void *target, struct session_answer *out)
{
	struct slice name = slice_first(word, slice_find(word, '='));
	const struct attribute_row *row = attribute_row_find(rows, name);
	struct str value = STR_INIT;
	bool is_good, is_known;
	struct err err;

	if (row == NULL || name.n == word.n) {
		answer_set(out, 501, "5.5.4", "attribute " SLICE_FMT
		    " is not known here", SLICE_ARG(slice_first(name, 40)));
		return false;
	}
	is_good = xtext_decode(slice_from(word, name.n + 1), &value, &err) ==
	    0;
	is_known = !slice_is_nocase(str_slice(&value), "[UNAVAILABLE]") &&
	    !slice_is_nocase(str_slice(&value), "[TEMPUNAVAIL]");
	is_good = is_good && row->take(target, is_known ? str_slice(&value) :
	    SLICE(""), is_known);
	if (!is_good)
		answer_set(out, 501, "5.5.4", "attribute %s has a bad value",
		    row->name);
	str_release(&value);
	return is_good;
}

bool
attributes_take(struct slice args, const struct attribute_row rows[],
    void *target, struct session_answer *out)
{
	struct slice word;

	if (args.n == 0) {
		answer_set(out, 501, "5.5.4", "attributes are expected");
		return false;
	}
	while (slice_word(&args, &word))
		if (!attribute_take(word, rows, target, out))
			return false;
	return true;
}

static unsigned
endpoint_port(const struct sockaddr_storage *endpoint)
{
	return ntohs(endpoint->ss_family == AF_INET6 ?
	    ((const struct sockaddr_in6 *)endpoint)->sin6_port :
	    ((const struct sockaddr_in *)endpoint)->sin_port);
}

static void
endpoint_set_port(struct sockaddr_storage *endpoint, unsigned port)
{
	if (endpoint->ss_family == AF_INET6)
		((struct sockaddr_in6 *)endpoint)->sin6_port =
		    htons((uint16_t)port);
	else
		((struct sockaddr_in *)endpoint)->sin_port =
		    htons((uint16_t)port);
}

bool
attribute_address(struct sockaddr_storage *endpoint, struct slice value,
    bool is_known)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET };
	bool is_ipv6 = value.n > 5 &&
	    slice_is_nocase(slice_first(value, 5), "IPV6:");
	unsigned port = endpoint_port(endpoint);
	char text[INET6_ADDRSTRLEN];

	value = slice_from(value, is_ipv6 ? 5 : 0);
	if (value.n >= sizeof(text))
		return false;
	if (value.n > 0)
		memcpy(text, value.p, value.n);
	text[value.n] = '\0';
	memset(endpoint, 0, sizeof(*endpoint));
	if (is_ipv6 && inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
		memcpy(endpoint, &in6, sizeof(in6));
	else if (!is_known || (!is_ipv6 &&
	    inet_pton(AF_INET, text, &in.sin_addr) == 1))
		memcpy(endpoint, &in, sizeof(in));
	else
		return false;
	endpoint_set_port(endpoint, port);
	return true;
}

bool
attribute_port(struct sockaddr_storage *endpoint, struct slice value,
    bool is_known)
{
	uint64_t port = 0;

	if (is_known && !slice_number(value, 0, 65535, &port))
		return false;
	endpoint_set_port(endpoint, (unsigned)port);
	return true;
}

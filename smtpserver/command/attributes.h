/* attributes.h - the arguments of XCLIENT and XFORWARD
 *
 * Postfix's XCLIENT_README and XFORWARD_README.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_COMMAND_ATTRIBUTES_H
#define ZM_SMTPSERVER_COMMAND_ATTRIBUTES_H

#include "smtpserver/session/session.h"

/* value: decoded; is_known false: [UNAVAILABLE] or [TEMPUNAVAIL].
 * returns false when the value is bad. */
typedef bool attribute_fn(void *target, struct slice value, bool is_known);

struct attribute_row {
	const char	*name;
	attribute_fn	*take;
};

/* Take 1*( SP name "=" xtext ).  rows: ended by a row without name.
 * returns false when out has a refusal. */
bool attributes_take(struct slice args, const struct attribute_row rows[],
    void *target, struct session_answer *out);

/* "ADDR": an address, of IPv6 with "IPV6:" in front; into the address part of
 * endpoint, whose port stays.  "PORT": the other half.  An address that is
 * not known becomes 0.0.0.0, which no rule trusts. */
bool attribute_address(struct sockaddr_storage *endpoint, struct slice value,
    bool is_known);
bool attribute_port(struct sockaddr_storage *endpoint, struct slice value,
    bool is_known);

#endif

/* xforward.c - XFORWARD
 *
 *	xforward = "XFORWARD" 1*( SP attribute-name "=" xtext ) CRLF
 *	attribute-name = "NAME" / "ADDR" / "PORT" / "PROTO" / "HELO" /
 *	    "IDENT" / "SOURCE"
 *
 * Postfix, XFORWARD_README.  From peers that `trust ... xforward` lists:
 * where the next message came from first.  For the journal only; no rule
 * looks at it.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/attributes.h"
#include "smtpserver/command/commands.h"

#include "base/banned.h"

enum { FORWARD_BYTES_MAX = 1024 };	/* of one message, all commands */

static bool
xforward_keep(void *target, const char *name, struct slice value)
{
	struct str *out = target;

	if (out->len + value.n > FORWARD_BYTES_MAX)
		return false;
	str_addf(out, "%s%s=" SLICE_FMT, out->len > 0 ? " " : "", name,
	    SLICE_ARG(value));
	return true;
}

static bool
xforward_name(void *target, struct slice value, bool is_known)
{
	return xforward_keep(target, "name", value);
}

static bool
xforward_addr(void *target, struct slice value, bool is_known)
{
	struct sockaddr_storage ignored = { .ss_family = AF_INET };

	return attribute_address(&ignored, value, is_known) &&
	    xforward_keep(target, "addr", value);
}

static bool
xforward_port(void *target, struct slice value, bool is_known)
{
	struct sockaddr_storage ignored = { .ss_family = AF_INET };

	return attribute_port(&ignored, value, is_known) &&
	    xforward_keep(target, "port", value);
}

static bool
xforward_proto(void *target, struct slice value, bool is_known)
{
	return xforward_keep(target, "proto", value);
}

static bool
xforward_helo(void *target, struct slice value, bool is_known)
{
	return xforward_keep(target, "helo", value);
}

static bool
xforward_ident(void *target, struct slice value, bool is_known)
{
	return xforward_keep(target, "ident", value);
}

static bool
xforward_source(void *target, struct slice value, bool is_known)
{
	return (!is_known || slice_is_nocase(value, "LOCAL") ||
	    slice_is_nocase(value, "REMOTE")) &&
	    xforward_keep(target, "source", value);
}

static const struct attribute_row rows[] = {
	{ "NAME", xforward_name },
	{ "ADDR", xforward_addr },
	{ "PORT", xforward_port },
	{ "PROTO", xforward_proto },
	{ "HELO", xforward_helo },
	{ "IDENT", xforward_ident },
	{ "SOURCE", xforward_source },
	{ NULL, NULL }
};

void
cmd_xforward(struct session *session, struct slice args,
    struct session_answer *out)
{
	size_t before = session->forward.len;

	if ((session->trust & 1u << TRUST_XFORWARD) == 0) {
		answer_set(out, 550, "5.7.0", "not from here");
	} else if (attributes_take(args, rows, &session->forward, out)) {
		answer_set(out, 250, "2.0.0", "ok");
	} else {
		session->forward.len = before;
		if (before > 0)
			session->forward.buf[before] = '\0';
		else
			str_reset(&session->forward);
	}
}

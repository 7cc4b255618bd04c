/* xclient.c - XCLIENT
 *
 *	xclient = "XCLIENT" 1*( SP attribute-name "=" xtext ) CRLF
 *	attribute-name = "NAME" / "ADDR" / "PORT" / "PROTO" / "HELO" /
 *	    "LOGIN" / "DESTADDR" / "DESTPORT"
 *
 * Postfix, XCLIENT_README.  From peers that `trust ... xclient` lists: the
 * session begins again, with a client who is what was said.  DESTADDR and
 * DESTPORT are checked and dropped.
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <string.h>

#include "journal/event.h"
#include "smtpserver/command/attributes.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/recipient/permit.h"

#include "base/banned.h"

struct xclient {
	struct sockaddr_storage	 client, server;
	struct str		 name, helo, user;
	bool			 is_esmtp, has_name;
};

/* Values go into Received fields and files of lines: names only. */
static bool
xclient_name_keep(struct str *out, struct slice value, bool is_known)
{
	str_reset(out);
	str_add_slice(out, value);
	return !is_known || domain_parse(value, NULL) == 0;
}

static bool
xclient_name(void *target, struct slice value, bool is_known)
{
	((struct xclient *)target)->has_name = true;
	return xclient_name_keep(&((struct xclient *)target)->name, value,
	    is_known);
}

static bool
xclient_helo(void *target, struct slice value, bool is_known)
{
	return xclient_name_keep(&((struct xclient *)target)->helo, value,
	    is_known);
}

static bool
xclient_addr(void *target, struct slice value, bool is_known)
{
	return attribute_address(&((struct xclient *)target)->client, value,
	    is_known);
}

static bool
xclient_port(void *target, struct slice value, bool is_known)
{
	return attribute_port(&((struct xclient *)target)->client, value,
	    is_known);
}

static bool
xclient_destaddr(void *target, struct slice value, bool is_known)
{
	return attribute_address(&((struct xclient *)target)->server, value,
	    is_known);
}

static bool
xclient_destport(void *target, struct slice value, bool is_known)
{
	return attribute_port(&((struct xclient *)target)->server, value,
	    is_known);
}

static bool
xclient_proto(void *target, struct slice value, bool is_known)
{
	struct xclient *x = target;

	x->is_esmtp = slice_is_nocase(value, "ESMTP");
	return x->is_esmtp || slice_is_nocase(value, "SMTP");
}

static bool
xclient_login(void *target, struct slice value, bool is_known)
{
	struct str *user = &((struct xclient *)target)->user;

	str_reset(user);
	str_add_slice(user, value);
	return value.n <= LOCAL_MAX_BYTES + 1 + DOMAIN_MAX_BYTES;
}

static const struct attribute_row rows[] = {
	{ "NAME", xclient_name },
	{ "ADDR", xclient_addr },
	{ "PORT", xclient_port },
	{ "PROTO", xclient_proto },
	{ "HELO", xclient_helo },
	{ "LOGIN", xclient_login },
	{ "DESTADDR", xclient_destaddr },
	{ "DESTPORT", xclient_destport },
	{ NULL, NULL }
};

static void
xclient_note(const struct session *session, const char *was)
{
	event(EV_SESSION_XCLIENT, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id), "peer", slice_of(was),
	    "name", str_slice(&session->name),
	    "helo", str_slice(&session->helo),
	    "user", str_slice(&session->user), NULL);
}

/* What was known of the old client is not true of this one.  A name that was
 * said stands for what the DNS would be asked (policy/fit.c, "name"). */
static void
xclient_renew_facts(struct session *session, const struct xclient *x)
{
	struct str question = STR_INIT;
	char text[INET6_ADDRSTRLEN];
	bool is_ipv6 = x->client.ss_family == AF_INET6;

	permit_end_client(session);
	if (!x->has_name)
		return;
	inet_ntop(x->client.ss_family, is_ipv6 ?
	    (const void *)&((const struct sockaddr_in6 *)&x->client)->
	    sin6_addr : (const void *)&((const struct sockaddr_in *)&x->
	    client)->sin_addr, text, sizeof(text));
	str_addf(&question, "name %s", text);
	facts_add(&session->facts[FACT_SESSION], "dns", str_slice(&question),
	    ASK_ANSWERED, x->name.len > 0 ? str_slice(&x->name) : SLICE("-"));
	str_release(&question);
}

/* The session is that client's from now on. */
static void
xclient_become(struct session *session, struct xclient *x)
{
	char was[CLIENT_TEXT_BYTES], text[CLIENT_TEXT_BYTES];
	struct client client = session->client;

	memcpy(was, session->client.text, sizeof(was));
	net_endpoint_text((const struct sockaddr *)&x->client, text,
	    sizeof(text));
	if (client_parse(slice_of(text), slice_of(session->client.listener),
	    &client, NULL) == 0) {
		client.is_tls = session->client.is_tls;
		session_set_client(session, &client);
	}
	str_reset(&session->helo);
	str_add_slice(&session->helo, str_slice(&x->helo));
	str_reset(&session->name);
	str_add_slice(&session->name, str_slice(&x->name));
	str_reset(&session->user);
	str_add_slice(&session->user, str_slice(&x->user));
	session->is_esmtp = x->is_esmtp;
	xclient_renew_facts(session, x);
	session_filter_restart(session);
	xclient_note(session, was);
}

void
cmd_xclient(struct session *session, struct slice args,
    struct session_answer *out)
{
	struct xclient x = {
		.name = STR_INIT, .helo = STR_INIT, .user = STR_INIT,
	};
	socklen_t length;

	if ((session->trust & 1u << TRUST_XCLIENT) == 0) {
		answer_set(out, 550, "5.7.0", "not from here");
		return;
	}
	(void)net_endpoint_parse(slice_of(session->client.text), 0, &x.client,
	    &length, NULL);
	x.server = x.client;
	str_add_slice(&x.name, str_slice(&session->name));
	str_add_slice(&x.user, str_slice(&session->user));
	if (attributes_take(args, rows, &x, out)) {
		xclient_become(session, &x);
		answer_set(out, 220, NULL, "%s ESMTP zmailer",
		    session->settings->conf->host);
	}
	str_release(&x.name);
	str_release(&x.helo);
	str_release(&x.user);
}

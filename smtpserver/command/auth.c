/* auth.c - AUTH
 *
 *	auth-command = "AUTH" SP sasl-mech [SP initial-response] CRLF
 *	initial-response = base64 / "="
 *
 * RFC 4954 section 4.  Begins the exchange; step_auth goes on with it.
 * Offered to our own users only: on listeners with the word submission, on
 * an encrypted connection (or from loopback, if the configuration says so).
 *
 * SPDX-License-Identifier: ISC
 */
#include "journal/counters.h"
#include "base/mem.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/command/keywords.h"
#include "smtpserver/session/auth.h"

#include "base/banned.h"

/* ---- what is offered -------------------------------------------------- */

static bool
is_loopback(const struct client *client)
{
	struct slice text = slice_of(client->text);

	return slice_starts(text, "127.") || slice_starts(text, "[::1]:");
}

static bool
is_private(const struct session *session)
{
	return session->tls != NULL ||
	    (session->settings->conf->auth.clear_loopback &&
	    is_loopback(&session->client));
}

bool
auth_is_offered(const struct session *session)
{
	return session->settings->conf->auth.kind != AUTH_NONE &&
	    session->service->is_submission && is_private(session);
}

void
auth_add_mechanisms(const struct session *session, struct str *out)
{
	const struct conf_auth *auth = &session->settings->conf->auth;
	struct slice rest = slice_of(auth->mechanisms), name;

	while (slice_word(&rest, &name)) {
		if (slice_ends(name, "-PLUS") && (session->tls == NULL ||
		    auth->kind == AUTH_DOVECOT))
			continue;	/* there is no channel to bind */
		str_addf(out, "%s" SLICE_FMT, out->len > 0 ? " " : "",
		    SLICE_ARG(name));
	}
}

/* ---- the command ------------------------------------------------------ */

struct kept_place {		/* one block: what login borrows */
	struct login_place	 place;
	char			 exporter[64], end_point[64];
};

/* The connection as a mechanism sees it; once a session. */
static const struct login_place *
auth_place(struct session *session, struct slice offers)
{
	struct kept_place *kept = session->login_place;
	struct login_place *place;

	if (kept == NULL)
		session->login_place = kept = mem_alloc(1, sizeof(*kept));
	place = &kept->place;
	place->server = session->client.listener;
	place->client = session->client.text;
	place->is_encrypted = session->tls != NULL;
	place->exporter = (struct slice){ kept->exporter,
	    stream_tls_binding(session->stream, TLS_EXPORTER,
	    kept->exporter) };
	place->end_point = (struct slice){ kept->end_point,
	    stream_tls_binding(session->stream, TLS_SERVER_END_POINT,
	    kept->end_point) };
	place->offers_binding = false;
	for (struct slice name; slice_word(&offers, &name);)
		if (slice_ends(name, "-PLUS"))
			place->offers_binding = true;
	return place;
}

static bool
auth_is_refused(const struct session *session, struct session_answer *out)
{
	if (!keyword_is_on(session, EHLO_AUTH)) {
		if (session->service->is_submission && session->tls == NULL &&
		    session->settings->conf->auth.kind != AUTH_NONE)
			answer_set(out, 538, "5.7.11",
			    "logging in needs an encrypted connection");
		else
			answer_set(out, 502, "5.5.1",
			    "AUTH is not implemented");
	} else if (session_phase(session) == PHASE_START) {
		answer_set(out, 503, "5.5.1", "say EHLO first");
	} else if (session->user.len > 0) {
		answer_set(out, 503, "5.5.1", "you are logged in already");
	} else if (session->transaction != NULL) {
		answer_set(out, 503, "5.5.1", "a message is under way");
	} else {
		return false;
	}
	return true;
}

void
cmd_auth(struct session *session, struct slice args, struct session_answer *out)
{
	bool is_relay = session->settings->conf->auth.kind == AUTH_DOVECOT;
	struct str offers = STR_INIT;
	struct slice mechanism, initial = { NULL, 0 };

	if (auth_is_refused(session, out))
		return;
	if (auth_address_is_barred(session)) {
		counters_limit("auth-failures");
		answer_set(out, 421, "4.7.0", "%s too many failed logins",
		    session->settings->conf->host);
		session->end_reason = "auth failures";
		return;
	}
	if (!slice_word(&args, &mechanism) || (slice_word(&args, &initial) &&
	    slice_trim(args).n > 0)) {
		answer_set(out, 501, "5.5.4",
		    "AUTH takes a mechanism and a first response");
		return;
	}
	auth_add_mechanisms(session, &offers);
	session->login = login_new(mechanism, str_slice(&offers), is_relay,
	    auth_place(session, str_slice(&offers)));
	str_release(&offers);
	if (session->login == NULL) {
		answer_set(out, 504, "5.5.4",
		    "this mechanism is not offered");
		return;
	}
	session->login->has_initial = initial.n > 0;
	if (session->login->has_initial)
		str_add_slice(&session->login->initial, initial);
	out->code = 0;			/* step_auth says it */
}

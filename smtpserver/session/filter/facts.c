/* facts.c - what filters are told of a session
 *
 * In     a session, the command under way
 * Out    JSON (milter/facts.h)
 * Holds  nothing
 * Spec   milter/filter.h; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>

#include "base/json.h"
#include "smtpserver/session/filter/filter.h"

#include "base/banned.h"

static void
facts_say(struct str *out, enum filter_fact fact, struct slice value)
{
	json_text(out, filter_fact_keys[fact], value);
}

/* "192.0.2.1:25", "[2001:db8::1]:25" */
static void
facts_split(struct slice endpoint, struct slice *out_host,
    struct slice *out_port)
{
	size_t at = endpoint.n;

	while (at > 0 && endpoint.p[at - 1] != ':')
		at--;
	*out_port = slice_from(endpoint, at);
	*out_host = slice_first(endpoint, at > 0 ? at - 1 : 0);
	if (out_host->n > 1 && out_host->p[0] == '[')
		*out_host = slice_first(slice_from(*out_host, 1),
		    out_host->n - 2);
}

static void
facts_say_endpoint(struct str *out, struct slice endpoint,
    enum filter_fact host,
    enum filter_fact port)
{
	struct slice parts[2];

	facts_split(endpoint, &parts[0], &parts[1]);
	facts_say(out, host, parts[0]);
	facts_say(out, port, parts[1]);
}

/* ---- the client's name ------------------------------------------------ */

/* returns false when it is asked for first */
static bool
facts_name_find(struct session *session, struct slice addr, answered_fn *fn,
    struct slice *out_name, const char **out_resolve)
{
	struct str question = STR_INIT;
	const struct fact *fact;

	*out_resolve = "OK";
	*out_name = str_slice(&session->name);
	if (out_name->n == 0 && (slice_is(addr, "127.0.0.1") ||
	    slice_is(addr, "::1")))
		*out_name = SLICE("localhost");
	if (out_name->n > 0)
		return true;
	str_addf(&question, "name " SLICE_FMT, SLICE_ARG(addr));
	fact = facts_find(&session->facts[FACT_SESSION], "dns",
	    str_slice(&question));
	if (fact == NULL) {
		session_ask(session, "dns", str_slice(&question), 0, fn);
		session->ask->scope = FACT_SESSION;
	} else if (fact->state == ASK_TROUBLE) {
		*out_resolve = "TEMP";
	} else if (slice_is(fact->answer, "-")) {
		*out_resolve = "FAIL";
	} else {
		*out_name = fact->answer;
	}
	str_release(&question);
	return fact != NULL;
}

static bool
facts_add_client(struct session *session, answered_fn *fn, struct str *out)
{
	struct slice endpoint = slice_of(session->client.text), addr, port,
	    name;
	struct str text = STR_INIT;
	const char *resolve;

	facts_split(endpoint, &addr, &port);
	if (!facts_name_find(session, addr, fn, &name, &resolve))
		return false;
	facts_say(out, FILTER_HOST, slice_of(session->settings->conf->host));
	facts_say(out, FILTER_MTA, SLICE("zmailer"));
	facts_say(out, FILTER_SESSION, slice_of(session->id));
	facts_say(out, FILTER_LISTENER, slice_of(session->client.listener));
	facts_say_endpoint(out, slice_of(session->client.listener),
	    FILTER_DAEMON_ADDR, FILTER_DAEMON_PORT);
	facts_say(out, FILTER_ADDR, addr);
	facts_say(out, FILTER_PORT, port);
	str_addf(&text, name.n > 0 ? SLICE_FMT : "[" SLICE_FMT "]",
	    SLICE_ARG(name.n > 0 ? name : addr));
	facts_say(out, FILTER_NAME, str_slice(&text));
	if (name.n > 0)
		str_addf(&text, " [" SLICE_FMT "]", SLICE_ARG(addr));
	facts_say(out, FILTER_PEER, str_slice(&text));
	facts_say(out, FILTER_RESOLVE, slice_of(resolve));
	json_number(out, filter_fact_keys[FILTER_CONNECTIONS],
	    session->client.connections);
	str_release(&text);
	return true;
}

/* ---- the others ------------------------------------------------------- */

static void
facts_add_greeting(const struct session *session, struct slice helo,
    struct str *out)
{
	const struct tls_info *tls = session->tls;

	facts_say(out, FILTER_HELO, helo);
	if (tls == NULL)
		return;
	facts_say(out, FILTER_TLS_VERSION, slice_of(tls->version));
	facts_say(out, FILTER_CIPHER, slice_of(tls->cipher));
	json_number(out, filter_fact_keys[FILTER_CIPHER_BITS], tls->bits);
	facts_say(out, FILTER_CERT_SUBJECT, slice_of(tls->subject));
	facts_say(out, FILTER_CERT_ISSUER, slice_of(tls->issuer));
	facts_say(out, FILTER_CN_SUBJECT, slice_of(tls->peer));
	facts_say(out, FILTER_CN_ISSUER, slice_of(tls->issuer_peer));
	facts_say(out, FILTER_CERT_PRINT, slice_of(tls->fingerprint));
	facts_say(out, FILTER_VERIFY, tls->fingerprint[0] == '\0' ?
	    SLICE("NO") :
	    tls->is_verified ? SLICE("OK") : SLICE("FAIL"));
}

static void
facts_say_path(struct str *out, const struct path *path, enum filter_fact whole,
    enum filter_fact host)
{
	struct str text = STR_INIT;

	if (!path_is_null(path))
		path_add(&text, path);
	facts_say(out, whole, str_slice(&text));
	facts_say(out, host, path->domain);
	str_release(&text);
}

/* The value of AUTH= among the parameters; or empty. */
static struct slice
facts_author(struct slice params)
{
	struct slice word, name;

	while (slice_word(&params, &word)) {
		name = slice_first(word, slice_find(word, '='));
		if (slice_is_nocase(name, "AUTH"))
			return slice_from(word, name.n + 1);
	}
	return slice_first(params, 0);
}

static void
facts_add_mail(const struct session *session, const struct filter_extra *extra,
    struct str *out)
{
	facts_say(out, FILTER_USER, str_slice(&session->user));
	facts_say(out, FILTER_AUTH_TYPE, slice_of(session->mechanism));
	facts_say(out, FILTER_AUTH_AUTHOR, facts_author(extra->params));
	facts_say_path(out, extra->path, FILTER_SENDER, FILTER_SENDER_HOST);
	facts_say(out, FILTER_SENDER_PARAMS, extra->params);
	facts_say(out, FILTER_MAILER, session->is_esmtp ? SLICE("esmtp") :
	    SLICE("smtp"));
}

static void
facts_add_rcpt(const struct session *session, const struct filter_extra *extra,
    struct str *out)
{
	bool is_ours = session->transaction->rcpt_is_ours;

	facts_say_path(out, extra->path, FILTER_RCPT, FILTER_RCPT_HOST);
	facts_say_path(out, extra->path, FILTER_RCPT_ADDR, FILTER_RCPT_HOST);
	facts_say(out, FILTER_RCPT_MAILER, is_ours ? SLICE("local") :
	    SLICE("esmtp"));
	facts_say(out, FILTER_RCPT_PARAMS, extra->params);
}

bool
filter_facts_add(struct session *session, enum talk_step step,
    const struct filter_extra *extra, answered_fn *fn, struct str *out)
{
	const struct transaction *t = session->transaction;

	json_open(out);
	if (session->filter->key[0] == '\0' &&
	    !facts_add_client(session, fn, out))
		return false;
	if (step == TALK_HELO)
		facts_add_greeting(session, extra->text, out);
	if (step == TALK_MAIL) {
		facts_add_greeting(session, str_slice(&session->helo), out);
		facts_add_mail(session, extra, out);
	}
	if (step == TALK_RCPT)
		facts_add_rcpt(session, extra, out);
	if (step == TALK_UNKNOWN)
		facts_say(out, FILTER_LINE, extra->text);
	if (step == TALK_EOB) {
		facts_say(out, FILTER_ID, slice_of(t->draft.id));
		facts_say(out, FILTER_FILE, slice_of(t->draft.name));
	}
	json_close(out);
	out->buf[--out->len] = '\0';	/* its LF */
	return true;
}

/* login.c - a name and a password for a session, and the password again
 *
 * In     forms of anybody
 * Out    a session, or words; event web.login
 * Trusts nobody: tries are counted before a password is looked at
 * Spec   serving.h, doc/WEB.md
 *
 * A password is looked at in this process: it serves nobody for a tenth of a
 * second, at most once in ATTEMPTS_PAUSE_MS.
 *
 * SPDX-License-Identifier: ISC
 */
#include <event2/http.h>
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "web/page/html.h"
#include "web/page/layout.h"
#include "web/pages/form.h"
#include "web/serve/reply.h"
#include "web/serve/serving.h"

#include "base/banned.h"

static const char *
login_client(const struct web_request *request)
{
	char *address = NULL;
	uint16_t port;

	evhttp_connection_get_peer(evhttp_request_get_connection(
	    request->http), &address, &port);
	return address != NULL ? address : "";
}

static void
login_add_field(struct str *out, const char *name, const char *label,
    const char *type, const char *fill)
{
	str_addf(out, "<p><label for=\"%s\">%s</label><br><input id=\"%s\" "
	    "name=\"%s\" type=\"%s\" autocomplete=\"%s\" required></p>\n",
	    name, label, name, name, type, fill);
}

/* The form; csrf NULL: nobody is known yet. */
static void
login_show(const struct web_request *request, int status, const char *words,
    const char *csrf)
{
	struct str out = STR_INIT;

	layout_begin(&out, csrf == NULL ? "Log in" : "Your password again",
	    csrf == NULL ? "/login" : "/unlock", csrf != NULL);
	if (words != NULL) {
		str_adds(&out, "<p role=\"alert\">");
		html_words(&out, words);
		str_adds(&out, "</p>\n");
	}
	str_addf(&out, "<form class=\"new\" method=\"post\" action=\"%s\">\n",
	    csrf == NULL ? "/login" : "/unlock");
	if (csrf == NULL)
		login_add_field(&out, "user", "User", "text", "username");
	else
		html_hidden(&out, "csrf", slice_of(csrf));
	login_add_field(&out, "password", "Password", "password",
	    "current-password");
	str_addf(&out, "<p><button>%s</button></p></form>\n", csrf == NULL ?
	    "Log in" : "Go on");
	layout_end(&out, csrf);
	reply_send(request->http, status, "text/html; charset=utf-8",
	    str_slice(&out));
	str_release(&out);
}

static void
login_refuse(const struct web_request *request, int status, const char *words,
    const char *csrf)
{
	if (request->wants_json)
		reply_error(request->http, status, words, true, csrf != NULL);
	else
		login_show(request, status, words, csrf);
}

void
login_want_again(const struct web_request *request,
    const struct web_session *session)
{
	login_refuse(request, 403, "Orders want your password again.  Give "
	    "it, then order once more.", session->csrf);
}

static void
login_note(const struct web_request *request, struct slice user, bool is_good)
{
	event(EV_WEB_LOGIN, NULL, "user", user, "client",
	    slice_of(login_client(request)), "ok", is_good ? SLICE("yes") :
	    SLICE("no"), NULL);
	event_flush();
}

/* Is it this user's password?  Else the browser has its answer. */
static bool
login_check(struct serving *serving, const struct web_request *request,
    struct slice user, struct slice password, const char *csrf)
{
	const char *client = login_client(request);
	int64_t now_ms = clock_steady_ms();
	const char *words = attempts_refuse(&serving->attempts, client, user,
	    now_ms);
	enum password_result result;
	struct err err;

	if (words != NULL) {
		login_refuse(request, 429, words, csrf);
		return false;
	}
	result = people_check(&serving->people, user, password, &err);
	login_note(request, user, result == PASSWORD_FITS);
	if (result == PASSWORD_FITS) {
		attempts_good(&serving->attempts, client, user);
		return true;
	}
	if (result == PASSWORD_TROUBLE) {
		warning("login: %s", err.text);
		login_refuse(request, 503, "Passwords cannot be looked up "
		    "now: the desk's output says why.", csrf);
		return false;
	}
	attempts_failed(&serving->attempts, client, user, now_ms);
	login_refuse(request, 403, "That is not the password of a user who "
	    "may come in here.", csrf);
	return false;
}

/* ---- log in ------------------------------------------------------------- */

void
login_form(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	if (!serving->is_network)
		reply_error(request->http, 404, "There is no such page.",
		    request->wants_json, session != NULL);
	else if (session != NULL)
		reply_go(request->http, "/", NULL);
	else
		login_show(request, 200, NULL, NULL);
}

static void
login_start(struct serving *serving, const struct web_request *request,
    struct slice user)
{
	int64_t now_ms = clock_steady_ms();
	struct web_session *session = session_place(serving->all, now_ms);
	char cookie[SERVING_COOKIE_BYTES];
	struct err err;

	session_begin(session, user, people_role(&serving->people, user,
	    &err), now_ms);
	serving_cookie(serving, session, cookie);
	reply_go(request->http, "/", cookie);
	explicit_bzero(cookie, sizeof(cookie));
}

/* A session that the browser has is over, whoever comes. */
void
login_enter(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	struct arena *arena = arena_new();
	struct slice user, password;
	struct form form;

	if (!serving->is_network)
		reply_error(request->http, 404, "There is no such page.",
		    request->wants_json, session != NULL);
	else if (form_read_fields(request->body, arena, &form) < 0)
		login_refuse(request, 400, "The fields cannot be read.",
		    NULL);
	else {
		user = form_get(&form, "user");
		password = form_get(&form, "password");
		if (login_check(serving, request, user, password, NULL)) {
			if (session != NULL)
				session_leave(session);
			login_start(serving, request, user);
		}
		explicit_bzero((char *)(uintptr_t)password.p, password.n);
	}
	arena_free(&arena);
}

bool
login_is_current(struct serving *serving, struct web_session *session)
{
	struct err err;

	if (!serving->is_network || session == NULL)
		return true;
	if (people_role(&serving->people, slice_of(session->user), &err) ==
	    session->role)
		return true;
	session_leave(session);
	return false;
}

/* ---- the password again ------------------------------------------------- */

void
login_unlock_form(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	if (session_may_act(session, clock_steady_ms()))
		reply_go(request->http, "/", NULL);
	else
		login_show(request, 200, NULL, session->csrf);
}

void
login_unlock(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	struct arena *arena = arena_new();
	struct slice password;
	struct form form;

	if (form_read_fields(request->body, arena, &form) < 0 ||
	    !session_is_ours(session, form_get(&form, "csrf"))) {
		reply_error(request->http, 403, "The form is not of this "
		    "session: load its page again.", request->wants_json,
		    true);
	} else if (session->user[0] == '\0') {
		reply_go(request->http, "/", NULL);
	} else {
		password = form_get(&form, "password");
		if (login_check(serving, request, slice_of(session->user),
		    password, session->csrf)) {
			session->act_until_ms = clock_steady_ms() +
			    SESSION_ACT_MS;
			reply_go(request->http, "/", NULL);
		}
		explicit_bzero((char *)(uintptr_t)password.p, password.n);
	}
	arena_free(&arena);
}

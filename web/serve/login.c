/* login.c - a link, or a name and a password, for a session; its end
 *
 * In     forms of anybody
 * Out    a session, or words
 * Holds  what somebody gave, until the process that orders has judged it
 * Trusts nobody: who may come in is not decided here
 * Spec   serving.h, web/ask/wire.h, doc/WEB.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <event2/http.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
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
	    csrf == NULL ? "/login" : "/unlock", LAYOUT_NOBODY);
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

/* ---- what the process that orders says ---------------------------------- */

struct entry {			/* somebody knocks */
	struct serving	*serving;
	struct web_request request;
	struct arena	*arena;
	struct question	 question;
	struct web_session *session;	/* for which he gave the password
					 * again; NULL */
	unsigned	 serial;	/* its, then */
	bool		 is_link;
	char		*password;	/* in the arena; NULL */
	char		 csrf[SESSION_SECRET_BYTES];
};

static struct entry *
entry_new(struct serving *serving, const struct web_request *request,
    struct web_session *session)
{
	static const char *const nothing[] = { NULL };
	struct entry *entry = mem_alloc(1, sizeof(*entry));

	*entry = (struct entry){ .serving = serving, .request = *request,
	    .arena = arena_new(), .session = session,
	    .serial = session != NULL ? session->serial : 0 };
	if (session != NULL)
		strlcpy(entry->csrf, session->csrf, sizeof(entry->csrf));
	question_door(&entry->question, nothing);
	return entry;
}

static void
entry_free(struct entry *entry)
{
	struct str *text = &entry->question.answer.text;

	explicit_bzero(text->buf, text->len);
	if (entry->password != NULL)
		explicit_bzero(entry->password, strlen(entry->password));
	question_release(&entry->question);
	arena_free(&entry->arena);
	mem_free(&entry);
}

/* Its status stands in the answer. */
static void
entry_refuse(const struct entry *entry)
{
	const struct question_answer *answer = &entry->question.answer;
	uint64_t status = 503;

	if (answer->kind == ANSWER_DENIED)
		(void)slice_number(str_slice(&answer->text), 400, 599,
		    &status);
	if (entry->is_link || (answer->kind == ANSWER_ABSENT))
		reply_error(entry->request.http, (int)status,
		    answer->trouble.buf, entry->request.wants_json, false);
	else
		login_refuse(&entry->request, (int)status,
		    answer->trouble.buf, entry->session != NULL ?
		    entry->csrf : NULL);
}

/* "SECRET ROLE USER". */
static void
entry_let_in(const struct entry *entry)
{
	struct serving *serving = entry->serving;
	struct slice rest = str_slice(&entry->question.answer.text);
	struct slice secret = SLICE(""), word = SLICE("");
	char cookie[SERVING_COOKIE_BYTES];
	struct web_session *session;
	uint64_t role = ROLE_NONE;

	(void)slice_word(&rest, &secret);
	if (slice_word(&rest, &word))
		(void)slice_number(word, 0, ROLE_ADMINISTER, &role);
	if (entry->session != NULL) {
		if (entry->session->serial == entry->serial)
			entry->session->act_until_ms = clock_steady_ms() +
			    SESSION_ACT_MS;
		reply_go(entry->request.http, "/", NULL);
		return;
	}
	session = session_place(serving->all, clock_steady_ms());
	session_copy(session, secret, slice_trim(rest), (enum role)role,
	    clock_steady_ms());
	serving_cookie(serving, session, cookie);
	reply_go(entry->request.http, "/", cookie);
	explicit_bzero(cookie, sizeof(cookie));
}

static void
entry_on_answer(void *context)
{
	struct entry *entry = context;

	if (entry->question.answer.kind == ANSWER_GOOD)
		entry_let_in(entry);
	else
		entry_refuse(entry);
	entry_free(entry);
}

static void
entry_ask(struct entry *entry, const char *const *words)
{
	question_door(&entry->question, words);
	ask_begin(&entry->question, entry_on_answer, entry);
}

/* ---- the link ----------------------------------------------------------- */

/* The cookie is of this port: browsers send those of one host to all its
 * ports. */
void
login_open(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	const char *words[] = { "open", NULL, NULL };
	struct entry *entry;

	if (evhttp_request_get_command(request->http) != EVHTTP_REQ_GET) {
		reply_error(request->http, 403, "A link is opened by GET.",
		    request->wants_json, false);
		return;
	}
	entry = entry_new(serving, request, NULL);
	entry->is_link = true;
	words[1] = slice_dup(entry->arena, rest);
	entry_ask(entry, words);
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

/* A session that the browser has is over, whoever comes. */
void
login_enter(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	const char *words[] = { "login", login_client(request), NULL, NULL,
	    session != NULL ? session->cookie : "", NULL };
	struct entry *entry;
	struct form form;

	if (!serving->is_network) {
		reply_error(request->http, 404, "There is no such page.",
		    request->wants_json, session != NULL);
		return;
	}
	entry = entry_new(serving, request, NULL);
	if (form_read_fields(request->body, entry->arena, &form) < 0) {
		login_refuse(request, 400, "The fields cannot be read.",
		    NULL);
		entry_free(entry);
		return;
	}
	words[2] = slice_dup(entry->arena, form_get(&form, "user"));
	entry->password = slice_dup(entry->arena, form_get(&form,
	    "password"));
	words[3] = entry->password;
	entry_ask(entry, words);
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
	const char *words[] = { "unlock", login_client(request),
	    session->cookie, NULL, NULL };
	struct entry *entry = entry_new(serving, request, session);
	struct form form;

	if (form_read_fields(request->body, entry->arena, &form) < 0 ||
	    !session_is_ours(session, form_get(&form, "csrf"))) {
		reply_error(request->http, 403, "The form is not of this "
		    "session: load its page again.", request->wants_json,
		    true);
	} else if (session->user[0] == '\0') {
		reply_go(request->http, "/", NULL);
	} else {
		entry->password = slice_dup(entry->arena, form_get(&form,
		    "password"));
		words[3] = entry->password;
		entry_ask(entry, words);
		return;
	}
	entry_free(entry);
}

/* ---- the end ------------------------------------------------------------ */

static void
login_on_left(void *context)
{
	struct entry *entry = context;

	entry_free(entry);
}

void
login_leave(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	const char *words[] = { "leave", session->cookie, NULL };
	struct entry *entry = entry_new(serving, request, NULL);
	struct form form;
	bool is_ours = form_read_fields(request->body, entry->arena, &form) ==
	    0 && session_is_ours(session, form_get(&form, "csrf"));

	reply_error(request->http, is_ours ? 200 : 403, is_ours ?
	    "The session is over." : "The form is not of this session.",
	    request->wants_json, !is_ours);
	if (!is_ours) {
		entry_free(entry);
		return;
	}
	question_door(&entry->question, words);
	ask_begin(&entry->question, login_on_left, entry);
	session_leave(session);
}

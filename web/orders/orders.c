/* orders.c - the process that orders for the one that serves
 *
 * In     calls over the socket pair
 * Out    answers; verbs that run
 * Holds  the sessions, at most CALLS_MAX calls
 * Trusts no call: who serves reads what strangers send, and may have been
 *        taken over
 * Spec   orders.h, web/ask/wire.h, rows.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/title.h"
#include "journal/event.h"
#include "tls/pair.h"
#include "web/orders/calls.h"
#include "web/orders/help.h"
#include "web/orders/intake.h"
#include "web/orders/match.h"

#include "base/banned.h"

enum { LOOK_AT_ROLES_S = 1 };

struct call {
	struct orders	*orders;
	unsigned	 serial;
	struct arena	*arena;
	struct question	 question;
	enum match_help	 help;
	const char	*domains;	/* NULL: of all mail */
	char		 who[sizeof(((struct web_session *)0)->user) + 8];
	struct question	 before;	/* is the message one of theirs? */
	const char	*id;		/* it, then */
};

/* ---- answers ------------------------------------------------------------ */

void
orders_answer(struct orders *orders, unsigned serial,
    const struct question_answer *answer)
{
	struct str head = STR_INIT;

	wire_add_answer(&head, serial, answer);
	(void)bufferevent_write(orders->bev, head.buf, head.len);
	(void)bufferevent_write(orders->bev, answer->text.buf,
	    answer->text.len);
	(void)bufferevent_write(orders->bev, answer->trouble.buf,
	    answer->trouble.len);
	str_release(&head);
}

static void
orders_say(struct orders *orders, unsigned serial,
    enum question_answer_kind kind, const char *text, const char *trouble)
{
	struct question_answer answer = { .kind = kind, .text = STR_INIT,
	    .trouble = STR_INIT };

	str_adds(&answer.text, text);
	str_adds(&answer.trouble, trouble);
	orders_answer(orders, serial, &answer);
	explicit_bzero(answer.text.buf, answer.text.len);
	str_release(&answer.text);
	str_release(&answer.trouble);
}

void
orders_let_in(struct orders *orders, unsigned serial,
    const struct web_session *session)
{
	char text[SESSION_SECRET_BYTES + sizeof(session->user) + 16];

	snprintf(text, sizeof(text), "%s %d %s", session->cookie,
	    (int)session->role, session->user);
	orders_say(orders, serial, ANSWER_GOOD, text, "");
	explicit_bzero(text, sizeof(text));
}

void
orders_refuse(struct orders *orders, unsigned serial, int status,
    const char *words)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", status);
	orders_say(orders, serial, ANSWER_DENIED, text, words);
}

/* ---- sessions ----------------------------------------------------------- */

void
orders_end_session(struct orders *orders, struct web_session *session)
{
	orders_say(orders, WIRE_PUSHED, ANSWER_GOOD, session->cookie, "");
	session_leave(session);
}

char *
orders_domains(struct orders *orders, const struct web_session *session)
{
	return orders->domains[session - orders->all];
}

bool
orders_role_holds(struct orders *orders, struct web_session *session)
{
	char domains[PEOPLE_DOMAINS_BYTES];
	struct err err;

	if (!orders->site->is_network || (people_role(&orders->people,
	    slice_of(session->user), domains, &err) == session->role &&
	    strcmp(domains, orders_domains(orders, session)) == 0))
		return true;
	orders_end_session(orders, session);
	return false;
}

static void
orders_on_look(evutil_socket_t fd, short what, void *context)
{
	struct orders *orders = context;
	int64_t now_ms = clock_steady_ms();

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (!session_is_over(&orders->all[i], now_ms))
			(void)orders_role_holds(orders, &orders->all[i]);
}

static void
orders_open_link(struct orders *orders, unsigned serial,
    const char *const *words)
{
	if (!orders->site->is_network && session_open(&orders->all[0],
	    slice_of(words[0]), clock_steady_ms()))
		orders_let_in(orders, serial, &orders->all[0]);
	else
		orders_refuse(orders, serial, 403, "This link was used, or is "
		    "too old: start zmailer web again for another one.");
}

static void
orders_leave(struct orders *orders, unsigned serial,
    const char *const *words)
{
	struct web_session *session = session_of(orders->all,
	    slice_of(words[0]), false, clock_steady_ms());

	if (session != NULL)
		session_leave(session);
	orders_say(orders, serial, ANSWER_GOOD, "", "");
}

/* ---- questions ---------------------------------------------------------- */

static void
call_free(struct call *call)
{
	call->orders->calls--;
	question_release(&call->question);
	question_release(&call->before);
	arena_free(&call->arena);
	mem_free(&call);
}

/* What the answer says of others is not for who helps these domains. */
static void
call_sift(struct call *call)
{
	struct question_answer *answer = &call->question.answer;

	if (call->help == MATCH_SIFT) {
		if (help_sift(call->domains, &answer->text))
			return;
		answer->kind = ANSWER_NONE;
		str_reset(&answer->trouble);
	} else if (call->question.is_socket) {
		help_sift_recipients(call->domains, help_is_from(
		    call->domains, str_slice(&call->before.answer.text)),
		    &answer->text);
	} else if (strcmp(call->question.words[0], "list") == 0) {
		help_sift_recipients(call->domains, false, &answer->text);
	}
}

static void
call_on_answer(void *context)
{
	struct call *call = context;

	if (call->domains != NULL)
		call_sift(call);
	orders_answer(call->orders, call->serial, &call->question.answer);
	call_free(call);
}

static void
call_start(struct call *call)
{
	errand_begin(&call->orders->asker, &call->question, call->who,
	    call_on_answer, call);
}

/* What is not there and what is of others is told by the same words. */
static void
call_on_before(void *context)
{
	struct call *call = context;
	struct question_answer *answer = &call->before.answer;

	if (help_has_message(str_slice(&answer->text), slice_of(call->id))) {
		call_start(call);
		return;
	}
	if (answer->kind == ANSWER_GOOD)
		answer->kind = ANSWER_NONE;
	str_reset(&answer->text);
	orders_answer(call->orders, call->serial, answer);
	call_free(call);
}

/* Is the message there, for who helps these domains? */
static void
call_look_first(struct call *call)
{
	const char *words[] = { "list", "--json", "--limit", "50", "--",
	    help_narrow(call->arena, call->domains, slice_of(arena_printf(
	    call->arena, "id:%s", call->id))), NULL };

	question_verb(&call->before, "", words);
	errand_begin(&call->orders->asker, &call->before, call->who,
	    call_on_before, call);
}

/* A selector that is one, joined with theirs; a verb without one gets it.
 * -1: it is none. */
static int
call_narrow(struct call *call, const struct match *match)
{
	const char **words = call->question.words;
	struct slice typed = SLICE("all");
	size_t n = 0;

	while (words[n] != NULL)
		n++;
	if (match->selector_at >= 0) {
		n = (size_t)match->selector_at;
		typed = slice_of(words[n]);
	} else if (n + 2 < QUESTION_WORDS_MAX) {
		words[n++] = "--";
		words[n + 1] = NULL;
	} else {
		return -1;
	}
	words[n] = help_narrow(call->arena, call->domains, typed);
	return words[n] == NULL ? -1 : 0;
}

/* Words of a verb, or a request, as the rows have them.  False: they are of no
 * row. */
static bool
call_take(struct call *call, bool is_socket, const char *const *words,
    struct match *out)
{
	const char *kept[QUESTION_WORDS_MAX] = { NULL };
	size_t n = 0;

	if (is_socket) {
		question_socket(&call->question, "", "");
		str_reset(&call->question.request);
		return words[0] != NULL && match_socket(slice_of(words[0]),
		    &call->question.request, out);
	}
	while (words[n] != NULL && n < QUESTION_WORDS_MAX - 1) {
		kept[n] = slice_dup(call->arena, slice_of(words[n]));
		n++;
	}
	question_verb(&call->question, "", kept);
	return words[n] == NULL && match_verb(call->question.words, out);
}

/* NULL: this session may ask that; else why not. */
static const char *
call_refusal(const struct web_session *session, const struct match *match)
{
	if (!role_may(session->role, match->role, match->help !=
	    MATCH_ALONE))
		return "Your role may not do that.";
	if (match->role > ROLE_LOOK &&
	    !session_may_act(session, clock_steady_ms()))
		return "Orders want your password again.";
	return NULL;
}

/* The id stands in the words, or in the request. */
static const char *
call_message(struct call *call, const struct match *match)
{
	struct str id = STR_INIT;
	const char *out = "";

	if (!call->question.is_socket)
		return call->question.words[match->id_at];
	str_addc(&call->question.request, '}');
	if (json_get(str_slice(&call->question.request), "id", &id) &&
	    match_is_id(str_slice(&id)))
		out = slice_dup(call->arena, str_slice(&id));
	str_truncate(&call->question.request,
	    call->question.request.len - 1);
	str_release(&id);
	return out;
}

/* NULL: it is on its way; else why not. */
static const char *
call_go(struct call *call, const struct web_session *session,
    const struct match *match)
{
	if (session->user[0] != '\0')
		snprintf(call->who, sizeof(call->who), "%s(web)",
		    session->user);
	call->help = match->help;
	if (session->role == ROLE_HELP)
		call->domains = slice_dup(call->arena, slice_of(
		    orders_domains(call->orders, session)));
	if (call->domains != NULL && match->help == MATCH_NARROW &&
	    call_narrow(call, match) < 0)
		return "The box has no selector.";
	if (call->domains == NULL || match->help != MATCH_FIRST) {
		call_start(call);
		return NULL;
	}
	call->id = call_message(call, match);
	if (call->id[0] == '\0')
		return "That is no id of a message.";
	call_look_first(call);
	return NULL;
}

/* SECRET page|live verb|socket WORD... */
static void
orders_ask(struct orders *orders, unsigned serial, const char *const *words)
{
	struct web_session *session = session_of(orders->all,
	    slice_of(words[0]), strcmp(words[1], "live") != 0,
	    clock_steady_ms());
	bool is_socket = strcmp(words[2], "socket") == 0;
	const char *why = NULL;
	struct match match;
	struct call *call;

	if (session == NULL || !orders_role_holds(orders, session)) {
		orders_say(orders, serial, ANSWER_OVER, "", "The session is "
		    "over.");
		return;
	}
	if (orders->calls == CALLS_MAX) {
		orders_say(orders, serial, ANSWER_TROUBLE, "", "The desk asks "
		    "too much at a time.");
		return;
	}
	call = mem_alloc(1, sizeof(*call));
	*call = (struct call){ .orders = orders, .serial = serial,
	    .arena = arena_new() };
	question_socket(&call->before, "", "");
	orders->calls++;
	why = call_take(call, is_socket, words + 3, &match) ?
	    call_refusal(session, &match) : "The desk has no such order.";
	if (why == NULL)
		why = call_go(call, session, &match);
	if (why == NULL)
		return;
	orders_say(orders, serial, ANSWER_DENIED, "", why);
	call_free(call);
}

/* ---- the certificate ---------------------------------------------------- */

static void
orders_renew(struct orders *orders, unsigned serial,
    const char *const *words)
{
	struct question_answer answer = { .kind = ANSWER_GOOD,
	    .text = STR_INIT, .trouble = STR_INIT };
	struct err err = { "there is none" };

	if (orders->site->certificate == NULL ||
	    tls_file_read(orders->site->certificate, &answer.text, &err) < 0 ||
	    tls_file_read(orders->site->key, &answer.trouble, &err) < 0)
		orders_say(orders, serial, ANSWER_TROUBLE, "", err.text);
	else
		orders_answer(orders, serial, &answer);
	if (answer.trouble.cap > 0)
		explicit_bzero(answer.trouble.buf, answer.trouble.cap);
	str_release(&answer.text);
	str_release(&answer.trouble);
}

/* ---- calls -------------------------------------------------------------- */

static void
orders_print_link(const struct orders *orders)
{
	const struct orders_site *site = orders->site;

	if (site->is_network) {
		printf("https://%s/login\n", site->host);
		fputs("Users of `auth` who have a role log in there.  Ctrl-C "
		    "ends the desk.\n", stderr);
	} else {
		printf("http://%s/open/%s\n", site->host,
		    orders->all[0].link);
		fprintf(stderr, "The link lets one browser in, once, within "
		    "%d minutes.  Ctrl-C ends the desk.\n",
		    SESSION_LINK_MS / 60000);
	}
	fflush(stdout);
}

/* Who serves is locked in: people may come. */
static void
orders_ready(struct orders *orders, unsigned serial,
    const char *const *words)
{
	if (!orders->is_ready)
		orders_print_link(orders);
	orders->is_ready = true;
	orders_say(orders, serial, ANSWER_GOOD, "", "");
}

static const struct {
	const char	*name;
	size_t		 least, most;	/* words after it */
	void		(*answer)(struct orders *orders, unsigned serial,
			    const char *const *words);
} call_rows[] = {
	{ "ask", 4, WIRE_WORDS_MAX, orders_ask },
	{ "open", 1, 1, orders_open_link },
	{ "login", 4, 4, passwords_login },
	{ "unlock", 3, 3, passwords_unlock },
	{ "leave", 1, 1, orders_leave },
	{ "renew", 0, 0, orders_renew },
	{ "ready", 0, 0, orders_ready },
	{ "trace", 3, 3, intake_trace },
};

/* 0; -1: it is no call. */
static int
orders_take_call(struct orders *orders, struct slice line)
{
	const char *words[WIRE_WORDS_MAX];
	struct arena *arena = arena_new();
	unsigned serial;
	int result = -1;
	size_t count = 0;

	if (wire_read_call(line, arena, &serial, words) == 0) {
		while (words[count] != NULL)
			count++;
		for (size_t i = 0; i < sizeof(call_rows) /
		    sizeof(call_rows[0]); i++)
			if (strcmp(call_rows[i].name, words[0]) == 0 &&
			    count - 1 >= call_rows[i].least &&
			    count - 1 <= call_rows[i].most) {
				call_rows[i].answer(orders, serial, words + 1);
				result = 0;
			}
	}
	arena_free(&arena);
	return result;
}

static void
orders_end(void)
{
	errand_end_all();
	_exit(0);
}

static void
orders_on_read(struct bufferevent *bev, void *context)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	char *line;
	size_t n;

	while ((line = evbuffer_readln(in, &n, EVBUFFER_EOL_LF)) != NULL) {
		int result = orders_take_call(context,
		    (struct slice){ line, n });

		explicit_bzero(line, n);
		free(line);
		if (result < 0) {
			warning("who serves asked what is no question: the "
			    "desk is closed");
			orders_end();
		}
	}
	if (evbuffer_get_length(in) > WIRE_LINE_BYTES_MAX)
		orders_end();
}

/* Nobody serves any more: what runs is for nobody. */
static void
orders_on_event(struct bufferevent *bev, short what, void *context)
{
	orders_end();
}

/* ---- the process -------------------------------------------------------- */

/* Ctrl-C and a terminal that is closed are for who serves: its end is ours. */
static void
orders_take_signals(void)
{
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
#ifdef HAVE_SYS_PRCTL_H
	(void)prctl(PR_SET_NAME, "zm-web-orders", 0, 0, 0);
#endif
}

static void
orders_watch_roles(struct orders *orders)
{
	struct timeval every = { .tv_sec = LOOK_AT_ROLES_S };
	struct event *timer = event_new(orders->asker.base, -1, EV_PERSIST,
	    orders_on_look, orders);

	if (timer == NULL || event_add(timer, &every) < 0)
		panic("no timer");
}

static void
orders_open(struct orders *orders, const struct orders_site *site, int fd)
{
	*orders = (struct orders){ .site = site, .asker = site->asker };
	orders->asker.base = event_base_new();
	if (orders->asker.base == NULL)
		panic("no memory for a loop");
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		session_init(&orders->all[i], clock_steady_ms());
	if (site->is_network) {
		(void)event_open(site->conf->log_dir);
		attempts_init(&orders->attempts);
		people_open(&orders->people, &site->conf->auth, site->users,
		    site->roles, orders->asker.run_dir);
		orders_watch_roles(orders);
	}
	errand_open(orders->asker.base);
	orders->bev = bufferevent_socket_new(orders->asker.base, fd, 0);
	if (orders->bev == NULL)
		panic("no memory for a socket");
	bufferevent_setcb(orders->bev, orders_on_read, NULL, orders_on_event,
	    orders);
	bufferevent_setwatermark(orders->bev, EV_READ, 0,
	    WIRE_LINE_BYTES_MAX + 1);
	(void)bufferevent_enable(orders->bev, EV_READ | EV_WRITE);
}

static void
orders_run(const struct orders_site *site, const struct orders_ends *ends)
	__attribute__((noreturn));
static void
orders_run(const struct orders_site *site, const struct orders_ends *ends)
{
	static struct orders orders;

	orders_take_signals();
	orders_open(&orders, site, ends->calls);
	if (ends->dial >= 0)
		intake_open(&orders, ends->dial);
	(void)event_base_dispatch(orders.asker.base);
	_exit(EXIT_FATAL);
}

/* Two ends of a pair, neither of which waits.  0 or -1. */
static int
orders_pair(int *out_ours, int *out_theirs, struct err *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
	    ends) < 0)
		return err_sys(err, "a socket pair");
	*out_ours = ends[0];
	*out_theirs = ends[1];
	return 0;
}

int
orders_start(const struct orders_site *site, int shut, struct orders_ends *out,
    struct err *err)
{
	struct orders_ends theirs = { -1, -1 };
	pid_t pid;

	*out = theirs;
	if (orders_pair(&out->calls, &theirs.calls, err) < 0 ||
	    (site->submit_length > 0 &&
	    orders_pair(&out->dial, &theirs.dial, err) < 0))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(shut);
		close(out->calls);
		if (out->dial >= 0)
			close(out->dial);
		orders_run(site, &theirs);
	}
	close(theirs.calls);
	if (theirs.dial >= 0)
		close(theirs.dial);
	return pid < 0 ? err_sys(err, "a process") : 0;
}

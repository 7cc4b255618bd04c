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
#include "base/mem.h"
#include "base/title.h"
#include "journal/event.h"
#include "tls/pair.h"
#include "web/orders/calls.h"
#include "web/orders/intake.h"

#include "base/banned.h"

enum { LOOK_AT_ROLES_S = 1 };

/* ---- answers ------------------------------------------------------------ */

void
orders_answer(struct order_desk *orders, unsigned serial,
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

void
orders_say(struct order_desk *orders, unsigned serial,
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
orders_let_in(struct order_desk *orders, unsigned serial,
    const struct web_session *session)
{
	char text[SESSION_SECRET_BYTES + sizeof(session->user) + 16];

	snprintf(text, sizeof(text), "%s %d %s", session->cookie,
	    (int)session->role, session->user);
	orders_say(orders, serial, ANSWER_GOOD, text, "");
	explicit_bzero(text, sizeof(text));
}

void
orders_refuse(struct order_desk *orders, unsigned serial, int status,
    const char *words)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", status);
	orders_say(orders, serial, ANSWER_DENIED, text, words);
}

/* ---- sessions ----------------------------------------------------------- */

void
orders_end_session(struct order_desk *orders, struct web_session *session)
{
	orders_say(orders, WIRE_PUSHED, ANSWER_GOOD, session->cookie, "");
	session_leave(session);
}

char *
orders_domains(struct order_desk *orders, const struct web_session *session)
{
	return orders->domains[session - orders->all];
}

bool
orders_role_holds(struct order_desk *orders, struct web_session *session)
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
	struct order_desk *orders = context;
	int64_t now_ms = clock_steady_ms();

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (!session_is_over(&orders->all[i], now_ms))
			(void)orders_role_holds(orders, &orders->all[i]);
}

static void
orders_open_link(struct order_desk *orders, unsigned serial,
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
orders_leave(struct order_desk *orders, unsigned serial,
    const char *const *words)
{
	struct web_session *session = session_of(orders->all,
	    slice_of(words[0]), false, clock_steady_ms());

	if (session != NULL)
		session_leave(session);
	orders_say(orders, serial, ANSWER_GOOD, "", "");
}

/* ---- the certificate ---------------------------------------------------- */

static void
orders_renew(struct order_desk *orders, unsigned serial,
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
orders_print_link(const struct order_desk *orders)
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
orders_ready(struct order_desk *orders, unsigned serial,
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
	void		(*answer)(struct order_desk *orders, unsigned serial,
			    const char *const *words);
} call_rows[] = {
	{ "ask", 4, WIRE_WORDS_MAX, questions_carry },
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
orders_take_call(struct order_desk *orders, struct slice line)
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
		mem_free(&line);
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
orders_watch_roles(struct order_desk *orders)
{
	struct timeval every = { .tv_sec = LOOK_AT_ROLES_S };
	struct event *timer = event_new(orders->asker.base, -1, EV_PERSIST,
	    orders_on_look, orders);

	if (timer == NULL || event_add(timer, &every) < 0)
		panic("no timer");
}

static void
orders_furnish(struct order_desk *orders, const struct orders_site *site,
    int fd)
{
	*orders = (struct order_desk){ .site = site, .asker = site->asker };
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
	static struct order_desk orders;

	orders_take_signals();
	orders_furnish(&orders, site, ends->calls);
	if (ends->dial >= 0)
		intake_dial_open(&orders, ends->dial);
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

/* passwords.c - is it the password of who may come in?
 *
 * In     names and passwords of anybody
 * Out    sessions; event web.login
 * Holds  a child for each password that is looked at: it takes a tenth of a
 *        second, or as long as the server that is asked for it
 * Trusts nobody: tries are counted before a password is looked at
 * Spec   calls.h, wire.h, doc/WEB.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/wait.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "journal/event.h"
#include "web/orders/calls.h"

#include "base/banned.h"

enum { CHECK_S = 30 };

struct login {
	struct order_desk	*orders;
	unsigned	 serial;
	bool		 is_unlock;
	char		 user[PEOPLE_NAME_BYTES];
	char		 client[64];
	char		 secret[SESSION_SECRET_BYTES];	/* of a session that
							 * he has, or "" */
	pid_t		 pid;
	int		 fd;
	struct event	*event;
	struct str	 said;		/* by the child: a letter, words */
};

/* ---- the child ---------------------------------------------------------- */

/* Its letter is '+', '-' or '?', with why. */
static void
login_check(const struct login *login, struct slice password, int fd)
    __attribute__((noreturn));
static void
login_check(const struct login *login, struct slice password, int fd)
{
	struct str said = STR_INIT;
	struct err err = { "" };
	enum password_result result;

	(void)close(bufferevent_getfd(login->orders->bev));
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)alarm(CHECK_S);
	result = people_check(&login->orders->people, slice_of(login->user),
	    password, login->client, &err);
	str_addc(&said, result == PASSWORD_FITS ? '+' :
	    result == PASSWORD_TROUBLE ? '?' : '-');
	if (result == PASSWORD_TROUBLE)
		str_adds(&said, err.text);
	(void)fd_write_all(fd, said.buf, said.len);
	_exit(0);
}

/* ---- what it says ------------------------------------------------------- */

static void
login_note(const struct login *login, bool is_good)
{
	event(EV_WEB_LOGIN, NULL, "user", slice_of(login->user), "client",
	    slice_of(login->client), "ok", is_good ? SLICE("yes") :
	    SLICE("no"), NULL);
	event_flush();
}

/* A new session, which ends the one that he had; or he may order again. */
static void
login_admit(const struct login *login)
{
	struct order_desk *orders = login->orders;
	int64_t now_ms = clock_steady_ms();
	struct web_session *session = session_of(orders->all,
	    slice_of(login->secret), login->is_unlock, now_ms);
	char domains[PEOPLE_DOMAINS_BYTES];
	struct err err;
	enum role role;

	attempts_good(&orders->attempts, login->client,
	    slice_of(login->user));
	if (login->is_unlock) {
		if (session == NULL) {
			orders_refuse(orders, login->serial, 403,
			    "The session is over.");
			return;
		}
		session->act_until_ms = now_ms + SESSION_ACT_MS;
		orders_let_in(orders, login->serial, session);
		return;
	}
	role = people_role(&orders->people, slice_of(login->user), domains,
	    &err);
	if (role == ROLE_NONE) {	/* a moment ago he had one */
		orders_refuse(orders, login->serial, 403, "That is not the "
		    "password of a user who may come in here.");
		return;
	}
	if (session != NULL)
		orders_end_session(orders, session);
	session = session_place(orders->all, now_ms);
	if (!session_is_over(session, now_ms))
		orders_end_session(orders, session);
	session_begin(session, slice_of(login->user), role, now_ms);
	strlcpy(orders_domains(orders, session), domains, sizeof(domains));
	orders_let_in(orders, login->serial, session);
}

static void
login_judge(const struct login *login)
{
	struct order_desk *orders = login->orders;
	char letter = login->said.buf[0];

	login_note(login, letter == '+');
	if (letter == '+') {
		login_admit(login);
		return;
	}
	if (letter == '-') {
		attempts_failed(&orders->attempts, login->client,
		    slice_of(login->user), clock_steady_ms());
		orders_refuse(orders, login->serial, 403, "That is not the "
		    "password of a user who may come in here.");
		return;
	}
	warning("login: %s", letter == '?' ? login->said.buf + 1 :
	    "the check gave no answer in time");
	orders_refuse(orders, login->serial, 503, "Passwords cannot be looked "
	    "up now: the desk's output says why.");
}

static void
login_drop(struct login *login)
{
	login->orders->logins--;
	event_free(login->event);
	close(login->fd);
	str_release(&login->said);
	explicit_bzero(login->secret, sizeof(login->secret));
	mem_free(&login);
}

/* The child's alarm ends it; its end is that of the pipe. */
static void
login_on_read(evutil_socket_t fd, short what, void *context)
{
	struct login *login = context;
	char piece[ERR_TEXT_BYTES];
	ssize_t n = read(fd, piece, sizeof(piece));

	if (n > 0 && login->said.len + (size_t)n <= 2 * sizeof(piece)) {
		str_add(&login->said, piece, (size_t)n);
		return;
	}
	(void)waitpid(login->pid, NULL, 0);
	login_judge(login);
	login_drop(login);
}

/* ---- calls -------------------------------------------------------------- */

static int
login_start(struct login *login, struct slice password)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	login->pid = fork();
	if (login->pid == 0)
		login_check(login, password, ends[1]);
	close(ends[1]);
	login->fd = ends[0];
	login->event = login->pid < 0 ? NULL : event_new(
	    login->orders->asker.base, ends[0], EV_READ | EV_PERSIST,
	    login_on_read, login);
	if (login->event != NULL && event_add(login->event, NULL) == 0)
		return 0;
	close(ends[0]);
	return -1;
}

/* Who may try, tries. */
static void
login_weigh(struct order_desk *orders, const struct login *whose,
    struct slice password)
{
	const char *words = attempts_refuse(&orders->attempts, whose->client,
	    slice_of(whose->user), clock_steady_ms());
	struct login *login;

	if (words == NULL && orders->logins == LOGINS_MAX)
		words = "Others are logging in: try again in a moment.";
	if (words != NULL) {
		orders_refuse(orders, whose->serial, 429, words);
		return;
	}
	login = mem_alloc(1, sizeof(*login));
	*login = *whose;
	str_init(&login->said);
	if (login_start(login, password) < 0) {
		mem_free(&login);
		orders_refuse(orders, whose->serial, 503, "No password can be "
		    "looked at now.");
		return;
	}
	orders->logins++;
}

void
passwords_login(struct order_desk *orders, unsigned serial,
    const char *const *words)
{
	struct login login = { .orders = orders, .serial = serial };

	if (!orders->site->is_network) {
		orders_refuse(orders, serial, 404, "There is no such page.");
		return;
	}
	strlcpy(login.client, words[0], sizeof(login.client));
	/* one that is too long is nobody's, cut or not */
	strlcpy(login.user, words[1], sizeof(login.user));
	strlcpy(login.secret, words[3], sizeof(login.secret));
	if (strlen(words[1]) >= sizeof(login.user))
		login.user[0] = '\0';
	login_weigh(orders, &login, slice_of(words[2]));
}

void
passwords_unlock(struct order_desk *orders, unsigned serial,
    const char *const *words)
{
	struct login login = { .orders = orders, .serial = serial,
	    .is_unlock = true };
	struct web_session *session = session_of(orders->all,
	    slice_of(words[1]), true, clock_steady_ms());

	if (session == NULL || session->user[0] == '\0') {
		orders_refuse(orders, serial, 403, "The session is over.");
		return;
	}
	strlcpy(login.client, words[0], sizeof(login.client));
	strlcpy(login.user, session->user, sizeof(login.user));
	strlcpy(login.secret, words[1], sizeof(login.secret));
	login_weigh(orders, &login, slice_of(words[2]));
}

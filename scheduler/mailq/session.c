/* session.c - one client of the mailq protocol
 *
 * In     lines of the client; answers of the scheduler
 * Out    answers in ZMailer's words; requests of the control protocol
 * Holds  the user, once the client proved to be one
 * Trusts nobody: lines, time and failed logins are bounded; it has a
 *        connection that can do no more than the protocol's verbs
 * Spec   doc/protocol/mailq.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/json.h"
#include "daemon/sandbox.h"
#include "grammar/mailq.h"
#include "io/peer.h"
#include "tls/digest.h"
#include "scheduler/mailq/listener.h"
#include "scheduler/mailq/session.h"
#include "grammar/mailq_show.h"

#include "base/banned.h"

enum { CHALLENGE_BYTES = 160, FROM_BYTES = 64 };

struct session {
	const struct conf_mailq *conf;
	struct peer	 client, scheduler;
	int64_t		 end_ms;	/* of the session */
	struct str	 users;		/* the file */
	struct net	 address;	/* of the client */
	char		 from[FROM_BYTES];
	char		 challenge[CHALLENGE_BYTES];
	char		 user[MAILQ_WORD_BYTES_MAX + 1];
	unsigned	 rights;
	unsigned	 failures;
	bool		 is_in, is_over;
};

static void
mailq_say(struct session *session, const char *line)
{
	str_adds(&session->client.out, line);
	str_addc(&session->client.out, '\n');
}

/* A line of a peer without its end; false: it is gone, late, or says too
 * much.  It is taken by the next call of line_take. */
static bool
mailq_wait_line(struct session *session, struct peer *peer, size_t most,
    struct slice *out)
{
	for (;;) {
		struct slice unread = peer_unread(peer);
		size_t n = slice_find(unread, '\n');

		if (n < unread.n && n <= most) {
			*out = slice_first(unread, n);
			return true;
		}
		if (unread.n > most || peer_fill(peer, session->end_ms,
		    NULL) != PEER_OK)
			return false;
	}
}

/* ---- asking the scheduler -------------------------------------------- */

/* Send a request and go through the lines of its answer.  *out_last is the
 * last one.  False: the scheduler is gone. */
static bool
mailq_ask_scheduler(struct session *session, struct slice request, show_fn *fn,
    struct show *show, struct str *out_last)
{
	struct peer *scheduler = &session->scheduler;
	struct slice line;

	str_reset(out_last);
	str_add_slice(&scheduler->out, request);
	if (peer_flush(scheduler, session->end_ms, NULL) != PEER_OK)
		return false;
	while (mailq_wait_line(session, scheduler, PEER_IN_BYTES_MAX / 2,
	    &line)) {
		size_t n = line.n + 1;

		if (n == 1) {
			peer_consume(scheduler, n);
			return true;
		}
		if (fn != NULL)
			fn(show, line, &session->client.out);
		str_reset(out_last);
		str_add_slice(out_last, line);
		peer_consume(scheduler, n);
		if (session->client.out.len >= PEER_OUT_BYTES &&
		    peer_flush(&session->client, session->end_ms, NULL) !=
		    PEER_OK)
			return false;
	}
	return false;
}

static void
mailq_begin_request(struct str *out, const char *op)
{
	json_open(out);
	json_number(out, "v", 1);
	json_text(out, "op", slice_of(op));
}

/* ---- showing --------------------------------------------------------- */

static void
mailq_lost(struct session *session)
{
	session->is_over = true;
}

/* How many recipients there are, which `queue` does not tell. */
static void
mailq_count_rcpts(struct session *session, struct show *show)
{
	struct str request = STR_INIT, last = STR_INIT;

	mailq_begin_request(&request, "count");
	json_close(&request);
	if (!mailq_ask_scheduler(session, str_slice(&request), NULL, NULL,
	    &last))
		mailq_lost(session);
	show->recipients = json_get_number(str_slice(&last), "recipients");
	str_release(&request);
	str_release(&last);
}

/* Who is at each thread and how old its oldest is: more than the word
 * `queue` tells. */
#define QUEUE_OP "{\"v\":1,\"op\":\"queue\"}\n"

static void
mailq_show_words(struct session *session, const char *request, show_fn *fn,
    struct show *show)
{
	struct str last = STR_INIT;

	if (!session->is_over && !mailq_ask_scheduler(session,
	    slice_of(request), fn,
	    show,
	    &last))
		mailq_lost(session);
	str_release(&last);
}

static void
mailq_do_show(struct session *session, enum mailq_verb verb)
{
	struct show show = { .now_s = clock_wall_s() };

	mailq_say(session, "+OK until LF.LF");
	if (verb == MAILQ_VERB_SNMP || verb == MAILQ_VERB_COUNTERS)
		mailq_count_rcpts(session, &show);
	if (verb == MAILQ_VERB_SHORT)
		mailq_show_words(session, "groups\n", show_group, &show);
	else if (verb == MAILQ_VERB_COUNTERS)
		mailq_show_words(session, "queue\n", show_counters, &show);
	else if (verb == MAILQ_VERB_THREADS)
		mailq_show_words(session, QUEUE_OP, show_thread, &show);
	else if (verb == MAILQ_VERB_THREADS2)
		mailq_show_words(session, QUEUE_OP, show_thread2, &show);
	if (verb != MAILQ_VERB_COUNTERS && verb != MAILQ_VERB_THREADS2)
		mailq_show_words(session, "queue\n", show_totals, &show);
	mailq_say(session, ".");
}

/* Names of this protocol are no globs. */
static bool
mailq_is_plain(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '*' || text.p[i] == '?' ||
		    text.p[i] == '"' || text.p[i] == '\\' ||
		    (unsigned char)text.p[i] <= ' ')
			return false;
	return text.n > 0;
}

static void
mailq_request_thread(struct str *out, const char *op,
    const struct mailq_command *command)
{
	str_reset(out);
	mailq_begin_request(out, op);
	json_text(out, "channel", command->args[0]);
	json_text(out, "host", command->args[1]);
	json_close(out);
}

static void
mailq_show_thread(struct session *session, const struct mailq_command *command)
{
	char channel[MAILQ_WORD_BYTES_MAX + 1], host[MAILQ_WORD_BYTES_MAX + 1];
	struct show show = { .now_s = clock_wall_s(), .channel = channel,
	    .host = host };
	struct str request = STR_INIT, last = STR_INIT;

	snprintf(channel, sizeof(channel), SLICE_FMT,
	    SLICE_ARG(command->args[0]));
	snprintf(host, sizeof(host), SLICE_FMT, SLICE_ARG(command->args[1]));
	mailq_say(session, "+OK until LF.LF");
	mailq_request_thread(&request, "queue", command);
	mailq_show_words(session, request.buf, show_thread_head, &show);
	mailq_request_thread(&request, "list", command);
	if (!session->is_over && !mailq_ask_scheduler(session,
	    str_slice(&request),
	    show_rcpt,
	    &show, &last))
		mailq_lost(session);
	mailq_say(session, ".");
	str_release(&request);
	str_release(&last);
}

/* ---- doing ----------------------------------------------------------- */

static void
mailq_choose(struct str *out, const struct mailq_command *command)
{
	switch (command->verb) {
	case MAILQ_VERB_KILL_MSG:
	case MAILQ_VERB_RESCHEDULE_MSG:
	case MAILQ_VERB_REROUTE_MSG:
		json_text(out, "id", command->args[0]);
		break;
	case MAILQ_VERB_ETRN:
		json_text(out, "host", command->args[0]);
		break;
	default:
		json_text(out, "channel", command->args[0]);
		json_text(out, "host", command->args[1]);
		break;
	}
}

static void
mailq_add_done(struct session *session, enum mailq_verb verb, struct slice last)
{
	struct str *out = &session->client.out, words = STR_INIT;

	if (json_get(last, "error", &words))
		str_addf(out, "-%s\n", words.buf);
	else if (verb == MAILQ_VERB_ETRN)
		str_addf(out, "+OK; an ETRN %s.\n",
		    json_get_number(last, "messages") > 0 ?
		    "started something" : "didn't start anything");
	else
		str_addf(out, "+OK; %llu messages, %llu recipients.\n",
		    (unsigned long long)json_get_number(last, "messages"),
		    (unsigned long long)json_get_number(last, "recipients"));
	str_release(&words);
}

static void
mailq_do_order(struct session *session, const struct mailq_command *command)
{
	static const char *const ops[] = {
		[MAILQ_VERB_ETRN] = "etrn",
		[MAILQ_VERB_KILL_MSG] = "delete",
		[MAILQ_VERB_KILL_THREAD] = "delete",
		[MAILQ_VERB_RESCHEDULE_MSG] = "retry",
		[MAILQ_VERB_RESCHEDULE_THREAD] = "retry",
		[MAILQ_VERB_REROUTE_MSG] = "reroute",
		[MAILQ_VERB_REROUTE_THREAD] = "reroute",
	};
	struct str request = STR_INIT, last = STR_INIT;

	mailq_begin_request(&request, ops[command->verb]);
	mailq_choose(&request, command);
	json_text(&request, "who", slice_of(session->user));
	json_close(&request);
	if (mailq_ask_scheduler(session, str_slice(&request), NULL, NULL,
	    &last))
		mailq_add_done(session, command->verb, str_slice(&last));
	else
		mailq_lost(session);
	str_release(&request);
	str_release(&last);
}

/* ---- who it is ------------------------------------------------------- */

/* The user of that name who may come from there; any for the empty name. */
static bool
mailq_find_user(const struct session *session, struct slice name,
    struct mailq_user *out)
{
	struct slice rest = str_slice(&session->users), line;

	while (slice_cut(&rest, '\n', &line))
		if (mailq_user_parse(line, out, NULL) == MAILQ_LINE_USER &&
		    (name.n == 0 || slice_equal(out->name, name)) &&
		    mailq_user_admits(out, &session->address))
			return true;
	return false;
}

/* Does the digest prove the password?  32 digits are ZMailer's MD5 of
 * challenge and password, 64 an HMAC-SHA-256 of the challenge. */
static bool
mailq_is_proof(const struct session *session, struct slice password,
    struct slice hex)
{
	unsigned char want[DIGEST_BYTES_MAX], got[DIGEST_BYTES_MAX];
	struct slice challenge = slice_of(session->challenge);
	struct str both = STR_INIT;
	bool is_good = false;

	if (mailq_digest_parse(hex, got, DIGEST_SHA256_BYTES) == 0) {
		is_good = digest_hmac(DIGEST_SHA256, password, challenge,
		    want) == 0 && digest_equal(want, got,
		    DIGEST_SHA256_BYTES);
	} else if (!session->conf->is_sha256_only &&
	    mailq_digest_parse(hex, got, DIGEST_MD5_BYTES) == 0) {
		str_add_slice(&both, challenge);
		str_add_slice(&both, password);
		is_good = digest(DIGEST_MD5, str_slice(&both), want) == 0 &&
		    digest_equal(want, got, DIGEST_MD5_BYTES);
		str_release(&both);
	}
	return is_good;
}

static void
mailq_do_auth(struct session *session, const struct mailq_command *command)
{
	struct mailq_user user;
	bool is_known = mailq_find_user(session, command->args[0], &user);
	bool is_good;

	if (session->is_in) {
		mailq_say(session, "-BAD; you are logged in");
		return;
	}
	/* who is not there costs the same time */
	if (!is_known)
		user = (struct mailq_user){ .password = SLICE("nobody") };
	is_good = mailq_is_proof(session, user.password, command->args[1]) &&
	    is_known;
	event(EV_MAILQ_LOGIN, NULL, "user", slice_first(command->args[0], 64),
	    "client", slice_of(session->from), "ok",
	    slice_of(is_good ? "yes" : "no"), NULL);
	if (is_good) {
		snprintf(session->user, sizeof(session->user), SLICE_FMT,
		    SLICE_ARG(slice_first(user.name, 60)));
		session->rights = user.rights;
		session->is_in = true;
		mailq_say(session, "+OK; logged in");
		return;
	}
	mailq_say(session, "-BAD; wrong user or password");
	if (++session->failures >= MAILQ_LOGINS_MAX)
		session->is_over = true;
}

/* ---- one command ----------------------------------------------------- */

static void
mailq_do_command(struct session *session, struct slice line)
{
	struct mailq_command command;

	mailq_command_parse(line, &command);
	if (command.verb == MAILQ_VERB_QUIT) {
		mailq_say(session, "+Bye bye");
		session->is_over = true;
	} else if (command.verb == MAILQ_VERB_AUTH) {
		mailq_do_auth(session, &command);
	} else if (!session->is_in) {
		mailq_say(session, "-BAD; USER MUST AUTHENTICATE");
	} else if (command.verb == MAILQ_VERB_UNKNOWN) {
		mailq_say(session,
		    "-MAILQ2 unknown command; there are: SHOW, ETRN, "
		    "KILL, RESCHEDULE, REROUTE, QUIT");
	} else if ((session->rights & command.rights) == 0) {
		mailq_say(session, "-MAILQ2 refused by access control");
	} else if ((command.args[0].n > 0 &&
	    !mailq_is_plain(command.args[0])) ||
	    (command.args[1].n > 0 && !mailq_is_plain(command.args[1]))) {
		mailq_say(session, "-MAILQ2 that is no name of a thing");
	} else if (command.verb == MAILQ_VERB_THREAD) {
		mailq_show_thread(session, &command);
	} else if (command.verb < MAILQ_VERB_ETRN) {
		mailq_do_show(session, command.verb);
	} else {
		mailq_do_order(session, &command);
	}
}

static void
mailq_take_commands(struct session *session)
{
	struct slice line;

	while (!session->is_over && peer_flush(&session->client,
	    session->end_ms, NULL) == PEER_OK && mailq_wait_line(session,
	    &session->client, MAILQ_LINE_BYTES_MAX, &line)) {
		size_t n = line.n + 1;

		mailq_do_command(session, slice_trim(line));
		peer_consume(&session->client, n);
	}
	(void)peer_flush(&session->client, session->end_ms, NULL);
}

/* ---- the beginning --------------------------------------------------- */

static void
mailq_ask_address(struct session *session, int client)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t n = sizeof(address);

	(void)getpeername(client, (struct sockaddr *)&address, &n);
	if (address.ss_family == AF_INET || address.ss_family == AF_INET6) {
		net_of_sockaddr((struct sockaddr *)&address,
		    &session->address);
		net_endpoint_text((struct sockaddr *)&address, session->from,
		    sizeof(session->from));
		return;
	}
	(void)net_parse(SLICE("127.0.0.1"), &session->address, NULL);
	snprintf(session->from, sizeof(session->from), "unix");
}

static void
mailq_greet(struct session *session)
{
	struct mailq_user user;
	int64_t now_us;

	mailq_say(session, "version zmailer 2.0");
	if (!mailq_find_user(session, SLICE(""), &user)) {
		mailq_say(session, "550 NO ACCESS FOR YOU");
		session->is_over = true;
		return;
	}
	now_us = clock_wall_us();
	snprintf(session->challenge, sizeof(session->challenge),
	    "220 MAILQ-V2-CHALLENGE: %lld.%lld.%08x%08x sha-256",
	    (long long)(now_us / 1000000), (long long)(now_us % 1000000),
	    arc4random(), arc4random());
	mailq_say(session, session->challenge);
}

static void
mailq_refuse(struct session *session, const char *line)
{
	mailq_say(session, "version zmailer 2.0");
	mailq_say(session, line);
	session->is_over = true;
}

/* The file of users is read; nothing else is needed. */
static int
mailq_confine(const struct conf *conf, struct err *err)
{
	struct sandbox sandbox = { .appended = { conf->log_dir },
	    .appended_count = 1 };

	(void)clock_steady_ms();
	return sandbox_enter(&sandbox, err) < 0 ? -1 : 0;
}

void
mailq_session(const struct conf *conf, int client, int scheduler)
{
	struct session session = { .conf = &conf->mailq, .users = STR_INIT };
	struct err err;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	(void)alarm(MAILQ_SESSION_MS / 1000 + 10);
	peer_init(&session.client);
	peer_init(&session.scheduler);
	peer_adopt(&session.client, client);
	peer_adopt(&session.scheduler, scheduler);
	session.end_ms = clock_steady_ms() + MAILQ_SESSION_MS;
	mailq_ask_address(&session, client);
	if (conf_mailq_read(conf->mailq.users, &session.users, &err) < 0) {
		event(EV_MAILQ_USERS, NULL, "client", slice_of(session.from),
		    "reason", slice_of(err.text), NULL);
		mailq_refuse(&session, "450 the list of users is not in "
		    "order");
	} else if (mailq_confine(conf, &err) < 0) {
		warning("mailq: %s", err.text);
		mailq_refuse(&session, "450 not now");
	} else {
		mailq_greet(&session);
	}
	mailq_take_commands(&session);
	peer_release(&session.client);
	peer_release(&session.scheduler);
	str_release(&session.users);
}

/* keyring.c - a worker's side of the process that keeps the keys
 *
 * In     certificates, ticket keys, signatures
 * Out    a tls_server for the connections to come; "sign" lines
 * Holds  the set that was told last; questions that are out
 * Trusts the process, which the listener made; when it has gone, handshakes
 *        that need it fail and those under a ticket go on
 * Spec   keys.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "io/ipc.h"
#include "tls/link.h"
#include "smtpserver/tls/keyring.h"

#include "base/banned.h"

struct question {		/* on the stack of a fibre that sleeps */
	uint64_t		 id;
	struct tls_link		*link;		/* NULL: it blocks */
	struct str		*signature;
	bool			 is_answered, is_signed;
	int64_t			 until_ms;
	TAILQ_ENTRY(question)	 entry;
};

struct keyring {
	struct loop		*loop;
	struct timer		 timer;		/* when a question is late */
	int			 socket;	/* -1: it has gone */
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 outbox;
	struct str		 set, coming;	/* lines from begin to end */
	bool			 is_coming, has_set;
	bool			 needs_tls13;
	enum tls_ask		 ask;
	struct tls_tickets	*tickets;
	struct tls_server	*server;
	uint64_t		 ids;
	TAILQ_HEAD(, question)	 questions;	/* oldest first */
};

/* ---- signatures ------------------------------------------------------- */

static void
keyring_question_answer(struct keyring *keyring, struct question *question,
    struct slice letters)
{
	struct tls_link *link = question->link;

	TAILQ_REMOVE(&keyring->questions, question, entry);
	question->is_signed = letters.n > 0 &&
	    base64_decode(letters, question->signature, NULL) == 0;
	question->is_answered = true;
	if (link != NULL)
		tls_link_wake(link);	/* the question may be no more */
}

/* Those that waited too long, or all. */
static void
keyring_questions_refuse(struct keyring *keyring, int64_t until_ms)
{
	struct question *question;

	while ((question = TAILQ_FIRST(&keyring->questions)) != NULL &&
	    question->until_ms <= until_ms)
		keyring_question_answer(keyring, question,
		    (struct slice){ NULL, 0 });
}

/* Not while another handshake runs: it must not be woken inside that. */
static void
keyring_on_timer(void *context)
{
	struct keyring *keyring = context;
	struct question *question;

	keyring_questions_refuse(keyring, clock_steady_ms());
	question = TAILQ_FIRST(&keyring->questions);
	if (question != NULL)
		timer_set(keyring->loop, &keyring->timer, question->until_ms,
		    keyring_on_timer, keyring);
}

static void
keyring_answer_take(struct keyring *keyring, struct slice args)
{
	struct slice id_text, letters = { NULL, 0 };
	struct question *question;
	uint64_t id;

	if (!slice_word(&args, &id_text) ||
	    !slice_number(id_text, 1, UINT64_MAX, &id))
		return;
	(void)slice_word(&args, &letters);
	TAILQ_FOREACH(question, &keyring->questions, entry)
		if (question->id == id) {
			keyring_question_answer(keyring, question, letters);
			return;
		}
}

/* ---- the set ---------------------------------------------------------- */

static int keyring_sign(void *context, const struct tls_signing *what,
    struct str *out);

/* "a,b" -> "a b", as tls_server_add_remote wants them */
static void
keyring_names_add(struct str *out, struct slice names)
{
	for (size_t i = 0; i < names.n; i++)
		str_addc(out, names.p[i] == ',' ? ' ' : names.p[i]);
}

static int
keyring_pair_take(struct keyring *keyring, struct tls_server *server,
    struct slice args, struct err *err)
{
	struct slice number_text, name, letters;
	struct tls_remote remote = { 0, keyring_sign, keyring };
	struct str chain = STR_INIT, name_text = STR_INIT;
	uint64_t number;
	int result = -1;

	if (slice_word(&args, &number_text) && slice_word(&args, &name) &&
	    slice_word(&args, &letters) &&
	    slice_number(number_text, 1, UINT32_MAX, &number) &&
	    base64_decode(letters, &chain, err) == 0) {
		remote.number = (unsigned)number;
		keyring_names_add(&name_text, name);
		result = tls_server_add_remote(server, slice_is(name, "-") ?
		    NULL : name_text.buf, str_slice(&chain), &remote, err);
	}
	str_release(&chain);
	str_release(&name_text);
	return result;
}

static void
keyring_tickets_take(struct keyring *keyring, struct slice args)
{
	struct str current = STR_INIT, previous = STR_INIT;
	struct slice first, second;

	if (slice_word(&args, &first) && slice_word(&args, &second) &&
	    base64_decode(first, &current, NULL) == 0 &&
	    (slice_is(second, "-") ||
	    base64_decode(second, &previous, NULL) == 0))
		(void)tls_tickets_set(keyring->tickets, str_slice(&current),
		    str_slice(&previous));
	explicit_bzero(current.buf, current.len);
	explicit_bzero(previous.buf, previous.len);
	str_release(&current);
	str_release(&previous);
}

/* The words after the first line of the set that begins with verb. */
static struct slice
keyring_line_find(const struct str *set, const char *verb)
{
	struct slice rest = str_slice(set), line, word;

	while (slice_cut(&rest, '\n', &line))
		if (slice_word(&line, &word) && slice_is(word, verb))
			return slice_trim(line);
	return (struct slice){ NULL, 0 };
}

static int
keyring_pairs_take(struct keyring *keyring, struct tls_server *server)
{
	struct slice rest = str_slice(&keyring->set), line, verb;
	int count = 0;
	struct err err;

	while (slice_cut(&rest, '\n', &line)) {
		if (!slice_word(&line, &verb) || !slice_is(verb, "pair"))
			continue;
		if (keyring_pair_take(keyring, server, line, &err) == 0)
			count++;
		else
			warning("a tls certificate is left out: %s",
			    err.text);
	}
	return count;
}

/* A server of what is known.  When that cannot be, the old one stays. */
static void
keyring_rebuild(struct keyring *keyring)
{
	struct tls_terms terms = { keyring->needs_tls13, keyring->ask,
	    { NULL, 0 } };
	struct slice letters = keyring_line_find(&keyring->set, "ca");
	struct tls_server *fresh;
	struct str ca = STR_INIT;
	struct err err;

	keyring_tickets_take(keyring, keyring_line_find(&keyring->set,
	    "tickets"));
	if (letters.n > 0 && base64_decode(letters, &ca, NULL) == 0)
		terms.ca = str_slice(&ca);
	fresh = tls_server_new(&terms, keyring->tickets, &err);
	str_release(&ca);
	if (fresh == NULL) {
		warning("TLS stays as it was: %s", err.text);
		return;
	}
	if (keyring_pairs_take(keyring, fresh) == 0)
		tls_server_drop(&fresh);
	tls_server_drop(&keyring->server);
	keyring->server = fresh;
}

static void
keyring_line_take(struct keyring *keyring, struct slice line)
{
	struct slice rest = line, verb;

	if (!slice_word(&rest, &verb))
		return;
	if (slice_is(verb, "signed") || slice_is(verb, "refused")) {
		keyring_answer_take(keyring, rest);
	} else if (slice_is(verb, "begin")) {
		str_reset(&keyring->coming);
		keyring->is_coming = true;
	} else if (slice_is(verb, "end")) {
		str_release(&keyring->set);
		keyring->set = keyring->coming;
		str_init(&keyring->coming);
		keyring->is_coming = false;
		keyring->has_set = true;
		keyring_rebuild(keyring);
	} else if (keyring->is_coming) {
		str_add_slice(&keyring->coming, line);
		str_addc(&keyring->coming, '\n');
	}
}

/* ---- the socket ------------------------------------------------------- */

static void
keyring_lost(struct keyring *keyring)
{
	watch_free(&keyring->watch);
	close(keyring->socket);
	keyring->socket = -1;
	keyring_questions_refuse(keyring, INT64_MAX);
}

static void
keyring_receive(struct keyring *keyring)
{
	struct slice line;
	size_t cursor = 0;
	int got = ipc_receive(keyring->socket, &keyring->inbox);

	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		keyring_lost(keyring);
		return;
	}
	while (ipc_line(&keyring->inbox, &cursor, &line) == IPC_LINE)
		keyring_line_take(keyring, line);
	ipc_inbox_consume(&keyring->inbox, cursor);
}

static void
keyring_send(struct keyring *keyring)
{
	ssize_t n;

	if (keyring->socket < 0)
		return;
	n = keyring->outbox.len == 0 ? 0 : ipc_send(keyring->socket,
	    str_slice(&keyring->outbox), NULL, 0);
	if (n > 0)
		str_consume(&keyring->outbox, (size_t)n);
	watch_set(keyring->watch, LOOP_READ |
	    (n >= 0 && keyring->outbox.len > 0 ? LOOP_WRITE : 0));
}

static void
keyring_on_socket(void *context, unsigned ready)
{
	struct keyring *keyring = context;

	if (ready & LOOP_WRITE)
		keyring_send(keyring);
	if (ready & (LOOP_READ | LOOP_HANGUP))
		keyring_receive(keyring);
}

/* Where there are no fibres, and for the first set. */
static void
keyring_wait_for(struct keyring *keyring, const bool *done, int64_t for_ms)
{
	int64_t until_ms = clock_steady_ms() + for_ms, left_ms;

	while (!*done && keyring->socket >= 0 &&
	    (left_ms = until_ms - clock_steady_ms()) > 0) {
		struct pollfd at = { keyring->socket, POLLIN |
		    (keyring->outbox.len > 0 ? POLLOUT : 0), 0 };

		if (poll(&at, 1, (int)left_ms) <= 0)
			continue;
		if (at.revents & POLLOUT)
			keyring_send(keyring);
		if (at.revents & ~POLLOUT)
			keyring_receive(keyring);
	}
}

/* tls_sign_fn: called in a handshake. */
static int
keyring_sign(void *context, const struct tls_signing *what, struct str *out)
{
	struct keyring *keyring = context;
	struct question question = {
		.id = ++keyring->ids, .link = tls_link_current(),
		.signature = out,
		.until_ms = clock_steady_ms() + KEYRING_ANSWER_MS,
	};

	if (keyring->socket < 0)
		return -1;
	str_addf(&keyring->outbox, "sign %" PRIu64 " %u %s %s ", question.id,
	    what->key, what->digest[0] != '\0' ? what->digest : "-",
	    what->is_pss ? "pss" : "plain");
	base64_add(&keyring->outbox, what->bytes);
	str_addc(&keyring->outbox, '\n');
	TAILQ_INSERT_TAIL(&keyring->questions, &question, entry);
	if (keyring->timer.at_ms == 0)
		timer_set(keyring->loop, &keyring->timer, question.until_ms,
		    keyring_on_timer, keyring);
	keyring_send(keyring);
	while (!question.is_answered)
		if (!tls_link_pause()) {
			question.link = NULL;
			keyring_wait_for(keyring, &question.is_answered,
			    KEYRING_ANSWER_MS);
			if (!question.is_answered)
				keyring_question_answer(keyring, &question,
				    (struct slice){ NULL, 0 });
		}
	return question.is_signed ? 0 : -1;
}

/* ---- life ------------------------------------------------------------- */

static void
keyring_terms_take(struct keyring *keyring, const struct conf *conf)
{
	static const enum tls_ask asks[] = { TLS_ASK_NOBODY, TLS_ASK,
	    TLS_REQUIRE };

	keyring->needs_tls13 = conf->needs_tls13;
	keyring->ask = asks[conf->client_certificates];
}

struct keyring *
keyring_new(struct loop *loop, int socket, const struct conf *conf)
{
	struct keyring *keyring = mem_alloc(1, sizeof(*keyring));

	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	keyring->loop = loop;
	keyring->socket = socket;
	ipc_inbox_init(&keyring->inbox);
	str_init(&keyring->outbox);
	str_init(&keyring->set);
	str_init(&keyring->coming);
	keyring->tickets = tls_tickets_new();
	TAILQ_INIT(&keyring->questions);
	keyring_terms_take(keyring, conf);
	keyring->watch = loop_watch(loop, socket, LOOP_READ, keyring_on_socket,
	    keyring);
	keyring_wait_for(keyring, &keyring->has_set, KEYRING_START_MS);
	return keyring;
}

void
keyring_free(struct keyring **keyring)
{
	struct keyring *k = *keyring;

	if (k == NULL)
		return;
	if (k->socket >= 0)
		keyring_lost(k);
	timer_clear(&k->timer);
	tls_server_drop(&k->server);
	tls_tickets_free(&k->tickets);
	ipc_inbox_release(&k->inbox);
	str_release(&k->outbox);
	str_release(&k->set);
	str_release(&k->coming);
	mem_free(keyring);
}

void
keyring_configure(struct keyring *keyring, const struct conf *conf)
{
	keyring_terms_take(keyring, conf);
	keyring_rebuild(keyring);
}

struct tls_server *
keyring_server(const struct keyring *keyring)
{
	return keyring != NULL ? keyring->server : NULL;
}

/* send.c - POST /send: a message from a program that has no SMTP
 *
 * In     requests that are whole
 * Out    an answer to each
 * Holds  at most SEND_AT_WORK_MAX dialogues, SEND_IN_LINE_MAX that wait; keys
 * Trusts nothing: see wanted.c, letter.c; nobody is known before the listener
 *        says so, and no key is looked at before
 * Spec   send.h; draft-ietf-httpapi-idempotency-key-header
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "web/send/dial.h"
#include "web/send/inflow.h"
#include "web/send/keys.h"
#include "web/send/taken.h"
#include "web/send/place.h"
#include "web/send/send.h"
#include "web/send/wanted.h"

#include "base/banned.h"

enum { SOON_S = 2, LATER_S = 10, CLIENT_BYTES = 64 };

struct sending {
	STAILQ_ENTRY(sending)	 line;
	struct evhttp_request	*http;	/* NULL: answered, or gone */
	struct wanted		 wanted;
	struct letter		 letter;
	struct rcpt_outcome		*outcomes;
	struct dialogue_told	 told;
	struct dialogue		*dialogue;
	struct key_sums		 sums;
	struct key		*key;	/* begun by us, or to be looked up */
	struct taken_question	 taken;
	char			 client[CLIENT_BYTES];
	int64_t			 since_ms;	/* in line */
	bool			 is_at_work;
	bool			 is_waiting;	/* for the key's line, or the
						 * journal: not freed before */
	bool			 is_over;
};

static struct {
	struct event_base	*base;
	struct submit_place	 place;
	bool			 has_place;
	char			 why[ERR_TEXT_BYTES];	/* it has none */
	struct keys		*keys;
	size_t			 size_bytes;
	unsigned		 at_work, in_line;
	STAILQ_HEAD(, sending)	 line;
	struct event		*sweep;
} intake = { .line = STAILQ_HEAD_INITIALIZER(intake.line) };

static const char no_room[] = "Too many messages are being sent: come again.";

/* ---- the end of one ----------------------------------------------------- */

static void
sending_on_close(struct evhttp_connection *connection, void *context)
{
	struct sending *sending = context;

	sending->http = NULL;	/* the message goes on its way */
}

static void
sending_unhook(struct sending *sending)
{
	struct evhttp_connection *connection = sending->http == NULL ? NULL :
	    evhttp_request_get_connection(sending->http);

	if (connection != NULL)
		evhttp_connection_set_closecb(connection, NULL, NULL);
}

static void
sending_free(struct sending *sending)
{
	letter_release(&sending->letter);
	wanted_release(&sending->wanted);
	mem_free(&sending);
}

static void intake_start_next(void);

/* It has its answer; what waits for it still, ends it. */
static void
sending_end(struct sending *sending)
{
	dialogue_drop(&sending->dialogue);
	if (sending->is_at_work)
		intake.at_work--;
	sending->is_at_work = false;
	sending->is_over = true;
	if (!sending->is_waiting)
		sending_free(sending);
	intake_start_next();
}

static void
sending_answer(struct sending *sending, int status, struct slice text,
    const struct answer_extra *extra)
{
	struct evhttp_request *http = sending->http;

	sending_unhook(sending);
	sending->http = NULL;
	answer_send(http, status, text, extra);
}

static void
sending_error(struct sending *sending, int status, const char *words,
    int retry_after_s)
{
	struct answer_extra extra = { .retry_after_s = retry_after_s,
	    .wants_login = status == 401 };
	struct evhttp_request *http = sending->http;

	sending_unhook(sending);
	sending->http = NULL;
	answer_error(http, status, words, &extra);
}

/* ---- what came of it ---------------------------------------------------- */

static void
sending_answer_sent(struct sending *sending, const char *id, bool is_replayed)
{
	struct answer_extra extra = { .is_replayed = is_replayed };
	struct str text = STR_INIT;

	answer_outcomes(&text, &sending->letter, sending->outcomes, id,
	    SLICE(""));
	sending_answer(sending, 200, str_slice(&text), &extra);
	str_release(&text);
}

/* By the worst that can change: one for now makes it worth another try. */
static void
sending_answer_refused(struct sending *sending, int code, struct slice words)
{
	struct answer_extra extra = { .retry_after_s = 0 };
	struct str text = STR_INIT;
	int status = answer_status(code, words);

	for (size_t i = 0; code == 0 && i < sending->letter.rcpt_count; i++) {
		const struct rcpt_outcome *outcome = &sending->outcomes[i];
		int one = answer_status(outcome->code, outcome->text);

		if (i == 0 || status == 422)
			status = one;
	}
	if (status != 422)
		extra.retry_after_s = 60;
	for (size_t i = 0; code != 0 && i < sending->letter.rcpt_count; i++)
		sending->outcomes[i] = (struct rcpt_outcome){ .code = 0 };
	answer_outcomes(&text, &sending->letter, sending->outcomes, NULL,
	    words);
	sending_answer(sending, status, str_slice(&text), &extra);
	str_release(&text);
}

/* The listener has answered the message, or never will. */
static void
sending_on_over(struct sending *sending)
{
	struct dialogue_told *told = &sending->told;
	struct key *key = sending->key;
	char words[ERR_TEXT_BYTES];

	sending->key = NULL;
	snprintf(words, sizeof(words), SLICE_FMT, SLICE_ARG(told->text));
	switch (told->end) {
	case DIALOGUE_SENT:
		if (key != NULL)
			keys_end(intake.keys, key, told->id);
		sending_answer_sent(sending, told->id, false);
		return;
	case DIALOGUE_UNKNOWN:
		if (key != NULL)
			key->is_under_way = false;
		sending_error(sending, 503, key != NULL ? "It is not known "
		    "whether the message was taken: ask again, with the same "
		    "Idempotency-Key." : "It is not known whether the message "
		    "was taken.", LATER_S);
		return;
	case DIALOGUE_LOGIN:
		sending_error(sending, 401, "Name or password is wrong.", 0);
		break;
	case DIALOGUE_REFUSED:
		sending_answer_refused(sending, told->code, told->text);
		break;
	case DIALOGUE_DOWN:
		sending_error(sending, 503, words, LATER_S);
		break;
	}
	if (key != NULL)
		keys_forget(intake.keys, key);
}

/* ---- its key ------------------------------------------------------------ */

static void
sending_on_written(void *context, bool is_good)
{
	struct sending *sending = context;

	sending->is_waiting = false;
	if (!is_good)
		sending->key = NULL;
	if (sending->is_over) {		/* meanwhile the listener went */
		if (sending->key != NULL)
			keys_forget(intake.keys, sending->key);
		sending_free(sending);
	} else if (is_good) {
		dialogue_go_on(sending->dialogue);
	} else {
		sending_error(sending, 503, "The key cannot be written down "
		    "(is the disk full?): nothing was sent.", 60);
		sending_end(sending);
	}
}

/* Some recipients were accepted: say so on disk before the message goes. */
static void
sending_begin_key(struct sending *sending)
{
	struct key_table *table = keys_table(intake.keys);
	struct str packed = STR_INIT;
	struct key *key;

	key_table_expire(table, clock_wall_s());
	/* who came at the same moment with the same key was first */
	key = key_table_find(table, sending->sums.key);
	if (key != NULL && key->is_under_way) {
		sending_error(sending, 409, "A request with this "
		    "Idempotency-Key is under way.", SOON_S);
		sending_end(sending);
		return;
	}
	if (key != NULL)
		key_table_remove(table, key);
	answer_pack(&packed, sending->outcomes, sending->letter.rcpt_count);
	key = key_table_add(table, &sending->sums, clock_wall_s(),
	    str_slice(&packed));
	str_release(&packed);
	if (key == NULL) {
		sending_error(sending, 503, "There is no room for another "
		    "Idempotency-Key: each is kept for a day.", 3600);
		sending_end(sending);
		return;
	}
	sending->key = key;
	sending->is_waiting = true;
	keys_begin(intake.keys, key, sending_on_written, sending);
}

/* The journal's word on one that was begun and has no end. */
static void
sending_on_taken(void *context)
{
	struct sending *sending = context;
	struct key *key = key_table_find(keys_table(intake.keys),
	    sending->sums.key);

	sending->is_waiting = false;
	if (key != NULL && key->id[0] == '\0' && !key->is_under_way &&
	    sending->taken.answer == TAKEN_YES)
		keys_end(intake.keys, key, sending->taken.id);
	if (sending->is_over) {
		sending_free(sending);
		return;
	}
	switch (sending->taken.answer) {
	case TAKEN_NO:
		dialogue_go_on(sending->dialogue);
		return;
	case TAKEN_YES:
		if (key != NULL) {
			answer_unpack(slice_of(key->refused),
			    sending->letter.arena, sending->outcomes,
			    sending->letter.rcpt_count);
			sending_answer_sent(sending, sending->taken.id,
			    true);
			break;
		}
		sending_error(sending, 409, "The day of this Idempotency-Key "
		    "is over: look with zmailer trace.", 0);
		break;
	case TAKEN_LATER:
		sending_error(sending, 409, "A request with this "
		    "Idempotency-Key was begun, and its end is not known "
		    "yet: come again.", LATER_S);
		break;
	case TAKEN_OPEN:
		sending_error(sending, 409, "A request with this "
		    "Idempotency-Key was begun, and the journal cannot say "
		    "whether its message was taken: look with zmailer trace, "
		    "and use another key.", 0);
		break;
	}
	sending_end(sending);
}

/* The user is known: does his key have an answer already? */
static void
sending_on_known(struct sending *sending)
{
	struct key_table *table = keys_table(intake.keys);
	struct key *key;

	key_table_expire(table, clock_wall_s());
	key = sending->wanted.key == NULL ? NULL : key_table_find(table,
	    sending->sums.key);
	if (key == NULL) {
		dialogue_go_on(sending->dialogue);
		return;
	}
	if (memcmp(key->sums.body, sending->sums.body,
	    sizeof(key->sums.body)) != 0) {
		sending_error(sending, 409, "This Idempotency-Key was used "
		    "for another request.", 0);
	} else if (key->is_under_way) {
		sending_error(sending, 409, "A request with this "
		    "Idempotency-Key is under way.", SOON_S);
	} else if (key->id[0] != '\0') {
		answer_unpack(slice_of(key->refused), sending->letter.arena,
		    sending->outcomes, sending->letter.rcpt_count);
		sending_answer_sent(sending, key->id, true);
	} else if (taken_can(sending->letter.id)) {
		sending->taken = (struct taken_question){ .at_s = key->at_s,
		    .message_id = sending->letter.id,
		    .from = sending->letter.from };
		sending->is_waiting = true;
		taken_begin(&sending->taken, sending_on_taken, sending);
		return;
	} else {
		sending_error(sending, 409, "A request with this "
		    "Idempotency-Key was begun, and its Message-ID cannot be "
		    "looked for: use another key.", 0);
	}
	sending_end(sending);
}

/* ---- its dialogue ------------------------------------------------------- */

static void
sending_on_rcpts(struct sending *sending)
{
	for (size_t i = 0; i < sending->letter.rcpt_count; i++) {
		if (sending->outcomes[i].code / 100 != 2)
			continue;
		if (sending->wanted.key != NULL)
			sending_begin_key(sending);
		else
			dialogue_go_on(sending->dialogue);
		return;
	}
	sending_answer_refused(sending, 0, SLICE("No recipient was "
	    "accepted."));
	sending_end(sending);
}

static void
sending_on_news(void *context, enum dialogue_news news)
{
	struct sending *sending = context;

	if (news == DIALOGUE_KNOWN) {
		sending_on_known(sending);
	} else if (news == DIALOGUE_RCPTS) {
		sending_on_rcpts(sending);
	} else if (sending->is_waiting) {	/* its key is still needed */
		sending_error(sending, 503, "The submission listener went "
		    "away: nothing was sent.", LATER_S);
		sending_end(sending);
	} else {
		sending_on_over(sending);
		sending_end(sending);
	}
}

static void
sending_start(struct sending *sending)
{
	intake.at_work++;
	sending->is_at_work = true;
	sending->told = (struct dialogue_told){ .base = intake.base,
	    .place = &intake.place, .user = sending->wanted.user,
	    .password = sending->wanted.password,
	    .client = sending->client[0] != '\0' ? sending->client : NULL,
	    .letter = &sending->letter, .outcomes = sending->outcomes,
	    .fn = sending_on_news, .context = sending };
	sending->dialogue = dialogue_begin(&sending->told);
}

/* ---- the line ----------------------------------------------------------- */

static void
intake_start_next(void)
{
	struct sending *sending;

	while (intake.at_work < SEND_AT_WORK_MAX &&
	    (sending = STAILQ_FIRST(&intake.line)) != NULL) {
		STAILQ_REMOVE_HEAD(&intake.line, line);
		intake.in_line--;
		sending_start(sending);
	}
}

/* Who waited for too long, or in vain. */
static void
intake_on_sweep(evutil_socket_t fd, short what, void *context)
{
	int64_t now_ms = clock_steady_ms();
	struct sending *sending;

	while ((sending = STAILQ_FIRST(&intake.line)) != NULL &&
	    now_ms - sending->since_ms > SEND_IN_LINE_MS) {
		STAILQ_REMOVE_HEAD(&intake.line, line);
		intake.in_line--;
		sending_error(sending, 503, no_room, LATER_S);
		sending_end(sending);
	}
}

static void
intake_line_up(struct sending *sending)
{
	if (intake.at_work < SEND_AT_WORK_MAX) {
		sending_start(sending);
	} else if (intake.in_line < SEND_IN_LINE_MAX) {
		sending->since_ms = clock_steady_ms();
		STAILQ_INSERT_TAIL(&intake.line, sending, line);
		intake.in_line++;
	} else {
		sending_error(sending, 503, no_room, LATER_S);
		sending_end(sending);
	}
}

/* ---- a request ---------------------------------------------------------- */

static struct sending *
sending_new(struct evhttp_request *http)
{
	struct evhttp_connection *connection =
	    evhttp_request_get_connection(http);
	struct sending *sending = mem_alloc(1, sizeof(*sending));
	char *address = NULL;
	uint16_t port;

	*sending = (struct sending){ .http = http };
	letter_init(&sending->letter);
	sending->outcomes = arena_alloc(sending->letter.arena,
	    LETTER_RCPTS_MAX * sizeof(*sending->outcomes));
	if (connection != NULL) {
		evhttp_connection_get_peer(connection, &address, &port);
		evhttp_connection_set_closecb(connection, sending_on_close,
		    sending);
	}
	if (address != NULL)
		strlcpy(sending->client, address, sizeof(sending->client));
	return sending;
}

static void
sending_finish_letter(struct sending *sending)
{
	char hex[LETTER_KEY_BYTES + 1] = "";

	if (sending->wanted.key != NULL)
		for (size_t i = 0; i < LETTER_KEY_BYTES / 2; i++)
			snprintf(hex + 2 * i, 3, "%02x",
			    sending->sums.key[i]);
	letter_finish(&sending->letter, sending->wanted.key != NULL ? hex :
	    NULL, clock_wall_s());
}

/* returns the status it is refused with, *out_words in words; 0: it goes on */
static int
sending_read(struct sending *sending, struct err *err)
{
	struct wanted *wanted = &sending->wanted;
	struct letter *letter = &sending->letter;

	if (!intake.has_place)
		return err_set(err, "%s", intake.why), 503;
	if ((wanted->is_json ? letter_read_json(letter, wanted->body, err) :
	    letter_read_message(letter, wanted->body, wanted->query,
	    err)) < 0)
		return 400;
	if (wanted->is_json && wanted->query.n > 0)
		return err_set(err, "the query: JSON says it all"), 400;
	if (letter->message.len > intake.size_bytes)
		return err_set(err, "The message has more than %zu bytes.",
		    intake.size_bytes), 413;
	if (wanted->key != NULL && wanted_sums(wanted, sending->sums.key,
	    sending->sums.body) < 0)
		return err_set(err, "no digest of the key can be made"), 503;
	sending_finish_letter(sending);
	return 0;
}

void
send_take(struct evhttp_request *http, struct slice path_and_query)
{
	struct sending *sending = sending_new(http);
	struct evbuffer *body = evhttp_request_get_input_buffer(http);
	const char *words;
	struct err err;
	int status = wanted_read(http, path_and_query, &sending->wanted,
	    &words);

	if (status == 0 && (status = sending_read(sending, &err)) != 0)
		words = err.text;
	sending->wanted.body = SLICE("");
	(void)evbuffer_drain(body, evbuffer_get_length(body));
	if (status != 0) {
		sending_error(sending, status, words, status == 503 ? LATER_S
		    : 0);
		sending_end(sending);
		return;
	}
	intake_line_up(sending);
}

/* ---- the start ---------------------------------------------------------- */

bool
send_is_path(struct slice path)
{
	return inflow_is_allowed() && slice_is(path, "/send");
}

int
send_open(const struct send_how *how, struct err *err)
{
	struct err why = { "" };

	intake.size_bytes = how->size_bytes;
	intake.keys = keys_new(how->dir, how->uid, err);
	if (intake.keys == NULL ||
	    keys_give(intake.keys, how->uid, how->gid, err) < 0)
		return -1;
	intake.has_place = submit_place_find(how->place, &intake.place,
	    &why) == 0;
	strlcpy(intake.why, why.text, sizeof(intake.why));
	if (!intake.has_place)
		warning("/send: %s", intake.why);
	inflow_allow(how->size_bytes);
	return 0;
}

const struct sockaddr *
send_place(socklen_t *out_length)
{
	*out_length = intake.has_place ? intake.place.length : 0;
	return (const struct sockaddr *)&intake.place.address;
}

const char *
send_dir(void)
{
	return intake.keys == NULL ? NULL : keys_dir(intake.keys);
}

void
send_start(struct event_base *base, int dial)
{
	struct timeval every = { .tv_sec = 1 };

	if (intake.keys == NULL)
		return;
	intake.base = base;
	if (dial >= 0)
		dial_open(base, dial);
	keys_thread_begin(intake.keys, base);
	intake.sweep = event_new(base, -1, EV_PERSIST,
	    intake_on_sweep, NULL);
	if (intake.sweep == NULL || event_add(intake.sweep, &every) < 0)
		panic("no timer");
}

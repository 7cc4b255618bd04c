/* dialogue.c - a letter handed to our own submission listener, by SMTP
 *
 * In     a letter, a name and a password
 * Out    commands; what the listener said of each recipient and of the mail
 * Holds  a connection, DIALOGUE_S at the most
 * Trusts the listener's words as little as any server's: reply.h
 * Spec   dialogue.h; RFC 5321; RFC 4954; RFC 3207; RFC 4616
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <string.h>
#include <unistd.h>

#include "grammar/base64.h"
#include "grammar/smtp/dot.h"
#include "grammar/smtp/reply.h"
#include "tls/login/https.h"
#include "web/send/dialogue.h"

#include "base/banned.h"

enum { PART_S = 5 };

#define DIALOGUE_STEPS(STEP) \
	STEP(GREETING) STEP(EHLO) STEP(STARTTLS) STEP(HANDSHAKE) \
	STEP(XCLIENT) STEP(AUTH) STEP(KNOWN) STEP(MAIL) STEP(RCPT) \
	STEP(RCPTS) STEP(DATA) STEP(END) STEP(OVER)
enum dialogue_step {
#define STEP(name) STEP_##name,
	DIALOGUE_STEPS(STEP)
#undef STEP
	STEPS
};
static const char *const step_names[STEPS] = {
#define STEP(name) #name,
	DIALOGUE_STEPS(STEP)
#undef STEP
};

struct offers {			/* of EHLO */
	bool	plain, starttls, xclient, size, mime8, utf8, pipelining;
};

struct dialogue {
	struct dialogue_told *told;
	struct bufferevent *bev;	/* NULL: there is none */
	struct event	*timer;
	enum dialogue_step step;
	struct offers	 offers;
	bool		 is_tls, is_client_told;
	size_t		 asked, answered;	/* recipients */
};

/* ---- its end ------------------------------------------------------------ */

static void
dialogue_hang_up(struct dialogue *dialogue)
{
	if (dialogue->bev != NULL)
		bufferevent_free(dialogue->bev);
	dialogue->bev = NULL;
	if (dialogue->timer != NULL)
		event_free(dialogue->timer);
	dialogue->timer = NULL;
}

void
dialogue_drop(struct dialogue **dialogue)
{
	if (*dialogue == NULL)
		return;
	dialogue_hang_up(*dialogue);
	mem_free(dialogue);
}

static void
parted_on_data(struct bufferevent *bev, void *context)
{
	bufferevent_free(bev);
}

static void
parted_on_event(struct bufferevent *bev, short what, void *context)
{
	bufferevent_free(bev);
}

/* QUIT, and whatever it answers. */
static void
dialogue_part(struct bufferevent *bev)
{
	struct timeval most = { .tv_sec = PART_S };

	bufferevent_setcb(bev, parted_on_data, NULL, parted_on_event, NULL);
	(void)bufferevent_set_timeouts(bev, &most, &most);
	(void)bufferevent_write(bev, "QUIT\r\n", 6);
}

/* The last thing that is done with it: who hears of it drops it. */
static void
dialogue_over(struct dialogue *dialogue, enum dialogue_end end, int code,
    struct slice text)
{
	struct dialogue_told *told = dialogue->told;

	if (dialogue->step == STEP_OVER)
		return;
	dialogue->step = STEP_OVER;
	told->end = end;
	told->code = code;
	told->text = slice_copy(told->letter->arena, text);
	if (code != 0 && dialogue->bev != NULL) {
		dialogue_part(dialogue->bev);
		dialogue->bev = NULL;
	}
	dialogue_hang_up(dialogue);
	told->fn(told->context, DIALOGUE_OVER);
}

static void
dialogue_down(struct dialogue *dialogue, const char *words)
{
	struct str text = STR_INIT;

	str_addf(&text, "the submission listener: %s (at %s)", words,
	    step_names[dialogue->step]);
	dialogue_over(dialogue, dialogue->step == STEP_END ?
	    DIALOGUE_UNKNOWN : DIALOGUE_DOWN, 0, str_slice(&text));
	str_release(&text);
}

static void
dialogue_refused(struct dialogue *dialogue, const struct reply *reply)
{
	struct str text = STR_INIT;

	reply_add_text(&text, reply);
	dialogue_over(dialogue, DIALOGUE_REFUSED, reply->code,
	    str_slice(&text));
	str_release(&text);
}

static void
dialogue_on_late(evutil_socket_t fd, short what, void *context)
{
	dialogue_down(context, "it has not answered in time");
}

/* ---- commands ----------------------------------------------------------- */

static void
dialogue_say(struct dialogue *dialogue, const struct str *text,
    enum dialogue_step step)
{
	dialogue->step = step;
	if (bufferevent_write(dialogue->bev, text->buf, text->len) < 0)
		dialogue_down(dialogue, "no memory for a command");
}

static void
dialogue_say_line(struct dialogue *dialogue, const char *line,
    enum dialogue_step step)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s\r\n", line);
	dialogue_say(dialogue, &text, step);
	str_release(&text);
}

static void
dialogue_say_login(struct dialogue *dialogue)
{
	const struct dialogue_told *told = dialogue->told;
	struct str plain = STR_INIT, line = STR_INIT;

	str_addc(&plain, '\0');
	str_add_slice(&plain, told->user);
	str_addc(&plain, '\0');
	str_add_slice(&plain, told->password);
	str_adds(&line, "AUTH PLAIN ");
	base64_add(&line, str_slice(&plain));
	str_adds(&line, "\r\n");
	dialogue_say(dialogue, &line, STEP_AUTH);
	explicit_bzero(plain.buf, plain.len);
	explicit_bzero(line.buf, line.len);
	str_release(&plain);
	str_release(&line);
}

static void
dialogue_say_client(struct dialogue *dialogue)
{
	const char *client = dialogue->told->client;
	struct str line = STR_INIT;

	str_addf(&line, "XCLIENT ADDR=%s%s\r\n", strchr(client, ':') != NULL ?
	    "IPV6:" : "", client);
	dialogue->is_client_told = true;
	dialogue_say(dialogue, &line, STEP_XCLIENT);
	str_release(&line);
}

/* All recipients at once where the listener takes that (RFC 2920), else the
 * next one. */
static void
dialogue_say_rcpts(struct dialogue *dialogue, struct str *line)
{
	const struct letter *letter = dialogue->told->letter;

	do {
		str_addf(line, "RCPT TO:<" SLICE_FMT ">\r\n",
		    SLICE_ARG(letter->rcpts[dialogue->asked]));
		dialogue->asked++;
	} while (dialogue->offers.pipelining &&
	    dialogue->asked < letter->rcpt_count);
}

static void
dialogue_say_mail(struct dialogue *dialogue)
{
	const struct letter *letter = dialogue->told->letter;
	const struct offers *offers = &dialogue->offers;
	struct str line = STR_INIT;

	if (letter->is_utf8 && !offers->utf8) {
		dialogue_over(dialogue, DIALOGUE_REFUSED, 553, SLICE("an "
		    "address or a field needs SMTPUTF8, which the listener "
		    "does not offer"));
		return;
	}
	str_addf(&line, "MAIL FROM:<" SLICE_FMT ">",
	    SLICE_ARG(letter->from));
	if (offers->size)
		str_addf(&line, " SIZE=%zu", letter->message.len);
	if ((letter->has_8bit || letter->is_utf8) && offers->mime8)
		str_adds(&line, " BODY=8BITMIME");
	if (letter->is_utf8)
		str_adds(&line, " SMTPUTF8");
	str_adds(&line, "\r\n");
	if (offers->pipelining)
		dialogue_say_rcpts(dialogue, &line);
	dialogue_say(dialogue, &line, STEP_MAIL);
	str_release(&line);
}

static void
dialogue_on_sent(const void *bytes, size_t n, void *context)
{
	mem_release(context);
}

/* It is not kept twice: the buffer of the connection has it. */
static void
dialogue_say_message(struct dialogue *dialogue)
{
	struct letter *letter = dialogue->told->letter;
	struct dot_writer writer = DOT_WRITER_INIT;
	struct str wire = STR_INIT;

	dot_write(&wire, str_slice(&letter->message), &writer);
	dot_write_end(&wire, &writer);
	str_release(&letter->message);
	dialogue->step = STEP_END;
	if (evbuffer_add_reference(bufferevent_get_output(dialogue->bev),
	    wire.buf, wire.len, dialogue_on_sent, wire.buf) < 0)
		panic("no memory for a message");
}

/* ---- TLS ---------------------------------------------------------------- */

static void dialogue_set_up(struct dialogue *dialogue);

/* The connection is one of TLS from now on.  -1: no memory. */
static int
dialogue_encrypt(struct dialogue *dialogue, int fd)
{
	const struct submit_place *place = dialogue->told->place;
	struct ssl_st *link = https_client_link(place->tls, place->is_near ?
	    NULL : place->name);

	if (link == NULL)
		return -1;
	dialogue->bev = bufferevent_openssl_socket_new(
	    dialogue->told->base, fd, link, BUFFEREVENT_SSL_CONNECTING,
	    BEV_OPT_CLOSE_ON_FREE);
	if (dialogue->bev == NULL)
		return -1;
	dialogue->is_tls = true;
	return 0;
}

/* What came before the handshake was said by nobody who is known. */
static void
dialogue_start_tls(struct dialogue *dialogue)
{
	struct bufferevent *clear = dialogue->bev;
	int fd;

	if (evbuffer_get_length(bufferevent_get_input(clear)) > 0) {
		dialogue_down(dialogue, "it said more before TLS began");
		return;
	}
	fd = dup(bufferevent_getfd(clear));
	bufferevent_free(clear);
	dialogue->bev = NULL;
	dialogue->step = STEP_HANDSHAKE;
	if (fd < 0 || dialogue_encrypt(dialogue, fd) < 0) {
		dialogue_down(dialogue, "TLS cannot begin");
		return;
	}
	dialogue_set_up(dialogue);
}

/* ---- replies ------------------------------------------------------------ */

static void
dialogue_read_offers(struct dialogue *dialogue, const struct reply *reply)
{
	struct offers offers = { .plain = false };
	struct slice text, word;
	size_t cursor = 0;

	(void)reply_line(reply, &cursor, &text);
	while (reply_line(reply, &cursor, &text)) {
		if (!slice_word(&text, &word))
			continue;
		offers.starttls |= slice_is_nocase(word, "STARTTLS");
		offers.size |= slice_is_nocase(word, "SIZE");
		offers.mime8 |= slice_is_nocase(word, "8BITMIME");
		offers.utf8 |= slice_is_nocase(word, "SMTPUTF8");
		offers.pipelining |= slice_is_nocase(word, "PIPELINING");
		if (slice_is_nocase(word, "XCLIENT"))
			while (slice_word(&text, &word))
				offers.xclient |= slice_is_nocase(word,
				    "ADDR");
		if (slice_is_nocase(word, "AUTH"))
			while (slice_word(&text, &word))
				offers.plain |= slice_is_nocase(word,
				    "PLAIN");
	}
	dialogue->offers = offers;
}

/* In the clear AUTH is for clients of this machine, so the client's address
 * is told with TLS alone. */
static void
dialogue_after_ehlo(struct dialogue *dialogue)
{
	const struct offers *offers = &dialogue->offers;
	const struct dialogue_told *told = dialogue->told;

	if (!dialogue->is_tls && offers->starttls)
		dialogue_say_line(dialogue, "STARTTLS", STEP_STARTTLS);
	else if (!dialogue->is_tls && !told->place->is_near)
		dialogue_down(dialogue, "it offers no TLS, and is not on this "
		    "machine");
	else if (dialogue->is_tls && offers->xclient &&
	    told->client != NULL && !dialogue->is_client_told)
		dialogue_say_client(dialogue);
	else if (!offers->plain)
		dialogue_down(dialogue, "it offers no AUTH PLAIN: it wants "
		    "the word submission, an auth statement, and tls "
		    "certificate or `auth ... clear loopback`");
	else
		dialogue_say_login(dialogue);
}

static void
dialogue_take_rcpt(struct dialogue *dialogue, const struct reply *reply)
{
	struct dialogue_told *told = dialogue->told;
	struct outcome *outcome = &told->outcomes[dialogue->answered++];
	struct str text = STR_INIT;

	reply_add_text(&text, reply);
	outcome->code = reply->code;
	outcome->text = slice_copy(told->letter->arena, str_slice(&text));
	str_reset(&text);
	if (dialogue->answered == told->letter->rcpt_count) {
		dialogue->step = STEP_RCPTS;
		told->fn(told->context, DIALOGUE_RCPTS);
	} else if (dialogue->answered == dialogue->asked) {
		dialogue_say_rcpts(dialogue, &text);
		dialogue_say(dialogue, &text, STEP_RCPT);
	}
	str_release(&text);
}

static void
dialogue_take_mail(struct dialogue *dialogue, const struct reply *reply)
{
	struct str line = STR_INIT;

	if (reply->code / 100 != 2) {
		dialogue_refused(dialogue, reply);
		return;
	}
	dialogue->step = STEP_RCPT;
	if (dialogue->asked > 0)
		return;
	dialogue_say_rcpts(dialogue, &line);
	dialogue_say(dialogue, &line, STEP_RCPT);
	str_release(&line);
}

static void
dialogue_take_login(struct dialogue *dialogue, const struct reply *reply)
{
	struct dialogue_told *told = dialogue->told;

	if (reply->code == 235) {
		dialogue->step = STEP_KNOWN;
		told->fn(told->context, DIALOGUE_KNOWN);
	} else if (reply->code == 535) {
		dialogue_over(dialogue, DIALOGUE_LOGIN, reply->code,
		    SLICE(""));
	} else {
		dialogue_refused(dialogue, reply);
	}
}

/* "250 2.0.0 ID accepted": the first word that is one. */
static void
dialogue_take_end(struct dialogue *dialogue, const struct reply *reply)
{
	struct dialogue_told *told = dialogue->told;
	struct slice text, word;
	size_t cursor = 0;

	if (reply->code / 100 != 2) {
		dialogue_refused(dialogue, reply);
		return;
	}
	(void)reply_line(reply, &cursor, &text);
	while (told->id[0] == '\0' && slice_word(&text, &word))
		if (spool_id_is(word)) {
			memcpy(told->id, word.p, word.n);
			told->id[word.n] = '\0';
		}
	dialogue_over(dialogue, DIALOGUE_SENT, reply->code, SLICE(""));
}

static void
dialogue_take(struct dialogue *dialogue, const struct reply *reply)
{
	bool is_good = reply->code / 100 == 2;

	switch (dialogue->step) {
	case STEP_GREETING:
	case STEP_XCLIENT:
		if (is_good)
			dialogue_say_line(dialogue, "EHLO localhost",
			    STEP_EHLO);
		else
			dialogue_refused(dialogue, reply);
		return;
	case STEP_EHLO:
		if (!is_good) {
			dialogue_refused(dialogue, reply);
			return;
		}
		dialogue_read_offers(dialogue, reply);
		dialogue_after_ehlo(dialogue);
		return;
	case STEP_STARTTLS:
		if (is_good)
			dialogue_start_tls(dialogue);
		else
			dialogue_refused(dialogue, reply);
		return;
	case STEP_AUTH:
		dialogue_take_login(dialogue, reply);
		return;
	case STEP_MAIL:
		dialogue_take_mail(dialogue, reply);
		return;
	case STEP_RCPT:
		dialogue_take_rcpt(dialogue, reply);
		return;
	case STEP_DATA:
		if (reply->code == 354)
			dialogue_say_message(dialogue);
		else
			dialogue_refused(dialogue, reply);
		return;
	case STEP_END:
		dialogue_take_end(dialogue, reply);
		return;
	default:	/* nobody asked: 421, it goes away */
		dialogue_refused(dialogue, reply);
		return;
	}
}

static void
dialogue_on_read(struct bufferevent *bev, void *context)
{
	struct dialogue *dialogue = context;
	struct evbuffer *in = bufferevent_get_input(bev);
	size_t n = evbuffer_get_length(in);
	enum reply_answer answer;
	struct reply reply;
	struct err err;
	struct arena *arena;
	struct slice bytes;

	if (n == 0 || dialogue->step == STEP_OVER)
		return;
	n = n < REPLY_BYTES_MAX ? n : REPLY_BYTES_MAX;
	arena = arena_new();
	bytes = slice_copy(arena, (struct slice){ (char *)evbuffer_pullup(in,
	    (ev_ssize_t)n), n });
	answer = reply_parse(bytes, &reply, &err);
	if (answer == REPLY_DONE) {
		(void)evbuffer_drain(in, reply.bytes);
		/* the next one in a turn of its own: after this one neither
		 * connection nor dialogue may be there any more */
		if (evbuffer_get_length(in) > 0 && dialogue->step !=
		    STEP_STARTTLS)
			bufferevent_trigger(bev, EV_READ,
			    BEV_TRIG_DEFER_CALLBACKS);
		dialogue_take(dialogue, &reply);
	} else if (answer == REPLY_BAD || n == REPLY_BYTES_MAX) {
		dialogue_down(dialogue, "this is no reply");
	}
	arena_free(&arena);
}

static void
dialogue_on_event(struct bufferevent *bev, short what, void *context)
{
	struct dialogue *dialogue = context;

	if ((what & BEV_EVENT_CONNECTED) != 0) {
		if (dialogue->step == STEP_HANDSHAKE)
			dialogue_say_line(dialogue, "EHLO localhost",
			    STEP_EHLO);
		return;
	}
	if (dialogue->is_tls && (what & BEV_EVENT_ERROR) != 0 &&
	    bufferevent_get_openssl_error(bev) != 0)
		dialogue_down(dialogue, "TLS failed");
	else if ((what & BEV_EVENT_ERROR) != 0)
		dialogue_down(dialogue, evutil_socket_error_to_string(
		    EVUTIL_SOCKET_ERROR()));
	else
		dialogue_down(dialogue, "it hung up");
}

/* ---- the beginning ------------------------------------------------------ */

static void
dialogue_set_up(struct dialogue *dialogue)
{
	bufferevent_setcb(dialogue->bev, dialogue_on_read, NULL,
	    dialogue_on_event, dialogue);
	bufferevent_setwatermark(dialogue->bev, EV_READ, 0,
	    2 * REPLY_BYTES_MAX);
	(void)bufferevent_enable(dialogue->bev, EV_READ | EV_WRITE);
}

/* A path answers at once, an address later. */
static int
dialogue_connect(struct dialogue *dialogue)
{
	const struct submit_place *place = dialogue->told->place;

	if (place->is_tls) {
		if (dialogue_encrypt(dialogue, -1) < 0)
			return -1;
	} else {
		dialogue->bev = bufferevent_socket_new(dialogue->told->base,
		    -1, BEV_OPT_CLOSE_ON_FREE);
	}
	if (dialogue->bev == NULL)
		return -1;
	dialogue_set_up(dialogue);
	return bufferevent_socket_connect(dialogue->bev,
	    (const struct sockaddr *)&place->address, (int)place->length);
}

static void
dialogue_on_absent(evutil_socket_t fd, short what, void *context)
{
	dialogue_down(context, "it does not listen");
}

struct dialogue *
dialogue_begin(struct dialogue_told *told)
{
	struct dialogue *dialogue = mem_alloc(1, sizeof(*dialogue));
	struct timeval most = { .tv_sec = DIALOGUE_S };
	bool is_there;

	*dialogue = (struct dialogue){ .told = told, .step = STEP_GREETING };
	told->id[0] = '\0';
	is_there = dialogue_connect(dialogue) == 0;
	if (!is_there) {
		if (dialogue->bev != NULL)
			bufferevent_free(dialogue->bev);
		dialogue->bev = NULL;
		most.tv_sec = 0;
	}
	dialogue->timer = evtimer_new(told->base, is_there ?
	    dialogue_on_late : dialogue_on_absent, dialogue);
	if (dialogue->timer == NULL || event_add(dialogue->timer, &most) < 0)
		panic("no timer");
	return dialogue;
}

void
dialogue_go_on(struct dialogue *dialogue)
{
	if (dialogue->step == STEP_KNOWN)
		dialogue_say_mail(dialogue);
	else if (dialogue->step == STEP_RCPTS)
		dialogue_say_line(dialogue, "DATA", STEP_DATA);
}

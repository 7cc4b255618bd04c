/* dialogue_steps.c - a letter handed to our own submission listener: the words
 *
 * In     a letter, a name and a password; replies
 * Out    commands; what the listener said of each recipient and of the mail
 * Trusts no reply to come when it should: each step takes its own
 * Spec   dialogue.h; RFC 5321; RFC 4954; RFC 4616; RFC 2920
 *
 * SPDX-License-Identifier: ISC
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <string.h>

#include "grammar/base64.h"
#include "grammar/smtp/dot.h"
#include "web/send/dialogue_internal.h"

#include "base/banned.h"

static void
dialogue_refused(struct dialogue *dialogue, const struct reply *reply)
{
	struct str text = STR_INIT;

	reply_add_text(&text, reply);
	dialogue_over(dialogue, DIALOGUE_REFUSED, reply->code,
	    str_slice(&text));
	str_release(&text);
}

/* ---- commands ----------------------------------------------------------- */

static void
dialogue_write(struct dialogue *dialogue, const struct str *text,
    enum dialogue_step step)
{
	dialogue->step = step;
	if (bufferevent_write(dialogue->bev, text->buf, text->len) < 0)
		dialogue_down(dialogue, "no memory for a command");
}

void
dialogue_say_line(struct dialogue *dialogue, const char *line,
    enum dialogue_step step)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s\r\n", line);
	dialogue_write(dialogue, &text, step);
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
	dialogue_write(dialogue, &line, STEP_AUTH);
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
	dialogue_write(dialogue, &line, STEP_XCLIENT);
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
	dialogue_write(dialogue, &line, STEP_MAIL);
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
	struct rcpt_outcome *outcome = &told->outcomes[dialogue->answered++];
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
		dialogue_write(dialogue, &text, STEP_RCPT);
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
	dialogue_write(dialogue, &line, STEP_RCPT);
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
	if (told->id[0] == '\0')	/* --submit: not one of ours */
		strlcpy(told->id, "-", sizeof(told->id));
	dialogue_over(dialogue, DIALOGUE_SENT, reply->code, SLICE(""));
}

void
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

void
dialogue_go_on(struct dialogue *dialogue)
{
	if (dialogue->step == STEP_KNOWN)
		dialogue_say_mail(dialogue);
	else if (dialogue->step == STEP_RCPTS)
		dialogue_say_line(dialogue, "DATA", STEP_DATA);
}

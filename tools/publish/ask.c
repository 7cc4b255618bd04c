/* ask.c - one order to the taker of one node
 *
 * In     an order; the connection that the process nodes makes
 * Out    what that node says
 * Holds  nothing
 * Trusts no byte of the answer: it is bounded, and shown without controls; if
 *        it does not come, nobody knows whether the order was carried out
 * Spec   ask.h; doc/protocol/nodes.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/consult/nodes_ask.h"
#include "tools/publish/ask.h"

#include "base/banned.h"

enum { ASK_FOR_MS = 300000, ASK_NAP_MS = 250,
	ASK_LOOK_MS = 1000 };

/* What there is to be sent or heard, until end_ms.  false: nothing came of it
 * by then. */
static bool
ask_waits(int fd, short events, int64_t end_ms)
{
	struct pollfd one = { .fd = fd, .events = events };
	int64_t left_ms;

	while ((left_ms = end_ms - clock_steady_ms()) > 0) {
		int ready = poll(&one, 1, (int)(left_ms < ASK_LOOK_MS ?
		    left_ms : ASK_LOOK_MS));

		if (ready > 0 || (ready < 0 && errno != EINTR))
			return ready > 0;
	}
	return false;
}

static int
ask_send_order(int fd, const struct publish_order *order, struct slice bytes,
    int64_t end_ms)
{
	struct str text = STR_INIT;
	struct slice rest;
	ssize_t n = 1;

	str_addf(&text, "%s %s", publish_verb_names[order->verb], order->id);
	if (order->number > 0)
		str_addf(&text, " %zu", order->number);
	if (order->hold_s > 0)
		str_addf(&text, " %" PRIu64, order->hold_s);
	str_addc(&text, '\n');
	str_add_slice(&text, bytes);
	rest = str_slice(&text);
	while (rest.n > 0 && n > 0) {
		n = !ask_waits(fd, POLLOUT, end_ms) ? 0 : send(fd, rest.p,
		    rest.n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			n = 1;
		else if (n > 0)
			rest = slice_from(rest, (size_t)n);
	}
	str_release(&text);
	return n > 0 ? 0 : -1;
}

/* To its end, or what is enough.  A node that says a byte now and then is not
 * heard longer than one that says nothing. */
static void
ask_hear(int fd, int64_t end_ms, struct str *out)
{
	ssize_t n = 1;

	while (out->len < ORDER_LINE_BYTES_MAX + ORDER_WORDS_BYTES_MAX &&
	    ask_waits(fd, POLLIN, end_ms)) {
		n = recv(fd, str_room(out, 4096), 4096, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		out->len += (size_t)n;
	}
	str_room(out, 1)[0] = '\0';
}

/* No line of another machine obeys a terminal. */
static void
ask_disarm(struct str *words)
{
	while (words->len > 0 && words->buf[words->len - 1] == '\n')
		str_truncate(words, words->len - 1);
	for (size_t i = 0; i < words->len; i++)
		if (((unsigned char)words->buf[i] < ' ' &&
		    words->buf[i] != '\n') ||
		    (unsigned char)words->buf[i] > '~')
			words->buf[i] = words->buf[i] == '\t' ? ' ' : '?';
}

static enum publish_said
ask_judge(struct slice heard, struct str *out_words)
{
	struct slice rest = heard, line, word;
	size_t bytes;

	if (slice_find(heard, '\n') == heard.n ||
	    !slice_cut(&rest, '\n', &line))
		return PUBLISH_CUT_OFF;
	switch (publish_answer_parse(line, &word, &bytes)) {
	case PUBLISH_OK:
		str_add_slice(out_words, word);
		if (bytes > 0)
			str_addf(out_words, " %zu", bytes);
		return PUBLISH_DONE;
	case PUBLISH_NO:
		str_add_slice(out_words, slice_first(rest, rest.n < bytes ?
		    rest.n : bytes));
		return rest.n < bytes ? PUBLISH_CUT_OFF : PUBLISH_REFUSED;
	case PUBLISH_NONSENSE:
		break;
	}
	str_adds(out_words, "it says nonsense");
	return PUBLISH_REFUSED;
}

enum publish_said
publish_ask_within(const struct conf *conf, const char *node,
    const struct publish_order *order, struct slice bytes, int64_t within_ms,
    struct str *out_words)
{
	int64_t end_ms = clock_steady_ms() + within_ms;
	struct str heard = STR_INIT;
	enum publish_said said = PUBLISH_CUT_OFF;
	struct err err;
	int fd = nodes_ask(conf->run_dir, node, NODES_CONFIG, NULL, &err);

	str_reset(out_words);
	if (fd < 0) {
		str_adds(out_words, err.text);
		ask_disarm(out_words);
		/* it answered, and takes nothing from here */
		return strstr(err.text, "publish") != NULL ?
		    PUBLISH_REFUSED : PUBLISH_SILENT;
	}
	if (ask_send_order(fd, order, bytes, end_ms) == 0) {
		ask_hear(fd, end_ms, &heard);
		said = ask_judge(str_slice(&heard), out_words);
	}
	close(fd);
	if (said == PUBLISH_CUT_OFF && out_words->len == 0)
		str_adds(out_words, "its answer was cut off");
	ask_disarm(out_words);
	str_release(&heard);
	return said;
}

enum publish_said
publish_ask(const struct conf *conf, const char *node,
    const struct publish_order *order, struct slice bytes,
    struct str *out_words)
{
	return publish_ask_within(conf, node, order, bytes, ASK_FOR_MS,
	    out_words);
}

/* Is what was asked seen there? */
static bool
ask_is_seen(enum publish_verb verb, struct slice state)
{
	switch (verb) {
	case PUBLISH_TAKE:
		return slice_is(state, "taken");
	case PUBLISH_KEEP:
		return slice_is(state, "kept");
	case PUBLISH_BACK:
	case PUBLISH_UNDO:
		return slice_is(state, "none");
	case PUBLISH_OFFER:
	case PUBLISH_LOOK:
	case PUBLISH_VERBS:
		break;
	}
	return false;
}

enum publish_said
publish_ask_surely(const struct conf *conf, const char *node,
    const struct publish_order *order, int64_t patience_ms,
    struct str *out_words)
{
	int64_t end_ms = clock_steady_ms() + patience_ms;
	struct publish_order look = *order;
	enum publish_said said = publish_ask(conf, node, order, SLICE(""),
	    out_words);

	look.verb = PUBLISH_LOOK;
	look.number = 0;
	while (said != PUBLISH_DONE && said != PUBLISH_REFUSED &&
	    clock_steady_ms() < end_ms) {
		struct str state = STR_INIT;
		enum publish_said seen;

		(void)poll(NULL, 0, ASK_NAP_MS);
		seen = publish_ask(conf, node, &look, SLICE(""), &state);
		str_truncate(&state, slice_find(str_slice(&state), ' '));
		if (seen == PUBLISH_DONE && ask_is_seen(order->verb,
		    str_slice(&state)))
			said = PUBLISH_DONE;
		else if (seen == PUBLISH_DONE && said == PUBLISH_SILENT)
			said = publish_ask(conf, node, order, SLICE(""),
			    out_words);
		else if (seen == PUBLISH_DONE && slice_is(str_slice(&state),
		    "none") && order->verb != PUBLISH_OFFER)
			said = PUBLISH_REFUSED;	/* it went back */
		str_release(&state);
	}
	return said;
}

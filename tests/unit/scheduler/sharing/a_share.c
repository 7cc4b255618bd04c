/* a_share.c - a process share of the test's own
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/unix_socket.h"
#include "tests/unit/scheduler/sharing/a_share.h"

struct a_share share;
struct yard yard;

void
share_open(unsigned epoch)
{
	struct err err;
	char path[256];

	snprintf(path, sizeof(path), "%s/run/share.sock", yard.dir);
	share.listener = unix_socket_listen(path, 0600, &err);
	cr_assert_geq(share.listener, 0, "%s", err.text);
	share.peer = -1;
	share.epoch = epoch;
	ipc_inbox_init(&share.inbox);
	str_init(&share.heard);
	str_init(&share.taken);
	str_init(&share.body);
	str_init(&share.control);
	str_init(&share.gone);
	share.offered = NULL;
}

/* Those of the question that b has. */
static void
share_add_left(struct slice token, struct slice ids, struct str *out)
{
	struct slice one;

	str_reset(out);
	while (slice_word(&ids, &one))
		if (share.gone.len > 0 && memmem(share.gone.buf,
		    share.gone.len, one.p, one.n) != NULL)
			str_addf(out, SLICE_FMT " left " SLICE_FMT " b\n",
			    SLICE_ARG(token), SLICE_ARG(one));
	str_addf(out, SLICE_FMT " ok\n", SLICE_ARG(token));
}

/* "offer SERIAL NODE ID..." */
static void
share_offer(struct slice rest, struct str *out)
{
	struct slice word;

	cr_assert(slice_word(&rest, &word) && slice_word(&rest, &word));
	if (share.offered != NULL)
		str_addf(out, " ok %s\n", share.offered);
	else
		str_addf(out, " ok offered " SLICE_FMT "\n",
		    SLICE_ARG(rest));
}

static void
share_read_fd(struct str *out)
{
	int fd = ipc_take_fd(&share.inbox);
	char bytes[8192];
	ssize_t n;

	cr_assert_geq(fd, 0, "a descriptor is missing");
	str_reset(out);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		str_add(out, bytes, (size_t)n);
	close(fd);
}

static void
share_say(const struct str *text)
{
	cr_assert_eq(ipc_send(share.peer, str_slice(text), NULL, 0),
	    (ssize_t)text->len);
}

static void
share_answer(struct slice line)
{
	struct str out = STR_INIT;
	struct slice token, rest = line, verb, one;

	cr_assert(slice_word(&rest, &token) && slice_word(&rest, &verb));
	str_add_slice(&out, token);
	if (slice_is(verb, "lease")) {
		if (share.epoch > 0)
			str_addf(&out, " ok held 15000 %u\n", share.epoch);
		else
			str_adds(&out, " ok none another has it\n");
	} else if (slice_is(verb, "taken") && share.listless > 0) {
		share.listless--;
		str_adds(&out, " ok away tired\n");
	} else if (slice_is(verb, "taken")) {
		share.lists++;
		str_reset(&out);
		rest = str_slice(&share.taken);
		while (rest.n > 0 && slice_cut(&rest, '\n', &one))
			str_addf(&out, SLICE_FMT " taken " SLICE_FMT "\n",
			    SLICE_ARG(token), SLICE_ARG(one));
		str_addf(&out, SLICE_FMT " ok\n", SLICE_ARG(token));
	} else {
		str_addf(&share.heard, SLICE_FMT SLICE_FMT "|",
		    SLICE_ARG(verb), SLICE_ARG(rest));
		if (slice_is(verb, "kept")) {
			share_read_fd(&share.body);
			share_read_fd(&share.control);
		}
		if (slice_is(verb, "left") || slice_is(verb, "withdraw")) {
			share_add_left(token, rest, &out);
			share_say(&out);
			str_release(&out);
			return;
		}
		if (slice_is(verb, "offer")) {
			share_offer(rest, &out);
			share_say(&out);
			str_release(&out);
			return;
		}
		str_adds(&out, share.away > 0 ? " ok away tired\n" :
		    " ok ok\n");
		share.away -= share.away > 0;
	}
	share_say(&out);
	str_release(&out);
}

/* What has come. */
void
share_turn(void)
{
	struct slice line;
	size_t cursor = 0;

	if (share.peer < 0)
		share.peer = accept4(share.listener, NULL, NULL,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (share.peer < 0)
		return;
	while (ipc_receive(share.peer, &share.inbox) == IPC_GOT)
		;
	while (ipc_line(&share.inbox, &cursor, &line) == IPC_LINE)
		share_answer(line);
	ipc_inbox_consume(&share.inbox, cursor);
}

bool
share_heard(struct yard *y, void *arg)
{
	share_turn();
	return strstr(share.heard.buf != NULL ? share.heard.buf : "", arg) !=
	    NULL;
}

bool
is_delivered(struct yard *y, void *arg)
{
	share_turn();
	return y->shared->delivered >= *(unsigned *)arg;
}

bool
may_deliver(struct yard *y, void *arg)
{
	share_turn();
	return sharing_may_deliver(y->scheduler.queue.sharing);
}

bool
is_in_trash(struct yard *y, void *arg)
{
	share_turn();
	return yard_has(y, "trash", *(ino_t *)arg, ".queue-deleted");
}

bool
is_listed(struct yard *y, void *arg)
{
	share_turn();
	return share.lists >= *(unsigned *)arg;
}


void
copies_begin(const char *lease)
{
	struct str text = STR_INIT;

	str_addf(&text, CLUSTER "lease %s }\n%s", lease, yard_quick);
	yard_open(&yard, text.buf);
	str_release(&text);
}

void
copies_end(void)
{
	if (share.peer >= 0)
		close(share.peer);
	close(share.listener);
	ipc_inbox_release(&share.inbox);
	yard_close(&yard);
}

char *
told(const char *verb, const char *id)
{
	static char text[80];

	snprintf(text, sizeof(text), "%s %s|", verb, id);
	return text;
}

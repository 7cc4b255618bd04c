/* fuzz_client.c - everything a peer says in one SMTP or LMTP session
 *
 * The first byte chooses the protocol and what the peer announced.  Whatever
 * it says: every recipient gets a verdict that can stand in a record, and
 * at most one end of a message a transaction goes out.
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/fuzz/fuzz.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

enum { RCPTS = 3, SESSION_BYTES_MAX = 60000 };

static struct conf conf = {
	.host = "me.test",
	.timeouts = {
		.connect_ms = 1, .greeting_ms = 1000, .helo_ms = 1000,
		.mail_ms = 1000, .rcpt_ms = 1000, .data_start_ms = 1000,
		.data_block_ms = 1000, .data_end_ms = 1000, .quit_ms = 1,
	},
};

/* A Unix socket that nobody listens at: there is one session only. */
static const char host[] = "unix:/nonexistent/zm-fuzz";

static int
body_open(void)
{
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("body", MFD_CLOEXEC);
		MUST(fd >= 0 && write(fd, "hello\n.\n", 8) == 8);
	}
	return fd;
}

static void
verdict_check(const struct verdict *verdict)
{
	static const char class[VERDICT_KINDS] = {
		[VERDICT_DELIVERED] = '2', [VERDICT_RELAYED] = '2',
		[VERDICT_EXPANDED] = '2', [VERDICT_DEFERRED] = '4',
		[VERDICT_FAILED] = '5' };

	MUST((int)verdict->kind >= 0 && verdict->kind < VERDICT_KINDS);
	MUST(verdict->status[0] == class[verdict->kind]);
	MUST(verdict->text[0] != '\0');
	MUST(!fuzz_has_control(slice_of(verdict->text)));
	MUST(!fuzz_has_control(slice_of(verdict->who)));
}

static void
session(struct smtp_client *client, bool is_lmtp, unsigned extensions,
    int peer_fd)
{
	static const struct client_policy policy = { .level =
	    TLS_LEVEL_NONE };
	struct control_rcpt rcpts[RCPTS] = { { .user = SLICE("r1@x.test") },
	    { .user = SLICE("r2@x.test") }, { .user = SLICE("r3@x.test") } };
	struct control_job job = { .host = slice_of(host),
	    .sender = SLICE("a@src.test"), .header = SLICE("Subject: s\n"),
	    .size_bytes = 20, .rcpts = rcpts, .rcpt_count = RCPTS };
	struct verdict verdicts[RCPTS], trouble;
	struct arena *arena = arena_new();

	memset(verdicts, 0xff, sizeof(verdicts));
	client_init(client, &conf, is_lmtp);
	peer_adopt(&client->peer, peer_fd);
	strlcpy(client->who, "peer", sizeof(client->who));
	if (client_hello(client, &(struct client_hello){ .policy = &policy,
	    .name = "peer", .is_by_mx = true }, &trouble)) {
		strlcpy(client->host, host, sizeof(client->host));
		client->used_at_ms = clock_steady_ms();
		client->offer.extensions |= extensions;
		client_deliver(client, arena, &job, body_open(), verdicts);
		for (int i = 0; i < RCPTS; i++)
			verdict_check(&verdicts[i]);
	} else {
		verdict_check(&trouble);
	}
	client_release(client);
	arena_free(&arena);
}

/* How many ends of messages the client said. */
static unsigned
ends_heard(int fd)
{
	static char heard[1 << 20];
	struct slice rest = { heard, 0 };
	unsigned count = 0;
	ssize_t n;

	while (rest.n < sizeof(heard) && (n = recv(fd, heard + rest.n,
	    sizeof(heard) - rest.n, MSG_DONTWAIT)) > 0)
		rest.n += (size_t)n;
	for (size_t i = 0; i + 5 <= rest.n; i++)
		count += memcmp(heard + i, "\r\n.\r\n", 5) == 0;
	return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct smtp_client client;
	int ends[2];

	if (size < 1 || size > SESSION_BYTES_MAX)
		return 0;
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	MUST(send(ends[1], data + 1, size - 1, MSG_DONTWAIT) ==
	    (ssize_t)size - 1);
	shutdown(ends[1], SHUT_WR);
	session(&client, data[0] & 1, data[0] & 2 ? CLIENT_PIPELINING : 0,
	    ends[0]);
	MUST(ends_heard(ends[1]) <= RCPTS);
	close(ends[1]);
	return 0;
}

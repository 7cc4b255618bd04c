/* fuzz_agent.c - everything a scheduler says to an agent
 *
 * Two descriptors ride on the first byte.  Whatever is said: the agent
 * comes to its end, answers in whole lines, leaks no descriptor.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "io/ipc.h"
#include "transports/frame/agent.h"

#include "base/banned.h"

enum { TALK_BYTES_MAX = 60000 };

static struct control_rcpt rcpts[2] = {
	{ .channel = SLICE("c"), .host = SLICE("h"), .user = SLICE("u1") },
	{ .channel = SLICE("c"), .host = SLICE("h"), .user = SLICE("u2") },
};

static int
job(struct agent_run *run, struct control_job *control, int body_fd,
    struct verdict verdicts[])
{
	for (size_t i = 0; i < control->rcpt_count; i++)
		verdict_set(&verdicts[i], VERDICT_DELIVERED, NULL, "fuzz",
		    "done");
	return 0;
}

static const struct agent_kind agent = { .name = "fuzz", .channel = "c",
	.job = job };

/* A control file of id 0123456789abcde, as corpus/agent names it. */
static int
control_open(void)
{
	struct control_group group = { .sender = SLICE("a@b"),
	    .header = SLICE("Subject: s\n"), .rcpts = rcpts,
	    .rcpt_count = 2 };
	struct control_file control = { .id = "0123456789abcde", .inode = 1,
	    .groups = &group, .group_count = 1 };
	struct str text = STR_INIT;
	struct err err;
	char path[64];
	int fd = memfd_create("control", MFD_CLOEXEC), append;

	MUST(fd >= 0 && control_file_format(&control, &text, &err) == 0);
	MUST(write(fd, text.buf, text.len) == (ssize_t)text.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	append = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
	MUST(append >= 0);
	close(fd);
	str_release(&text);
	return append;
}

static void
answers_check(int fd)
{
	static char heard[1 << 20];
	size_t n = 0;
	ssize_t got;

	while (n < sizeof(heard) && (got = recv(fd, heard + n,
	    sizeof(heard) - n, MSG_DONTWAIT)) > 0)
		n += (size_t)got;
	MUST(n >= 8 && heard[n - 1] == '\n');
	MUST(memcmp(heard, "#hungry\n", 8) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct conf conf;
	struct agent_run run = { .agent = &agent, .conf = &conf };
	int ends[2], fds[2], big = 4 << 20;
	struct err err;

	if (size < 1 || size > TALK_BYTES_MAX)
		return 0;
	MUST(ipc_pair(ends, &err) == 0);
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &big, sizeof(big));
	fds[0] = memfd_create("body", MFD_CLOEXEC);
	fds[1] = control_open();
	MUST(ipc_send(ends[0], fuzz_slice(data, size), fds, 2) ==
	    (ssize_t)size);
	close(fds[0]);
	close(fds[1]);
	shutdown(ends[0], SHUT_WR);
	run.arena = arena_new();
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	(void)agent_serve(&run, ends[1], ends[1], &err);
	arena_free(&run.arena);
	close(ends[1]);
	answers_check(ends[0]);
	close(ends[0]);
	/* the lowest free descriptor is where it was */
	MUST(ends[0] <= 16);
	return 0;
}

/* memory.c - the door and the memory of the sink
 *
 * In     a port; pairs of sender and recipient
 * Out    a listening socket; whether a pair is new
 * Holds  64-bit hashes of pairs
 *
 * SPDX-License-Identifier: ISC
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "tools/zmailer/sink/sink.h"

#include "base/banned.h"

enum { BACKLOG = 1024, GREY_FIRST = 1024 };

int
sink_listen(unsigned port, unsigned *out_port, struct err *err)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	socklen_t length = sizeof(address);
	int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);

	if (fd < 0)
		return err_sys(err, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, length) != 0 ||
	    listen(fd, BACKLOG) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
		close(fd);
		return err_sys(err, "cannot listen on 127.0.0.1:%u", port);
	}
	*out_port = ntohs(address.sin_port);
	return fd;
}

static uint64_t
pair_hash(struct slice sender, struct slice rcpt)
{
	uint32_t low = crc32c(crc32c(0, sender.p, sender.n), "\t", 1);
	uint32_t high = crc32c(1, rcpt.p, rcpt.n);

	low = crc32c(low, rcpt.p, rcpt.n);
	high = crc32c(high, sender.p, sender.n);
	return ((uint64_t)high << 32 | low) | 1;	/* 0 is free */
}

/* The place of hash, or a free one for it. */
static size_t
grey_place(const struct sink *sink, uint64_t hash)
{
	size_t place = hash % sink->grey_size;

	while (sink->grey[place] != 0 && sink->grey[place] != hash)
		place = (place + 1) % sink->grey_size;
	return place;
}

static void
grey_grow(struct sink *sink)
{
	struct sink bigger = *sink;

	bigger.grey_size = sink->grey_size ? sink->grey_size * 2 :
	    (size_t)GREY_FIRST;
	bigger.grey = mem_alloc(bigger.grey_size, sizeof(uint64_t));
	for (size_t i = 0; i < sink->grey_size; i++)
		if (sink->grey[i] != 0)
			bigger.grey[grey_place(&bigger, sink->grey[i])] =
			    sink->grey[i];
	mem_free(&sink->grey);
	*sink = bigger;
}

bool
sink_grey_seen(struct sink *sink, struct slice sender, struct slice rcpt)
{
	uint64_t hash = pair_hash(sender, rcpt);
	size_t place;

	if (sink->grey_count >= SINK_GREY_MAX)
		return true;
	if (sink->grey_count * 2 >= sink->grey_size)
		grey_grow(sink);
	place = grey_place(sink, hash);
	if (sink->grey[place] == hash)
		return true;
	sink->grey[place] = hash;
	sink->grey_count++;
	return false;
}

void
sink_release(struct sink *sink)
{
	sink_drop_all(sink);
	mem_free(&sink->grey);
	sink->grey_size = sink->grey_count = 0;
}

/* milter.c - a filter that hears everything and lets everything pass
 *
 * In     the milter protocol, version 6, over TCP
 * Out    "port N"; at the end of stdin how many messages it has heard
 * Holds  a thread a connection
 * Spec   smtpserver/milter/packet.h has the letters
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PACKET_BYTES_MAX = 1 << 20, HEAD_BYTES = 4 };

static atomic_uint messages;

static int
take(int fd, unsigned char *out, size_t n)
{
	while (n > 0) {
		ssize_t got = read(fd, out, n);

		if (got <= 0)
			return 0;
		out += got;
		n -= (size_t)got;
	}
	return 1;
}

static uint32_t
number(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
	    (uint32_t)at[2] << 8 | at[3];
}

static int
say(int fd, const void *packet, uint32_t n)
{
	unsigned char out[64];
	uint32_t size = htonl(n);

	memcpy(out, &size, HEAD_BYTES);
	memcpy(out + HEAD_BYTES, packet, n);
	return write(fd, out, HEAD_BYTES + n) == (ssize_t)(HEAD_BYTES + n);
}

/* What the server can do is welcome, what it could leave out is not: an
 * answer to every command.  Of its offer the version alone is used. */
static int
negotiate(int fd)
{
	unsigned char packet[1 + 3 * sizeof(uint32_t)] = { 'O', 0, 0, 0, 6 };

	return say(fd, packet, sizeof(packet));
}

static int
obey(int fd, unsigned char command)
{
	switch (command) {
	case 'O':
		return negotiate(fd);
	case 'D':		/* macros */
	case 'A':		/* abort */
	case 'K':		/* this client has gone, another may come */
		return 1;
	case 'Q':
		return 0;
	case 'E':
		atomic_fetch_add(&messages, 1);
		return say(fd, "c", 1);
	default:
		return say(fd, "c", 1);
	}
}

static void *
serve(void *argument)
{
	int fd = (int)(intptr_t)argument;
	unsigned char head[HEAD_BYTES], *packet = malloc(PACKET_BYTES_MAX);

	while (packet != NULL && take(fd, head, sizeof(head))) {
		uint32_t n = number(head);

		if (n == 0 || n > PACKET_BYTES_MAX || !take(fd, packet, n) ||
		    !obey(fd, packet[0]))
			break;
	}
	free(packet);
	close(fd);
	return NULL;
}

static void *
accept_all(void *argument)
{
	int door = (int)(intptr_t)argument, one = 1;

	for (;;) {
		int fd = accept(door, NULL, NULL);
		pthread_t thread;

		if (fd < 0)
			continue;
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
		    sizeof(one));
		if (pthread_create(&thread, NULL, serve,
		    (void *)(intptr_t)fd) != 0)
			close(fd);
		else
			(void)pthread_detach(thread);
	}
	return NULL;
}

int
main(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(here);
	int door = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;
	char byte;

	if (door < 0 || bind(door, (struct sockaddr *)&here, length) != 0 ||
	    listen(door, 1024) != 0 ||
	    getsockname(door, (struct sockaddr *)&here, &length) != 0 ||
	    pthread_create(&thread, NULL, accept_all,
	    (void *)(intptr_t)door) != 0) {
		perror("milter");
		return 1;
	}
	printf("port %d\n", ntohs(here.sin_port));
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	printf("messages %u\n", atomic_load(&messages));
	return 0;
}

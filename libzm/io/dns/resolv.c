/* resolv.c - what musl lacks: questions to name servers, a state each
 *
 * In     /etc/resolv.conf; a question; datagrams and streams of servers
 * Out    the bytes of an answer, or what there was instead (netdb.h)
 * Holds  a socket for a question, as long as it is asked
 * Trusts no datagram: the socket is connected to the server that was asked,
 *        and an answer repeats id and question
 * Spec   res_query(3); RFC 1035 sections 4.2.1, 4.2.2; RFC 7766
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/dns/resolv.h"

#if !HAVE_DECL_RES_NQUERY
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/dns/dns.h"

#include "base/banned.h"

enum { LINE_BYTES = 512, NAME_SERVER_PORT = 53, LENGTH_BYTES = 2,
	RESOLV_AD = 0x20 };	/* in byte 3 of an answer */

/* The row of a name server, by its address. */
static void
state_add(struct __res_state *state, const char *text)
{
	struct sockaddr_in *four = &state->nsaddr_list[state->nscount];
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
		.sin6_port = htons(NAME_SERVER_PORT) }, *kept;

	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(NAME_SERVER_PORT);
		state->nscount++;
	} else if (inet_pton(AF_INET6, text, &six.sin6_addr) == 1) {
		kept = mem_alloc(1, sizeof(six));
		*kept = six;
		state->_u._ext.nsaddrs[state->nscount] = kept;
		four->sin_family = 0;
		state->nscount++;
	}
}

int
res_ninit(struct __res_state *state)
{
	FILE *file = fopen("/etc/resolv.conf", "re");
	char line[LINE_BYTES], word[64];

	while (file != NULL && state->nscount < MAXNS &&
	    fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "nameserver %63s", word) == 1)
			state_add(state, word);
	if (file != NULL)
		fclose(file);
	if (state->nscount == 0)
		state_add(state, "127.0.0.1");
	return 0;
}

void
res_nclose(struct __res_state *state)
{
	for (int i = 0; i < MAXNS; i++) {
		mem_release(state->_u._ext.nsaddrs[i]);
		state->_u._ext.nsaddrs[i] = NULL;
	}
	state->nscount = 0;
}

/* A socket to the server of that row; -1: there is none. */
static int
server_connect(const struct __res_state *state, int row, int type)
{
	const struct sockaddr_in *four = &state->nsaddr_list[row];
	const struct sockaddr_in6 *six = state->_u._ext.nsaddrs[row];
	bool is_six = four->sin_family == 0 && six != NULL;
	struct timeval patience = { .tv_sec = state->retrans };
	int fd = socket(is_six ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	/* connect(2) and write(2) wait as long as that, too */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
	    sizeof(patience));
	if ((is_six ? connect(fd, (const struct sockaddr *)six, sizeof(*six)) :
	    connect(fd, (const struct sockaddr *)four, sizeof(*four))) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The next bytes until a moment.  -1: none. */
static ssize_t
server_read(int fd, unsigned char *out, size_t size, int64_t until_ms)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };
	int64_t left_ms = until_ms - clock_steady_ms();

	if (left_ms <= 0 || poll(&wanted, 1, (int)left_ms) != 1)
		return -1;
	return recv(fd, out, size, MSG_DONTWAIT);
}

/* By one datagram.  How long the answer is; 0: none came. */
static size_t
ask_by_datagram(const struct __res_state *state, int row, struct slice query,
    unsigned char *answer, size_t size)
{
	int64_t until_ms = clock_steady_ms() + state->retrans * 1000;
	int fd = server_connect(state, row, SOCK_DGRAM);
	ssize_t n = 0;

	if (fd < 0)
		return 0;
	if (send(fd, query.p, query.n, MSG_NOSIGNAL) >= 0)
		do	/* what answers another question is let go by */
			n = server_read(fd, answer, size, until_ms);
		while (n >= 0 && !dns_is_answer(answer, (size_t)n,
		    (const unsigned char *)query.p, query.n));
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* Read n bytes of a stream.  0; -1: they do not come. */
static int
resolv_take(int fd, unsigned char *out, size_t n, int64_t until_ms)
{
	for (size_t have = 0; have < n;) {
		ssize_t more = server_read(fd, out + have, n - have, until_ms);

		if (more <= 0)
			return -1;
		have += (size_t)more;
	}
	return 0;
}

/* By a stream, for an answer that a datagram had no room for. */
static size_t
ask_by_stream(const struct __res_state *state, int row, struct slice query,
    unsigned char *answer, size_t size)
{
	int64_t until_ms = clock_steady_ms() + state->retrans * 1000;
	unsigned char framed[LENGTH_BYTES + DNS_QUERY_BYTES_MAX];
	int fd = server_connect(state, row, SOCK_STREAM);
	size_t n = 0;

	if (fd < 0)
		return 0;
	framed[0] = (unsigned char)(query.n >> 8);
	framed[1] = (unsigned char)query.n;
	memcpy(framed + LENGTH_BYTES, query.p, query.n);
	if (send(fd, framed, LENGTH_BYTES + query.n, MSG_NOSIGNAL) ==
	    (ssize_t)(LENGTH_BYTES + query.n) &&
	    resolv_take(fd, framed, LENGTH_BYTES, until_ms) == 0)
		n = dns_get16(framed);
	if (n > size || resolv_take(fd, answer, n, until_ms) < 0 ||
	    !dns_is_answer(answer, n, (const unsigned char *)query.p, query.n))
		n = 0;
	close(fd);
	return n;
}

/* What res_h_errno says of an answer; 0: it has records.  -1: ask another
 * server. */
static int
resolv_trouble(const unsigned char *answer, size_t n)
{
	if (n < NS_HFIXEDSZ || (answer[3] & 0x0f) == ns_r_servfail)
		return -1;
	switch (answer[3] & 0x0f) {
	case ns_r_noerror:
		return answer[6] == 0 && answer[7] == 0 ? NO_DATA : 0;
	case ns_r_nxdomain:
		return HOST_NOT_FOUND;
	default:
		return NO_RECOVERY;
	}
}

int
res_nquery(struct __res_state *state, const char *name, int class, int type,
    unsigned char *answer, int size)
{
	unsigned char bytes[DNS_QUERY_BYTES_MAX];
	struct slice query = { (const char *)bytes, dns_make_query(name,
	    (enum dns_type)type, (uint16_t)arc4random(), bytes) };
	int trouble = -1;

	state->res_h_errno = query.n == 0 || class != ns_c_in ? NO_RECOVERY :
	    TRY_AGAIN;
	if (state->res_h_errno == NO_RECOVERY)
		return -1;
	for (int i = 0; i < state->retry * state->nscount; i++) {
		int row = i % state->nscount;
		size_t n = ask_by_datagram(state, row, query, answer,
		    (size_t)size);

		if (n > 0 && dns_answer_is_cut(answer, n))
			n = ask_by_stream(state, row, query, answer,
			    (size_t)size);
		if (n >= NS_HFIXEDSZ && !(state->options & RES_TRUSTAD))
			answer[3] &= (unsigned char)~RESOLV_AD;
		trouble = resolv_trouble(answer, n);
		if (trouble == 0)
			return (int)n;
		if (trouble > 0)
			break;
	}
	if (trouble > 0)
		state->res_h_errno = trouble;
	return -1;
}

#else
/* A file of C has something in it. */
extern int resolv_is_the_librarys;
#endif

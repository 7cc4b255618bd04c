/* ports.c - do our listeners answer; may we reach others
 *
 * In     the listeners of the configuration
 * Out    findings
 * Holds  one connection at a time, each with a bound
 * Trusts no greeting: it is cut and escaped
 * Spec   zmailer-doctor(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tls/client.h"
#include "tools/zmailer/doctor/doctor.h"

#include "base/banned.h"

enum { GREETING_BYTES = 160 };

/* All addresses: knock at the loopback one. */
static void
ports_reachable(struct sockaddr_storage *address)
{
	struct sockaddr_in *four = (struct sockaddr_in *)address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET &&
	    four->sin_addr.s_addr == htonl(INADDR_ANY))
		four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (address->ss_family == AF_INET6 &&
	    IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr))
		six->sin6_addr = in6addr_loopback;
}

/* A connection, or -1 with errno. */
static int
ports_knock(const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(int);
	int error = 0;

	if (fd < 0)
		return -1;
	if (connect(fd, address, length) == 0)
		return fd;
	if (errno != EINPROGRESS)
		error = errno;
	else if (poll(&wait, 1, DOCTOR_CONNECT_MS) != 1)
		error = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
		error = errno;
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* The first line within the bound; "" none. */
static void
greeting_read(int fd, int wait_ms, char out[GREETING_BYTES])
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	ssize_t n = poll(&wait, 1, wait_ms) == 1 ?
	    read(fd, out, GREETING_BYTES - 1) : 0;

	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\r\n")] = '\0';
}

/* Does the answer to EHLO offer STARTTLS?  Bytes that do not come in time
 * are no answer: then true. */
static bool
offers_tls(int fd, int wait_ms)
{
	static const char hello[] = "EHLO localhost\r\n";
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char reply[2048];
	size_t have = 0;
	ssize_t n;

	if (write(fd, hello, sizeof(hello) - 1) != sizeof(hello) - 1)
		return true;
	for (;;) {
		n = poll(&wait, 1, wait_ms) == 1 ? read(fd, reply + have,
		    sizeof(reply) - 1 - have) : 0;
		if (n <= 0)
			return true;
		have += (size_t)n;
		reply[have] = '\0';
		if (strstr(reply, "STARTTLS\r\n") != NULL)
			return true;
		if (strncmp(reply, "250 ", 4) == 0 ||
		    strstr(reply, "\n250 ") != NULL)
			return false;
	}
}

/* Conditions that people set (ehlo ... without) are theirs: we come from
 * loopback. */
static void
judge_tls(struct doctor *doctor, const struct conf_listen *listen, int fd)
{
	if (conf_has_certificate(doctor->conf) &&
	    doctor->conf->without_count == 0 &&
	    !offers_tls(fd, DOCTOR_CONNECT_MS))
		doctor_add(doctor, DOCTOR_BAD, listen->text,
		    "zmailer events state:certificate.refused; zmailer reload",
		    "a certificate is configured, and STARTTLS is not "
		    "offered");
}

/* True: it is our greeting. */
static bool
judge_greeting(struct doctor *doctor, const struct conf_listen *listen,
    const char *greeting, int wait_ms)
{
	bool is_ours = strncmp(greeting, "220", 3) == 0;

	if (is_ours)
		doctor_add(doctor, DOCTOR_OK, listen->text, "",
		    "it answers%s: %s", listen->is_tls ? " in TLS" : "",
		    greeting);
	else if (strncmp(greeting, "421", 3) == 0)
		doctor_add(doctor, DOCTOR_WARN, listen->text,
		    "see zmailer events; limit sessions",
		    "it is too busy: %s", greeting);
	else if (greeting[0] == '\0')
		doctor_add(doctor, DOCTOR_BAD, listen->text,
		    "is smtpserver stopped? ps tells; or is it another "
		    "program? ss -ltnp tells",
		    "no greeting within %d s", wait_ms / 1000);
	else
		doctor_add(doctor, DOCTOR_BAD, listen->text,
		    "is it another program? ss -ltnp tells",
		    "not our greeting: %s", greeting);
	return is_ours;
}

/* The text before the first line end. */
static void
greeting_take(struct slice line, char out[GREETING_BYTES])
{
	size_t n = line.n < GREETING_BYTES ? line.n : GREETING_BYTES - 1;

	if (n > 0)
		memcpy(out, line.p, n);
	out[n] = '\0';
	out[strcspn(out, "\r\n")] = '\0';
}

/* TLS from the first byte: an open port proves nothing.  Another area checks
 * the certificate. */
static void
judge_implicit_tls(struct doctor *doctor, const struct conf_listen *listen,
    int fd, int wait_ms)
{
	static const struct tls_client_files none = { NULL, NULL, NULL };
	static const struct tls_goal goal = { .key = "", .sni = "" };
	int64_t deadline_ms = clock_steady_ms() + wait_ms;
	struct err err = { "" };
	struct tls_client *client = tls_client_new(&none, &err);
	char greeting[GREETING_BYTES];
	struct tls_info info;
	struct peer peer;

	peer_init(&peer);
	peer_adopt(&peer, fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (client == NULL || peer_start_tls(&peer, client, &goal,
	    deadline_ms, &info, &err) != PEER_OK) {
		doctor_add(doctor, DOCTOR_BAD, listen->text,
		    "zmailer events state:certificate.refused; zmailer reload",
		    "it is open, and does not speak TLS: %s", err.text);
	} else {
		while (slice_find(peer_unread(&peer), '\n') ==
		    peer_unread(&peer).n && peer_fill(&peer, deadline_ms,
		    &err) == PEER_OK)
			continue;
		greeting_take(peer_unread(&peer), greeting);
		(void)judge_greeting(doctor, listen, greeting, wait_ms);
	}
	peer_release(&peer);
	tls_client_free(&client);
}

static void
judge_answer(struct doctor *doctor, const struct conf_listen *listen, int fd)
{
	int wait_ms = DOCTOR_CONNECT_MS +
	    (int)doctor->conf->greet_pause_ms;
	char greeting[GREETING_BYTES];

	if (listen->is_tls) {
		judge_implicit_tls(doctor, listen, fd, wait_ms);
		return;
	}
	greeting_read(fd, wait_ms, greeting);
	if (judge_greeting(doctor, listen, greeting, wait_ms))
		judge_tls(doctor, listen, fd);
}

static void
judge_listener(struct doctor *doctor, const struct conf_listen *listen)
{
	struct sockaddr_storage address = listen->address;
	int fd;

	ports_reachable(&address);
	fd = ports_knock((const struct sockaddr *)&address, listen->length);
	if (fd >= 0 && doctor->is_running)
		judge_answer(doctor, listen, fd);
	else if (fd >= 0)
		doctor_add(doctor, DOCTOR_BAD, listen->text,
		    "stop that program, or listen elsewhere",
		    "zmailer does not run, and another program listens here");
	else if (!doctor->is_running)
		doctor_add(doctor, DOCTOR_OK, listen->text, "",
		    "it is free");
	else if (!listen->is_optional)
		doctor_add(doctor, DOCTOR_BAD, listen->text,
		    errno == EACCES || errno == EPERM ?
		    "you may not connect; ask as root" :
		    "zmailer status; zmailer events", "nobody answers: %s",
		    strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* Many networks let mail out only through their relay. */
static void
judge_outbound(struct doctor *doctor)
{
	struct dns_address found[DNS_ADDRESS_MAX];
	const char *host = doctor->outbound;
	char greeting[GREETING_BYTES];
	struct err err = { "no address" };
	size_t n = 0;
	int fd = -1;

	if (dns_use(doctor->conf->dns_server, &err) != 0 ||
	    dns_addresses(host, found, &n, NULL, &err) != DNS_OK) {
		doctor_add(doctor, DOCTOR_BAD, host, "is it a host's name?",
		    "it cannot be looked up: %s", err.text);
		return;
	}
	for (size_t i = 0; i < n && fd < 0; i++) {
		struct sockaddr_storage *address = &found[i].address;
		in_port_t port = htons((uint16_t)doctor->conf->mx_port);

		if (address->ss_family == AF_INET)
			((struct sockaddr_in *)address)->sin_port = port;
		else
			((struct sockaddr_in6 *)address)->sin6_port = port;
		fd = ports_knock((struct sockaddr *)address, found[i].length);
	}
	if (fd < 0) {
		doctor_add(doctor, DOCTOR_BAD, host,
		    "many providers block port 25 outwards: ask yours to "
		    "open it, or send by a relay: route * via HOST:587",
		    "port %u cannot be reached: %s", doctor->conf->mx_port,
		    strerror(errno));
		return;
	}
	greeting_read(fd, DOCTOR_CONNECT_MS, greeting);
	close(fd);
	doctor_add(doctor, strncmp(greeting, "220", 3) == 0 ? DOCTOR_OK :
	    DOCTOR_WARN, host, "", "port %u is open: %s",
	    doctor->conf->mx_port, greeting[0] == '\0' ? "no greeting yet" :
	    greeting);
}

void
doctor_ports(struct doctor *doctor)
{
	const struct conf *conf = doctor->conf;

	for (size_t i = 0; i < conf->listen_count; i++) {
		doctor_progress(doctor, "knocking at ports", i,
		    conf->listen_count);
		judge_listener(doctor, &conf->listens[i]);
	}
	if (doctor->outbound != NULL) {
		doctor_progress(doctor, "knocking outwards", 0, 1);
		judge_outbound(doctor);
	}
	doctor_progress(doctor, "", 0, 0);
}

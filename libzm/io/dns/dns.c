/* dns.c - MX, A and AAAA, asked of the resolver and taken apart
 *
 * In     domains and host names from envelopes and configuration
 * Out    hosts in the order to be tried, addresses
 * Holds  resolver states, one for each thread that asks at a time; forgets
 *        every answer
 * Trusts no answer: lengths are ns_parserr's, counts are bounded here,
 *        host names must be host names
 * Spec   RFC 5321 section 5.1, RFC 7505, RFC 1035
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <fcntl.h>
#include <idn2.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grammar/net.h"
#include "io/dns/dns.h"
#include "io/dns/resolv.h"

#include "base/banned.h"

enum {
	DNS_ANSWER_BYTES = 65536,	/* all that TCP can carry */
	DNS_TRIES = 2,
	DNS_TRY_S = 5,
	DNS_PORT = 53,
	DNS_DATAGRAM_BYTES = 4096,	/* more than a failure takes */
	HOSTS_FILE_BYTES_MAX = 65536	/* what is read of /etc/hosts */
};

enum {				/* bytes 2 and 3 of an answer */
	ANSWER_QR = 0x80, ANSWER_AD = 0x20, ANSWER_RCODE = 0x0f
};

struct dns_found {		/* what dns_addresses fills */
	struct dns_address	*out;
	size_t			*out_n;
	struct dns_trust	 trust;
};

struct resolver {
	struct __res_state state;
	unsigned char	 answer[DNS_ANSWER_BYTES];
	bool		 is_busy;
};

static struct resolver resolvers[DNS_RESOLVERS_MAX];
static unsigned resolver_count;		/* that are open */
static pthread_mutex_t resolver_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t resolver_is_free = PTHREAD_COND_INITIALIZER;
static char own_server[64];		/* "": the system's */
static char hosts_text[HOSTS_FILE_BYTES_MAX];
static size_t hosts_bytes;
static bool has_hosts;			/* read for good */

/* /etc/hosts as it is now. */
static void
hosts_read(void)
{
	int fd = open("/etc/hosts", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, hosts_text, sizeof(hosts_text));

	if (fd >= 0)
		close(fd);
	hosts_bytes = n < 0 ? 0 : (size_t)n;
}

/* Whether every server that may answer is on this machine: then the AD bit
 * of an answer says that it validated it, and nobody between could set it.
 * The bit of another server is anybody's (RFC 4035 section 4.9.3). */
static bool
state_is_here(const struct __res_state *state)
{
	for (int i = 0; i < state->nscount; i++) {
		const struct sockaddr_in *four = &state->nsaddr_list[i];

		if (four->sin_family == AF_INET &&
		    ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET)
			continue;
#ifdef RESOLV_HAS_SIX
		if (four->sin_family == 0 &&
		    state->_u._ext.nsaddrs[i] != NULL &&
		    IN6_IS_ADDR_LOOPBACK(
		    &state->_u._ext.nsaddrs[i]->sin6_addr))
			continue;
#endif
		return false;
	}
	return state->nscount > 0;
}

/* The library takes the AD bit out of an answer unless it is told not to. */
static void
state_set_trust(struct __res_state *state)
{
#ifdef RES_USE_EDNS0
	/* then it may say why it failed (RFC 8914) */
	if (state_is_here(state))
		state->options |= RES_USE_EDNS0;
#endif
#ifdef RES_TRUSTAD
	state->options &= ~(unsigned long)RES_TRUSTAD;
	if (state_is_here(state))
		state->options |= RES_TRUSTAD;
#else
	(void)state_is_here(state);
#endif
}

/* Point the resolver at one server.  An IPv6 address goes where glibc
 * keeps it: sin_family 0 and a pointer beside the IPv4 list. */
static int
state_use(struct __res_state *state, const struct sockaddr *server,
    struct err *err)
{
	if (server->sa_family == AF_INET) {
		memcpy(&state->nsaddr_list[0], server,
		    sizeof(struct sockaddr_in));
		state->nscount = 1;
		return 0;
	}
#ifdef RESOLV_HAS_SIX
	struct sockaddr_in6 *six = state->_u._ext.nsaddrs[0];

	if (six == NULL)		/* res_nclose frees it */
		six = malloc(sizeof(*six));
	if (six == NULL)
		return err_sys(err, "name server");
	memcpy(six, server, sizeof(*six));
	state->nsaddr_list[0].sin_family = 0;
	state->_u._ext.nsaddrs[0] = six;
	state->_u._ext.nscount = 0;
	state->nscount = 1;
	return 0;
#else
	return err_set(err, "an IPv6 name server must be set in "
	    "/etc/resolv.conf on this system");
#endif
}

static int
state_open(struct __res_state *state, struct err *err)
{
	struct sockaddr_storage server;
	socklen_t length;

	memset(state, 0, sizeof(*state));
	if (res_ninit(state) != 0)
		return err_set(err, "the resolver cannot be set up; "
		    "see /etc/resolv.conf");
	state->options &= ~(unsigned long)(RES_DNSRCH | RES_DEFNAMES);
	state->retrans = DNS_TRY_S;
	state->retry = DNS_TRIES;
	if (own_server[0] != '\0' && (net_endpoint_parse(
	    slice_of(own_server), DNS_PORT, &server, &length, err) < 0 ||
	    state_use(state, (struct sockaddr *)&server, err) < 0))
		return err_prefix(err, "name server");
	state_set_trust(state);
	return 0;
}

static int
resolvers_open(unsigned count, struct err *err)
{
	for (; resolver_count < count; resolver_count++)
		if (state_open(&resolvers[resolver_count].state, err) < 0)
			return -1;
	return 0;
}

/* One that nobody asks by now; waits for it.  NULL (err). */
static struct resolver *
resolver_take(struct err *err)
{
	struct resolver *resolver = NULL;

	pthread_mutex_lock(&resolver_lock);
	if (resolver_count > 0 || resolvers_open(1, err) == 0)
		for (unsigned i = 0; resolver == NULL; i++) {
			if (i == resolver_count) {
				pthread_cond_wait(&resolver_is_free,
				    &resolver_lock);
				i = 0;
			}
			if (!resolvers[i].is_busy)
				resolver = &resolvers[i];
		}
	if (resolver != NULL)
		resolver->is_busy = true;
	pthread_mutex_unlock(&resolver_lock);
	return resolver;
}

static void
resolver_give(struct resolver *resolver)
{
	pthread_mutex_lock(&resolver_lock);
	resolver->is_busy = false;
	pthread_cond_signal(&resolver_is_free);
	pthread_mutex_unlock(&resolver_lock);
}

int
dns_use(const char *server, struct err *err)
{
	while (resolver_count > 0)
		res_nclose(&resolvers[--resolver_count].state);
	own_server[0] = '\0';
	if (server == NULL)
		return 0;
	if (strlcpy(own_server, server, sizeof(own_server)) >=
	    sizeof(own_server)) {
		own_server[0] = '\0';
		return err_set(err, "name server '%.80s' is too long", server);
	}
	if (resolvers_open(1, err) < 0) {
		own_server[0] = '\0';
		return -1;
	}
	return 0;
}

bool
dns_is_here(void)
{
	struct err err;

	return resolvers_open(1, &err) == 0 &&
	    state_is_here(&resolvers[0].state);
}

size_t
dns_servers(struct dns_address out[DNS_SERVERS_MAX])
{
	const struct __res_state *state = &resolvers[0].state;
	struct err err;
	size_t count = 0;

	if (resolvers_open(1, &err) < 0)
		return 0;
	for (int i = 0; i < state->nscount && count < DNS_SERVERS_MAX; i++) {
		const struct sockaddr_in *four = &state->nsaddr_list[i];

		memset(&out[count], 0, sizeof(out[count]));
		if (four->sin_family == AF_INET) {
			memcpy(&out[count].address, four, sizeof(*four));
			out[count++].length = sizeof(*four);
		}
#ifdef RESOLV_HAS_SIX
		else if (state->_u._ext.nsaddrs[i] != NULL) {
			memcpy(&out[count].address,
			    state->_u._ext.nsaddrs[i],
			    sizeof(struct sockaddr_in6));
			out[count++].length = sizeof(struct sockaddr_in6);
		}
#endif
	}
	return count;
}

int
dns_open(unsigned threads, struct err *err)
{
	hosts_read();
	has_hosts = true;
	return resolvers_open(threads < DNS_RESOLVERS_MAX ? threads :
	    DNS_RESOLVERS_MAX, err);
}

/* The wire form of a name: A-labels for U-labels (RFC 5891).  Refuses what
 * cannot be a domain before the resolver sees it. */
static int
name_ascii(const char *name, char out[256], struct err *err)
{
	char *ascii = NULL;
	size_t n = strlen(name);
	int status;

	if (n == 0 || n > 255)
		return err_set(err, "a name of %zu bytes is no domain", n);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c <= ' ' || c == 127 || c == '\\')
			return err_set(err, "no domain has a byte \\x%02x", c);
		if (c < 128)
			continue;
		status = idn2_to_ascii_8z(name, &ascii,
		    IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT);
		if (status != IDN2_OK)
			return err_set(err, "%.100s: %s", name,
			    idn2_strerror(status));
		n = strlcpy(out, ascii, 256);
		idn2_free(ascii);
		return n < 256 ? 0 : err_set(err, "the name is too long");
	}
	memcpy(out, name, n + 1);
	return 0;
}

static const char *
type_name(int type)
{
	switch (type) {
	case DNS_TYPE_MX:
		return "MX";
	case DNS_TYPE_TLSA:
		return "TLSA";
	default:
		return "address";
	}
}

/* Did who answered last say that he found something false?  Of an answer that
 * failed the library gives no length: zeros follow it. */
static bool
resolver_is_bogus(const struct resolver *resolver, struct dns_error *out)
{
	return dns_parse_error(resolver->answer, DNS_DATAGRAM_BYTES, out) &&
	    out->code == DNS_ERROR_BOGUS;
}

/* Ask one question; *out_n bytes of the answer are in resolver->answer. */
static enum dns_result
resolver_ask(struct resolver *resolver, const char *name, int type,
    size_t *out_n, struct err *err)
{
	struct dns_error error;
	char ascii[256];
	int n;

	memset(resolver->answer, 0, DNS_DATAGRAM_BYTES);
	*out_n = 0;
	if (name_ascii(name, ascii, err) < 0)
		return DNS_NO_NAME;
	n = res_nquery(&resolver->state, ascii, ns_c_in, type,
	    resolver->answer, sizeof(resolver->answer));
	if (n >= 0) {
		*out_n = (size_t)n < sizeof(resolver->answer) ? (size_t)n :
		    sizeof(resolver->answer);
		return DNS_OK;
	}
	switch (resolver->state.res_h_errno) {
	case HOST_NOT_FOUND:
		err_set(err, "the domain %.200s does not exist", name);
		return DNS_NO_NAME;
	case NO_DATA:
		err_set(err, "%.200s has no %s record", name,
		    type_name(type));
		return DNS_NONE;
	case TRY_AGAIN:
		if (resolver_is_bogus(resolver, &error))
			err_set(err, "the answer for %.200s is bogus: %s",
			    name, error.words);
		else
			err_set(err, "no name server answered for %.200s",
			    name);
		return DNS_TRY_AGAIN;
	default:
		err_set(err, "the name servers refused to answer for %.200s",
		    name);
		return DNS_TRY_AGAIN;
	}
}

/* What the answer is worth, also one that says there is nothing: its header
 * alone is there then. */
static void
resolver_trust(const struct resolver *resolver, size_t n,
    struct dns_trust *out)
{
	if (out == NULL)
		return;
	dns_parse_trust(resolver->answer, n, out);
	if (n == 0)
		out->is_secure = (resolver->answer[3] & ANSWER_AD) != 0;
}

enum dns_result
dns_mx(const char *domain, struct dns_mx *out, size_t *out_n,
    struct dns_trust *trust, struct err *err)
{
	struct resolver *resolver = resolver_take(err);
	enum dns_result result;
	size_t n;

	*out_n = 0;
	if (resolver == NULL)
		return DNS_TRY_AGAIN;
	result = resolver_ask(resolver, domain, ns_t_mx, &n, err);
	resolver_trust(resolver, n, trust);
	if (result == DNS_OK) {
		err_set(err, "%.200s has no MX record", domain);
		result = dns_parse_mx(resolver->answer, n, out, out_n, err);
	}
	resolver_give(resolver);
	return result;
}

/* Of a server that failed the last answer's code is left. */
static const char *
trouble_name(const struct resolver *resolver)
{
	if (!(resolver->answer[2] & ANSWER_QR))
		return "no answer";
	switch (resolver->answer[3] & ANSWER_RCODE) {
	case ns_r_servfail:
		return "SERVFAIL";
	case ns_r_refused:
		return "REFUSED";
	default:
		return "no answer that can be used";
	}
}

enum dns_result
dns_ask_records(const char *name, enum dns_type type, struct dns_records *out,
    struct err *err)
{
	struct resolver *resolver = resolver_take(err);
	struct dns_error error;
	struct dns_trust trust;
	enum dns_result result;
	size_t n;

	out->count = 0;
	out->is_secure = false;
	if (resolver == NULL)
		return DNS_TRY_AGAIN;
	result = resolver_ask(resolver, name, (int)type, &n, err);
	resolver_trust(resolver, n, &trust);
	out->is_secure = trust.is_secure;
	if (result == DNS_TRY_AGAIN && resolver_is_bogus(resolver, &error))
		err_set(err, "bogus: %s", error.words);
	else if (result == DNS_TRY_AGAIN)
		err_set(err, "%s", trouble_name(resolver));
	if (result == DNS_OK)
		result = dns_parse_records(resolver->answer, n, type, out,
		    err);
	resolver_give(resolver);
	return result;
}

/* "192.0.2.1", "2001:db8::1", "IPv6:2001:db8::1". */
static bool
dns_literal(const char *host, struct dns_address *out)
{
	unsigned char bytes[16];

	if (strncasecmp(host, "IPv6:", 5) == 0)
		host += 5;
	else if (inet_pton(AF_INET, host, bytes) == 1) {
		dns_address_set(AF_INET, bytes, out);
		return true;
	}
	if (inet_pton(AF_INET6, host, bytes) != 1)
		return false;
	dns_address_set(AF_INET6, bytes, out);
	return true;
}

/* Does this line of /etc/hosts name host?  Then add its address. */
static void
hosts_line(struct slice line, const char *host, struct dns_address *out,
    size_t *out_n)
{
	struct slice rest = slice_first(line, slice_find(line, '#'));
	struct slice address, name;
	char text[64];

	if (!slice_word(&rest, &address) || address.n >= sizeof(text))
		return;
	while (slice_word(&rest, &name)) {
		if (!slice_is_nocase(name, host))
			continue;
		memcpy(text, address.p, address.n);
		text[address.n] = '\0';
		if (dns_literal(text, &out[*out_n]))
			(*out_n)++;
		return;
	}
}

static void
hosts_file(const char *host, struct dns_address *out, size_t *out_n)
{
	struct slice rest, line;

	if (!has_hosts)
		hosts_read();
	rest = (struct slice){ hosts_text, hosts_bytes };
	while (*out_n < DNS_ADDRESS_MAX && slice_cut(&rest, '\n', &line))
		hosts_line(line, host, out, out_n);
}

/* One record type; what a host lacks of one family the other may have.
 * Both must be secure, and lead to one name, for the host to be. */
static enum dns_result
ask_addresses(const char *host, int type, struct dns_found *found,
    struct err *err)
{
	struct resolver *resolver = resolver_take(err);
	enum dns_result result;
	struct dns_trust trust;
	size_t n, before = *found->out_n;

	if (resolver == NULL)
		return DNS_TRY_AGAIN;
	result = resolver_ask(resolver, host, type, &n, err);
	if (result == DNS_OK) {
		resolver_trust(resolver, n, &trust);
		/* aliases that lead to nothing, or round in a circle */
		err_set(err, "%.200s has no address record", host);
		result = dns_parse_addresses(resolver->answer, n, found->out,
		    found->out_n, err);
	}
	if (result == DNS_OK && before > 0)
		found->trust.is_secure = found->trust.is_secure &&
		    trust.is_secure &&
		    strcasecmp(found->trust.name, trust.name) == 0;
	else if (result == DNS_OK)
		found->trust = trust;
	resolver_give(resolver);
	return result;
}

/* Literals and /etc/hosts are nobody's that the DNS knows. */
static bool
addresses_known_here(const char *host, struct dns_found *found)
{
	memset(&found->trust, 0, sizeof(found->trust));
	*found->out_n = 0;
	if (dns_literal(host, &found->out[0])) {
		*found->out_n = 1;
		return true;
	}
	hosts_file(host, found->out, found->out_n);
	return *found->out_n > 0;
}

enum dns_result
dns_addresses(const char *host, struct dns_address *out, size_t *out_n,
    struct dns_trust *trust, struct err *err)
{
	struct dns_found found = { .out = out, .out_n = out_n };
	enum dns_result six = DNS_OK, four = DNS_OK;

	if (!addresses_known_here(host, &found)) {
		six = ask_addresses(host, ns_t_aaaa, &found, err);
		if (six == DNS_NO_NAME)
			return six;
		four = ask_addresses(host, ns_t_a, &found, err);
	}
	if (trust != NULL)
		*trust = found.trust;
	if (*out_n > 0)
		return DNS_OK;
	return four != DNS_NONE ? four : six;
}

void
dns_address_text(const struct sockaddr *address, char *out, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (address->sa_family == AF_INET) {
		inet_ntop(AF_INET,
		    &((const struct sockaddr_in *)address)->sin_addr, text,
		    sizeof(text));
		snprintf(out, size, "%s", text);
	} else if (address->sa_family == AF_INET6) {
		inet_ntop(AF_INET6,
		    &((const struct sockaddr_in6 *)address)->sin6_addr, text,
		    sizeof(text));
		snprintf(out, size, "IPv6:%s", text);
	} else {
		snprintf(out, size, "local");
	}
}

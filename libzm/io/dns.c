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
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <idn2.h>
#include <netdb.h>
#include <pthread.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grammar/net.h"
#include "io/dns.h"

#include "base/banned.h"

enum {
	DNS_ANSWER_BYTES = 65536,	/* all that TCP can carry */
	DNS_TRIES = 2,
	DNS_TRY_S = 5,
	DNS_PORT = 53,
	HOSTS_FILE_BYTES_MAX = 65536	/* what is read of /etc/hosts */
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
#ifdef __GLIBC__
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
	if (own_server[0] == '\0')
		return 0;
	if (net_endpoint_parse(slice_of(own_server), DNS_PORT, &server,
	    &length, err) < 0)
		return err_prefix(err, "name server");
	return state_use(state, (struct sockaddr *)&server, err);
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
#ifdef __GLIBC__
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

/* Ask one question; *out_n bytes of the answer are in resolver->answer. */
static enum dns_result
resolver_ask(struct resolver *resolver, const char *name, int type,
    size_t *out_n, struct err *err)
{
	char ascii[256];
	int n;

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
		    type == ns_t_mx ? "MX" : "address");
		return DNS_NONE;
	case TRY_AGAIN:
		err_set(err, "no name server answered for %.200s", name);
		return DNS_TRY_AGAIN;
	default:
		err_set(err, "the name servers refused to answer for %.200s",
		    name);
		return DNS_TRY_AGAIN;
	}
}

/* Letters, digits, '-', '_' and '.': what may be a mail host's name. */
static bool
dns_is_host_name(const char *name)
{
	for (; *name != '\0'; name++)
		if (!isalnum((unsigned char)*name) && *name != '-' &&
		    *name != '_' && *name != '.')
			return false;
	return true;
}

/* Lowest preference first; the random number decides among equals. */
struct mx_key {
	unsigned	preference;
	uint32_t	chance;
	size_t		index;
};

static int
mx_compare(const void *a, const void *b)
{
	const struct mx_key *x = a, *y = b;

	if (x->preference != y->preference)
		return x->preference < y->preference ? -1 : 1;
	return x->chance < y->chance ? -1 : x->chance > y->chance;
}

static void
mx_sort(struct dns_mx *mx, size_t n)
{
	struct mx_key keys[DNS_MX_MAX];
	struct dns_mx copy[DNS_MX_MAX];

	for (size_t i = 0; i < n; i++) {
		keys[i] = (struct mx_key){ mx[i].preference, arc4random(), i };
		copy[i] = mx[i];
	}
	qsort(keys, n, sizeof(keys[0]), mx_compare);
	for (size_t i = 0; i < n; i++)
		mx[i] = copy[keys[i].index];
}

enum dns_result
dns_parse_mx(const unsigned char *answer, size_t n, struct dns_mx *out,
    size_t *out_n, struct err *err)
{
	ns_msg message;
	ns_rr record;
	unsigned records = 0;

	*out_n = 0;
	if (ns_initparse(answer, (int)n, &message) < 0) {
		err_set(err, "the MX answer cannot be read");
		return DNS_BAD;
	}
	for (int i = 0; i < ns_msg_count(message, ns_s_an) &&
	    *out_n < DNS_MX_MAX; i++) {
		struct dns_mx *mx = &out[*out_n];

		if (ns_parserr(&message, ns_s_an, i, &record) < 0)
			break;
		if (ns_rr_type(record) != ns_t_mx ||
		    ns_rr_class(record) != ns_c_in || ns_rr_rdlen(record) < 3)
			continue;
		records++;
		mx->preference = ns_get16(ns_rr_rdata(record));
		if (dn_expand(ns_msg_base(message), ns_msg_end(message),
		    ns_rr_rdata(record) + 2, mx->host,
		    sizeof(mx->host)) < 0 || !dns_is_host_name(mx->host))
			continue;
		(*out_n)++;
	}
	if (*out_n == 0 && records > 0) {
		err_set(err, "no MX record of the answer names a host");
		return DNS_BAD;
	}
	mx_sort(out, *out_n);
	return *out_n > 0 ? DNS_OK : DNS_NONE;
}

enum dns_result
dns_mx(const char *domain, struct dns_mx *out, size_t *out_n, struct err *err)
{
	struct resolver *resolver = resolver_take(err);
	enum dns_result result;
	size_t n;

	*out_n = 0;
	if (resolver == NULL)
		return DNS_TRY_AGAIN;
	result = resolver_ask(resolver, domain, ns_t_mx, &n, err);
	if (result == DNS_OK) {
		err_set(err, "%.200s has no MX record", domain);
		result = dns_parse_mx(resolver->answer, n, out, out_n, err);
	}
	resolver_give(resolver);
	return result;
}

static void
address_add(int family, const void *bytes, struct dns_address *out)
{
	memset(out, 0, sizeof(*out));
	out->address.ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		struct sockaddr_in *four = (struct sockaddr_in *)&out->address;

		memcpy(&four->sin_addr, bytes, sizeof(four->sin_addr));
		out->length = sizeof(*four);
	} else {
		struct sockaddr_in6 *six =
		    (struct sockaddr_in6 *)&out->address;

		memcpy(&six->sin6_addr, bytes, sizeof(six->sin6_addr));
		out->length = sizeof(*six);
	}
}

enum dns_result
dns_parse_addresses(const unsigned char *answer, size_t n,
    struct dns_address *out, size_t *out_n, struct err *err)
{
	ns_msg message;
	ns_rr record;
	size_t before = *out_n;

	if (ns_initparse(answer, (int)n, &message) < 0) {
		err_set(err, "the address answer cannot be read");
		return DNS_BAD;
	}
	for (int i = 0; i < ns_msg_count(message, ns_s_an) &&
	    *out_n < DNS_ADDRESS_MAX; i++) {
		if (ns_parserr(&message, ns_s_an, i, &record) < 0)
			break;
		if (ns_rr_class(record) != ns_c_in)
			continue;
		if (ns_rr_type(record) == ns_t_a && ns_rr_rdlen(record) == 4)
			address_add(AF_INET, ns_rr_rdata(record),
			    &out[(*out_n)++]);
		else if (ns_rr_type(record) == ns_t_aaaa &&
		    ns_rr_rdlen(record) == 16)
			address_add(AF_INET6, ns_rr_rdata(record),
			    &out[(*out_n)++]);
	}
	return *out_n > before ? DNS_OK : DNS_NONE;
}

/* "192.0.2.1", "2001:db8::1", "IPv6:2001:db8::1". */
static bool
literal(const char *host, struct dns_address *out)
{
	unsigned char bytes[16];

	if (strncasecmp(host, "IPv6:", 5) == 0)
		host += 5;
	else if (inet_pton(AF_INET, host, bytes) == 1) {
		address_add(AF_INET, bytes, out);
		return true;
	}
	if (inet_pton(AF_INET6, host, bytes) != 1)
		return false;
	address_add(AF_INET6, bytes, out);
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
		if (literal(text, &out[*out_n]))
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

/* One record type; what a host lacks of one family the other may have. */
static enum dns_result
ask_addresses(const char *host, int type, struct dns_address *out,
    size_t *out_n, struct err *err)
{
	struct resolver *resolver = resolver_take(err);
	enum dns_result result;
	size_t n;

	if (resolver == NULL)
		return DNS_TRY_AGAIN;
	result = resolver_ask(resolver, host, type, &n, err);
	if (result == DNS_OK) {
		/* aliases that lead to nothing, or round in a circle */
		err_set(err, "%.200s has no address record", host);
		result = dns_parse_addresses(resolver->answer, n, out, out_n,
		    err);
	}
	resolver_give(resolver);
	return result;
}

enum dns_result
dns_addresses(const char *host, struct dns_address *out, size_t *out_n,
    struct err *err)
{
	enum dns_result six, four;

	*out_n = 0;
	if (literal(host, &out[0])) {
		*out_n = 1;
		return DNS_OK;
	}
	hosts_file(host, out, out_n);
	if (*out_n > 0)
		return DNS_OK;
	six = ask_addresses(host, ns_t_aaaa, out, out_n, err);
	if (six == DNS_NO_NAME)
		return six;
	four = ask_addresses(host, ns_t_a, out, out_n, err);
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

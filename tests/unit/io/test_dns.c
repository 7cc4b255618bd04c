/* test_dns.c - answers as they should be and as they should not
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/dns/dns.h"
#include "tests/unit/io/dns_bytes.h"

enum { A = 1, CNAME = 5, MX = 15, AAAA = 28 };

/* ---- a name server in a thread ----------------------------------------- */

/* Records by name: rows of the form "TYPE VALUE". */
static const struct zone_row {
	const char	*name;
	int		 type;
	unsigned	 preference;
	const char	*value;
} zone[] = {
	{ "two.test", MX, 20, "b.two.test" },
	{ "two.test", MX, 10, "a.two.test" },
	{ "null.test", MX, 0, "" },
	{ "odd.test", MX, 5, "a b!.test" },
	{ "odd.test", MX, 7, "good.odd.test" },
	{ "allodd.test", MX, 5, "a b!.test" },
	{ "a.two.test", A, 0, "192.0.2.1" },
	{ "a.two.test", A, 0, "192.0.2.2" },
	{ "a.two.test", AAAA, 0, "2001:db8::1" },
	{ "four.test", A, 0, "192.0.2.4" },
	{ "half.test", A, 0, "192.0.2.4" },
	{ "six.test", AAAA, 0, "2001:db8::6" },
	{ "alias.test", CNAME, 0, "four.test" },
	{ "xn--bcher-kva.test", A, 0, "192.0.2.5" },
	/* what begins with "ad" has the AD bit */
	{ "ad.test", MX, 10, "ad-mx.test" },
	{ "ad-mx.test", A, 0, "192.0.2.6" },
	{ "ad-mx.test", AAAA, 0, "2001:db8::16" },
	{ "ad-alias.test", CNAME, 0, "ad-next.test" },
	{ "ad-next.test", CNAME, 0, "ad-mx.test" },
	{ "ad-circle.test", CNAME, 0, "ad-circle.test" },
};

static int server_fd;
static unsigned server_port;
static unsigned questions;

static size_t
record_put(unsigned char *out, const char *name, const struct zone_row *row)
{
	size_t at = dns_bytes_name(out, name), data;

	dns_bytes_put16(out + at, (unsigned)row->type);
	dns_bytes_put16(out + at + 2, 1);
	memset(out + at + 4, 0, 4);
	data = at + 10;
	if (row->type == MX) {
		dns_bytes_put16(out + data, row->preference);
		data += 2 + dns_bytes_name(out + data + 2, row->value);
	} else if (row->type == CNAME) {
		data += dns_bytes_name(out + data, row->value);
	} else {
		inet_pton(row->type == A ? AF_INET : AF_INET6, row->value,
		    out + data);
		data += row->type == A ? 4 : 16;
	}
	dns_bytes_put16(out + at + 8, (unsigned)(data - at - 10));
	return data;
}

static unsigned
records_put(unsigned char *out, size_t *at, const char *name, int type,
    bool *out_is_known)
{
	unsigned count = 0;

	*out_is_known = false;
	for (size_t i = 0; i < sizeof(zone) / sizeof(zone[0]); i++) {
		if (strcasecmp(zone[i].name, name) != 0)
			continue;
		*out_is_known = true;
		if (zone[i].type != type && zone[i].type != CNAME)
			continue;
		*at += record_put(out + *at, name, &zone[i]);
		count++;
		if (zone[i].type == CNAME) {
			bool ignored;

			if (strcmp(zone[i].value, name) != 0)
				count += records_put(out, at, zone[i].value,
				    type, &ignored);
		}
	}
	return count;
}

/* 200 MX records of one name. */
static unsigned
many_put(unsigned char *out, size_t *at, int type)
{
	char name[32];

	for (unsigned i = 0; i < 200 && type == MX; i++) {
		struct zone_row row = { "many.test", MX, 200 - i, name };

		snprintf(name, sizeof(name), "m%u.test", i);
		*at += record_put(out + *at, "many.test", &row);
	}
	return type == MX ? 200 : 0;
}

static size_t
answer_make(unsigned char *packet, size_t n)
{
	char name[256] = "";
	size_t at = 12;
	unsigned rcode = 0, count = 0;
	bool is_known;
	int type;

	while (at < n && packet[at] != 0) {
		strncat(name, (char *)packet + at + 1, packet[at]);
		at += packet[at] + 1u;
		if (packet[at] != 0)
			strlcat(name, ".", sizeof(name));
	}
	type = packet[at + 1] << 8 | packet[at + 2];
	at += 5;
	questions++;
	if (strcmp(name, "many.test") == 0)
		count = many_put(packet, &at, type);
	else if (strcmp(name, "servfail.test") == 0)
		rcode = 2;
	else if (strcmp(name, "half.test") == 0 && type == AAAA)
		rcode = 2;
	else if (strcmp(name, "garbage.test") == 0) {
		memset(packet + at, 0xc0, 100);	/* pointers to pointers */
		at += 100;
		count = 3;
	} else {
		count = records_put(packet, &at, name, type, &is_known);
		rcode = is_known ? 0 : 3;
	}
	packet[2] = 0x84;
	packet[3] = (unsigned char)(0x80 | rcode |
	    (strncmp(name, "ad", 2) == 0 ? 0x20 : 0));
	dns_bytes_put16(packet + 6, count);
	dns_bytes_put16(packet + 8, 0);
	dns_bytes_put16(packet + 10, 0);
	return at;
}

static void *
name_server(void *context)
{
	static unsigned char packet[65536];
	struct sockaddr_in client;
	socklen_t length = sizeof(client);
	ssize_t n;

	while ((n = recvfrom(server_fd, packet, sizeof(packet) / 2, 0,
	    (struct sockaddr *)&client, &length)) > 12) {
		size_t out = answer_make(packet, (size_t)n);

		if (sendto(server_fd, packet, out, 0,
		    (struct sockaddr *)&client, length) < 0)
			return NULL;
	}
	return NULL;
}

static void
setup(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
	    .sin_addr = { htonl(INADDR_ANY) } };
	socklen_t length = sizeof(address);
	pthread_t thread;
	char text[64];
	struct err err;

	server_fd = socket(AF_INET, SOCK_DGRAM, 0);
	cr_assert_eq(bind(server_fd, (struct sockaddr *)&address, length), 0);
	getsockname(server_fd, (struct sockaddr *)&address, &length);
	cr_assert_eq(pthread_create(&thread, NULL, name_server, NULL), 0);
	server_port = ntohs(address.sin_port);
	snprintf(text, sizeof(text), "127.0.0.1:%u", server_port);
	cr_assert_eq(dns_use(text, &err), 0, "%s", err.text);
}

TestSuite(dns, .init = setup);

/* ---- asking ------------------------------------------------------------ */

static const struct {
	const char	*domain;
	enum dns_result	 result;
	size_t		 count;
	const char	*first;
} mx_rows[] = {
	{ "two.test", DNS_OK, 2, "a.two.test" },
	{ "TWO.test", DNS_OK, 2, "a.two.test" },
	{ "null.test", DNS_OK, 1, "" },
	{ "odd.test", DNS_OK, 1, "good.odd.test" },
	{ "allodd.test", DNS_BAD, 0, NULL },
	{ "four.test", DNS_NONE, 0, NULL },
	{ "missing.test", DNS_NO_NAME, 0, NULL },
	{ "servfail.test", DNS_TRY_AGAIN, 0, NULL },
	{ "", DNS_NO_NAME, 0, NULL },
	{ "a b.test", DNS_NO_NAME, 0, NULL },
	{ "a\\.test", DNS_NO_NAME, 0, NULL },
};

Test(dns, mx)
{
	for (size_t i = 0; i < sizeof(mx_rows) / sizeof(mx_rows[0]); i++) {
		struct dns_mx mx[DNS_MX_MAX];
		size_t n = 99;
		struct err err = { "" };

		cr_expect_eq(dns_mx(mx_rows[i].domain, mx, &n, NULL, &err),
		    mx_rows[i].result, "%s: %s", mx_rows[i].domain, err.text);
		cr_expect_eq(n, mx_rows[i].count, "%s: %zu",
		    mx_rows[i].domain, n);
		if (n > 0 && mx_rows[i].first != NULL)
			cr_expect_str_eq(mx[0].host, mx_rows[i].first);
		if (n == 0)
			cr_expect_str_not_empty(err.text);
	}
}

Test(dns, a_name_of_300_bytes_is_not_asked_for)
{
	char name[301];
	struct dns_mx mx[DNS_MX_MAX];
	struct err err;
	size_t n;

	memset(name, 'a', 300);
	name[300] = '\0';
	cr_expect_eq(dns_mx(name, mx, &n, NULL, &err), DNS_NO_NAME);
	cr_expect_eq(questions, 0);
}

Test(dns, garbage_is_deferred)
{
	struct dns_mx mx[DNS_MX_MAX];
	struct err err;
	size_t n;
	enum dns_result result = dns_mx("garbage.test", mx, &n, NULL, &err);

	cr_expect(result == DNS_BAD || result == DNS_TRY_AGAIN, "%d",
	    result);
	cr_expect_eq(n, 0);
}

static const struct {
	const char	*host;
	enum dns_result	 result;
	size_t		 count;
	const char	*first;
} address_rows[] = {
	{ "a.two.test", DNS_OK, 3, "IPv6:2001:db8::1" },
	{ "four.test", DNS_OK, 1, "192.0.2.4" },
	{ "six.test", DNS_OK, 1, "IPv6:2001:db8::6" },
	{ "alias.test", DNS_OK, 1, "192.0.2.4" },
	{ "half.test", DNS_OK, 1, "192.0.2.4" },
	{ "b\xc3\xbc" "cher.test", DNS_OK, 1, "192.0.2.5" },
	{ "two.test", DNS_NONE, 0, NULL },
	{ "missing.test", DNS_NO_NAME, 0, NULL },
	{ "servfail.test", DNS_TRY_AGAIN, 0, NULL },
	{ "192.0.2.7", DNS_OK, 1, "192.0.2.7" },
	{ "IPv6:2001:db8::9", DNS_OK, 1, "IPv6:2001:db8::9" },
	{ "2001:db8::9", DNS_OK, 1, "IPv6:2001:db8::9" },
	{ "localhost", DNS_OK, 0, NULL },
};

Test(dns, addresses)
{
	for (size_t i = 0; i < sizeof(address_rows) /
	    sizeof(address_rows[0]); i++) {
		struct dns_address out[DNS_ADDRESS_MAX];
		struct err err = { "" };
		char text[80];
		size_t n = 99;

		cr_expect_eq(dns_addresses(address_rows[i].host, out, &n,
		    NULL, &err), address_rows[i].result, "%s: %s",
		    address_rows[i].host, err.text);
		if (address_rows[i].first == NULL)
			continue;
		cr_expect_eq(n, address_rows[i].count);
		dns_address_text((struct sockaddr *)&out[0].address, text,
		    sizeof(text));
		cr_expect_str_eq(text, address_rows[i].first);
	}
}

/* ---- what an answer is worth ------------------------------------------- */

static const struct {
	const char	*host;
	enum dns_result	 result;
	bool		 is_secure;
	const char	*name;
} trust_rows[] = {
	{ "ad-mx.test", DNS_OK, true, "ad-mx.test" },
	{ "AD-MX.test", DNS_OK, false, "AD-MX.test" },
	{ "ad-alias.test", DNS_OK, true, "ad-mx.test" },
	{ "ad-circle.test", DNS_NONE, false, "" },
	{ "four.test", DNS_OK, false, "four.test" },
	{ "alias.test", DNS_OK, false, "four.test" },
	{ "192.0.2.7", DNS_OK, false, "" },
	{ "localhost", DNS_OK, false, "" },
};

Test(dns, addresses_are_secure_where_the_resolver_on_loopback_says_so)
{
	for (size_t i = 0; i < sizeof(trust_rows) / sizeof(trust_rows[0]);
	    i++) {
		struct dns_address out[DNS_ADDRESS_MAX];
		struct dns_trust trust;
		struct err err;
		size_t n;

		cr_expect_eq(dns_addresses(trust_rows[i].host, out, &n,
		    &trust, &err), trust_rows[i].result, "%s",
		    trust_rows[i].host);
		cr_expect_eq(trust.is_secure, trust_rows[i].is_secure, "%s",
		    trust_rows[i].host);
		cr_expect_str_eq(trust.name, trust_rows[i].name, "%s",
		    trust_rows[i].host);
	}
}

static const struct {
	const char	*domain;
	enum dns_result	 result;
	bool		 is_secure;
} mx_trust_rows[] = {
	{ "ad.test", DNS_OK, true },
	{ "ad-mx.test", DNS_NONE, true },	/* that there is none, too */
	{ "ad-missing.test", DNS_NO_NAME, true },
	{ "two.test", DNS_OK, false },
	{ "four.test", DNS_NONE, false },
	{ "servfail.test", DNS_TRY_AGAIN, false },
};

Test(dns, hosts_are_secure_where_the_resolver_on_loopback_says_so)
{
	for (size_t i = 0; i < sizeof(mx_trust_rows) /
	    sizeof(mx_trust_rows[0]); i++) {
		struct dns_mx mx[DNS_MX_MAX];
		struct dns_trust trust;
		struct err err;
		size_t n;

		cr_expect_eq(dns_mx(mx_trust_rows[i].domain, mx, &n, &trust,
		    &err), mx_trust_rows[i].result, "%s",
		    mx_trust_rows[i].domain);
		cr_expect_eq(trust.is_secure, mx_trust_rows[i].is_secure,
		    "%s", mx_trust_rows[i].domain);
	}
}

Test(dns, records_as_they_are)
{
	struct dns_records records;
	struct err err;

	dns_records_init(&records);
	cr_expect_eq(dns_ask_records("ad-mx.test", DNS_TYPE_AAAA, &records,
	    &err), DNS_OK);
	cr_expect(records.is_secure);
	cr_assert_eq(records.count, 1);
	cr_expect_eq(dns_records_at(&records, 0).n, 16);
	cr_expect_eq(dns_ask_records("a.two.test", DNS_TYPE_A, &records,
	    &err), DNS_OK);
	cr_expect_not(records.is_secure);
	cr_assert_eq(records.count, 2);
	cr_expect_eq(dns_records_at(&records, 1).n, 4);
	cr_expect_eq(memcmp(dns_records_at(&records, 1).p, "\xc0\0\2\2", 4),
	    0);
	cr_expect_eq(dns_ask_records("ad-mx.test", DNS_TYPE_TLSA, &records,
	    &err), DNS_NONE);
	cr_expect_eq(records.count, 0);
	cr_expect_eq(dns_ask_records("servfail.test", DNS_TYPE_TLSA,
	    &records, &err), DNS_TRY_AGAIN);
	cr_expect_str_eq(err.text, "SERVFAIL");
	dns_records_release(&records);
}

/* The same bit from a server that is not on loopback is anybody's. */
Test(dns, a_server_that_is_elsewhere_is_not_believed)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	struct dns_mx mx[DNS_MX_MAX];
	struct dns_trust trust = { .is_secure = true };
	struct ifaddrs *list, *one;
	char text[64], address[INET_ADDRSTRLEN];
	struct err err;
	size_t n;

	cr_assert_eq(getifaddrs(&list), 0);
	for (one = list; one != NULL; one = one->ifa_next)
		if (one->ifa_addr != NULL &&
		    one->ifa_addr->sa_family == AF_INET &&
		    !(one->ifa_flags & IFF_LOOPBACK))
			memcpy(&own, one->ifa_addr, sizeof(own));
	freeifaddrs(list);
	if (own.sin_addr.s_addr == 0)
		cr_skip_test("this machine has no other address");
	inet_ntop(AF_INET, &own.sin_addr, address, sizeof(address));
	snprintf(text, sizeof(text), "%s:%u", address, server_port);
	cr_assert_eq(dns_use(text, &err), 0, "%s", err.text);
	cr_expect_eq(dns_mx("ad.test", mx, &n, &trust, &err), DNS_OK, "%s",
	    err.text);
	cr_expect_not(trust.is_secure);
}

Test(dns, counts_are_bounded)
{
	unsigned char answer[16384] = { 0, 1, 0x84, 0x80 };
	struct dns_mx mx[DNS_MX_MAX];
	struct err err;
	size_t at = dns_bytes_question(answer, "many.test", MX), n;

	dns_bytes_put16(answer + 6, many_put(answer, &at, MX));
	cr_assert_eq(dns_parse_mx(answer, at, mx, &n, &err), DNS_OK);
	cr_expect_eq(n, DNS_MX_MAX);
	for (size_t i = 1; i < n; i++)
		cr_expect_leq(mx[i - 1].preference, mx[i].preference);
}

Test(dns, every_prefix_of_an_answer_is_harmless)
{
	unsigned char answer[512] = { 0, 1, 0x84, 0x80 };
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct dns_mx mx[DNS_MX_MAX];
	size_t at = dns_bytes_question(answer, "two.test", MX), n, count;
	struct err err;
	bool is_known;

	dns_bytes_put16(answer + 6, records_put(answer, &at, "two.test", MX,
	    &is_known));
	for (n = 0; n < at; n++) {
		cr_expect_neq(dns_parse_mx(answer, n, mx, &count, &err) ==
		    DNS_OK && count == 2, true, "%zu bytes", n);
		count = 0;
		(void)dns_parse_addresses(answer, n, addresses, &count, &err);
		cr_expect_eq(count, 0);
	}
	cr_expect_eq(dns_parse_mx(answer, at, mx, &count, &err), DNS_OK);
	cr_expect_eq(count, 2);
}

/* An owner that points to itself: there are records, whatever they are. */
Test(dns, a_damaged_answer_says_not_that_there_is_nothing)
{
	static const unsigned char answer[] = { 0, 1, 0x84, 0x80, 0, 1, 0, 1,
	    0, 0, 0, 0, 1, 'a', 0, 0, 52, 0, 1, 0xc0, 19, 0, 52, 0, 1, 0, 0,
	    0, 60, 0, 4, 3, 1, 1, 0 };
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct dns_name names[DNS_PTR_MAX];
	struct dns_mx mx[DNS_MX_MAX];
	size_t ends[DNS_TEXTS_MAX], n = 0;
	struct dns_records records;
	struct str text = STR_INIT;
	struct err err;

	dns_records_init(&records);
	cr_expect_eq(dns_parse_mx(answer, sizeof(answer), mx, &n, &err),
	    DNS_BAD);
	n = 0;
	cr_expect_eq(dns_parse_addresses(answer, sizeof(answer), addresses,
	    &n, &err), DNS_BAD);
	cr_expect_eq(dns_parse_ptr(answer, sizeof(answer), names, &n, &err),
	    DNS_BAD);
	cr_expect_eq(dns_parse_records(answer, sizeof(answer), DNS_TYPE_TLSA,
	    &records, &err), DNS_BAD);
	cr_expect_eq(dns_parse_texts(answer, sizeof(answer), &text, ends,
	    DNS_TEXTS_MAX, &n, &err), DNS_BAD);
	cr_expect_not_null(strstr(err.text, "damaged"));
	dns_records_release(&records);
	str_release(&text);
}

Test(dns, equal_preferences_are_shuffled)
{
	unsigned char answer[2048] = { 0, 1, 0x84, 0x80 };
	struct zone_row rows[2] = { { "e.test", MX, 5, "one.test" },
	    { "e.test", MX, 5, "two.test" } };
	unsigned one_first = 0;
	size_t at = dns_bytes_question(answer, "e.test", MX), n;
	struct dns_mx mx[DNS_MX_MAX];
	struct err err;

	at += record_put(answer + at, "e.test", &rows[0]);
	at += record_put(answer + at, "e.test", &rows[1]);
	dns_bytes_put16(answer + 6, 2);
	for (int i = 0; i < 200; i++) {
		cr_assert_eq(dns_parse_mx(answer, at, mx, &n, &err), DNS_OK);
		one_first += strcmp(mx[0].host, "one.test") == 0;
	}
	/* the chance of a wrong alarm is 2^-199 */
	cr_expect(one_first > 0 && one_first < 200);
}

Test(dns, servers_that_are_none)
{
	struct err err;

	cr_expect_eq(dns_use("not an address", &err), -1);
	cr_expect_eq(dns_use(NULL, &err), 0);
	cr_expect_eq(dns_use("[::1]:5353", &err), 0);
}

/* test_clients.c - counts of sessions by client
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "smtpserver/listener/clients.h"

#include "base/banned.h"

static struct client_count *
enter(struct clients *clients, const char *address, unsigned want)
{
	struct client_count *client;
	unsigned sessions = 0;
	struct net net;
	struct err err;

	cr_assert_eq(net_parse(slice_of(address), &net, &err), 0);
	client = clients_enter(clients, &net, &sessions);
	cr_expect_eq(sessions, want, "%s: %u", address, sessions);
	return client;
}

Test(clients, count_by_ipv4_address_and_ipv6_half)
{
	struct clients *clients = clients_new();
	struct client_count *a = enter(clients, "192.0.2.1", 1);
	struct client_count *b = enter(clients, "192.0.2.2", 1);
	struct client_count *a2 = enter(clients, "192.0.2.1", 2);
	struct client_count *c = enter(clients, "2001:db8::1", 1);
	struct client_count *c2 = enter(clients, "2001:db8::ffff:2", 2);
	struct client_count *d = enter(clients, "2001:db8:0:1::1", 1);

	cr_expect_eq(a, a2);
	clients_leave(clients, &a);
	cr_expect_null(a);
	a = enter(clients, "192.0.2.1", 2);
	clients_leave(clients, &a);
	clients_leave(clients, &a2);
	a = enter(clients, "192.0.2.1", 1);
	clients_leave(clients, &a);
	clients_leave(clients, &b);
	clients_leave(clients, &c);
	clients_leave(clients, &c2);
	clients_leave(clients, &d);
	clients_free(&clients);
	cr_expect_null(clients);
}

/* Many clients come, share chains, and go in another order. */
Test(clients, ten_thousand)
{
	enum { MANY = 10000 };
	static struct client_count *all[MANY];
	struct clients *clients = clients_new();
	char text[32];

	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "10.1.%u.%u", i / 200, i % 200);
		all[i] = enter(clients, text, 1);
	}
	for (unsigned i = 0; i < MANY; i += 2)
		clients_leave(clients, &all[i]);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "10.1.%u.%u", i / 200, i % 200);
		enter(clients, text, i % 2 == 0 ? 1 : 2);
	}
	clients_free(&clients);
}

/* policyd_serve.c - the helper that asks policy services
 *
 * In     "ENDPOINT name=value<TAB>name=value<TAB>..."
 * Out    "ACTION TEXT", as the service said it
 * Holds  a connection to each service it has asked, as long as that keeps it
 * Trusts no service: time and bytes are bounded
 * Spec   Postfix SMTPD_POLICY_README
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/mem.h"
#include "grammar/net.h"
#include "io/peer.h"
#include "journal/neighbours.h"
#include "smtpserver/helper/helper.h"
#include "smtpserver/policy/serve.h"
#include "smtpserver/policy/policyd.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { SERVICES_MAX = 16, ANSWER_MS = 10000, ENDPOINT_BYTES = 200 };

struct service_link {
	char		endpoint[ENDPOINT_BYTES];	/* "": free */
	struct peer	peer;
};

struct exchange {		/* what a helper process holds */
	struct service_link	links[SERVICES_MAX];
	unsigned		next;	/* to be replaced */
};

static struct service_link *
policyd_link_find(struct exchange *exchange, struct slice endpoint)
{
	struct service_link *link;

	for (int i = 0; i < SERVICES_MAX; i++)
		if (slice_is(endpoint, exchange->links[i].endpoint))
			return &exchange->links[i];
	link = &exchange->links[exchange->next++ % SERVICES_MAX];
	peer_close(&link->peer);
	memcpy(link->endpoint, endpoint.p, endpoint.n);
	link->endpoint[endpoint.n] = '\0';
	return link;
}

static int
policyd_link_open(struct service_link *link, int64_t deadline_ms,
    struct err *err)
{
	struct sockaddr_storage address;
	socklen_t length;

	if (unix_or_inet_address(slice_of(link->endpoint), &address, &length,
	    err) < 0)
		return -1;
	err->text[0] = '\0';
	if (peer_connect(&link->peer, (struct sockaddr *)&address, length,
	    deadline_ms, err) == PEER_OK)
		return 0;
	return err->text[0] != '\0' ? -1 :
	    err_set(err, "connect: no answer in time");
}

/* One request and its answer over an open connection. */
static int
policyd_converse(struct service_link *link, struct slice attributes,
    int64_t deadline_ms, struct str *out, struct err *err)
{
	struct peer *peer = &link->peer;
	enum peer_result result;
	struct slice action;
	int n = 0;

	policyd_request(&peer->out, attributes);
	err->text[0] = '\0';
	result = peer_flush(peer, deadline_ms, err);
	while (result == PEER_OK && (n = policyd_answer_find(
	    peer_unread(peer), &action, err)) == 0)
		result = peer_fill(peer, deadline_ms, err);
	if (result != PEER_OK || n < 0) {
		if (err->text[0] == '\0')
			err_set(err, result == PEER_EOF ? "it closed the "
			    "connection" : "no answer in time");
		peer_close(peer);
		return -1;
	}
	str_add_slice(out, action);
	peer_consume(peer, (size_t)n);
	return 0;
}

static bool
policyd_answer(void *state, struct slice question, struct str *out)
{
	int64_t deadline_ms = clock_steady_ms() + ANSWER_MS;
	struct slice endpoint = { NULL, 0 };
	struct service_link *link;
	struct err err = { "not a question" };
	bool was_open;

	if (!slice_word(&question, &endpoint) ||
	    endpoint.n >= ENDPOINT_BYTES || endpoint.n < 6) {
		str_adds(out, err.text);
		return false;
	}
	question = slice_from(question, question.n > 0);
	link = policyd_link_find(state, endpoint);
	was_open = peer_is_open(&link->peer) && peer_is_quiet(&link->peer);
	if (!was_open)
		peer_close(&link->peer);
	/* a connection that was kept may just have been closed: once more */
	if ((was_open && policyd_converse(link, question, deadline_ms, out,
	    &err) == 0) || (policyd_link_open(link, deadline_ms, &err) == 0 &&
	    policyd_converse(link, question, deadline_ms, out, &err) == 0)) {
		neighbour_works("policy-service", link->endpoint);
		return true;
	}
	neighbour_fails("policy-service", link->endpoint, err.text);
	str_reset(out);
	str_addf(out, "policy service %s: %s", link->endpoint, err.text);
	return false;
}

void
policyd_serve(struct process *process, int socket)
{
	struct exchange *exchange = mem_alloc(1, sizeof(*exchange));

	for (int i = 0; i < SERVICES_MAX; i++)
		peer_init(&exchange->links[i].peer);
	helper_serve(socket, policyd_answer, exchange);
	for (int i = 0; i < SERVICES_MAX; i++)
		peer_release(&exchange->links[i].peer);
	mem_free(&exchange);
}

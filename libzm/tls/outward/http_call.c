/* http_call.c - one request to a web server, and its reply
 *
 * In     a host, a request
 * Out    the head of a reply, its body
 * Holds  a connection, as long as it takes
 * Trusts a server whose certificate leads to a trusted root and has the
 *        name; what it says is bounded in bytes and in time
 * Spec   http_call.h; RFC 9112; RFC 9110 section 4.3.4; RFC 8305
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "io/dns/dns.h"
#include "io/race.h"
#include "tls/outward/http_call.h"

#include "base/banned.h"

void
http_call_init(struct http_call *call)
{
	*call = (struct http_call){ .head_text = STR_INIT };
	peer_init(&call->peer);
}

void
http_call_release(struct http_call *call)
{
	peer_release(&call->peer);
	str_release(&call->head_text);
}

/* ---- a connection ------------------------------------------------------ */

static void
call_fill_entry(const struct http_call *call, const struct dns_address *from,
    struct race_entry *out)
{
	struct sockaddr_storage *at = &out->address;

	*at = from->address;
	out->length = from->length;
	if (at->ss_family == AF_INET)
		((struct sockaddr_in *)at)->sin_port =
		    htons((uint16_t)call->port);
	else
		((struct sockaddr_in6 *)at)->sin6_port =
		    htons((uint16_t)call->port);
}

static int
call_connect(struct http_call *call, struct err *err)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct race_entry entries[RACE_MAX];
	size_t count = 0;

	if (dns_addresses(call->host, addresses, &count, NULL,
	    err) != DNS_OK)
		return err_set(err, "%s has no address that could be had",
		    call->host);
	memset(entries, 0, sizeof(entries));
	count = count < RACE_MAX ? count : RACE_MAX;
	for (size_t i = 0; i < count; i++)
		call_fill_entry(call, &addresses[i], &entries[i]);
	if (race_run(&call->peer, entries, count,
	    call->deadline_ms - clock_steady_ms()) < 0)
		return err_set(err, "%s does not take a connection",
		    call->host);
	return 0;
}

static int
call_encrypt(struct http_call *call, struct err *err)
{
	const char *names[] = { call->host };
	const struct tls_goal goal = {
		.key = "", .sni = call->host, .names = names,
		.name_count = 1, .is_strict = true,
	};
	struct tls_info info;

	if (peer_start_tls(&call->peer, call->tls, &goal, call->deadline_ms,
	    &info, err) == PEER_OK)
		return 0;
	call->is_untrusted = slice_starts(slice_of(err->text), "certificate");
	return err_prefix(err, "%s", call->host);
}

int
http_call_open(struct http_call *call, struct err *err)
{
	if (call_connect(call, err) < 0)
		return -1;
	return call->tls == NULL ? 0 : call_encrypt(call, err);
}

/* ---- asking and hearing ------------------------------------------------ */

static int
call_broken(const struct http_call *call, enum peer_result result,
    struct err *err)
{
	if (result == PEER_TIMEOUT)
		return err_set(err, "%s is too slow", call->host);
	if (result == PEER_EOF)
		return err_set(err, "%s hangs up before the end",
		    call->host);
	return err_prefix(err, "%s", call->host);
}

int
http_call_ask(struct http_call *call, struct err *err)
{
	enum peer_result result = peer_flush(&call->peer, call->deadline_ms,
	    err);
	struct err ignored;

	/* a server that closed may have said why */
	if (result == PEER_ERROR && peer_unread(&call->peer).n == 0)
		(void)peer_fill(&call->peer, call->deadline_ms, &ignored);
	if (result == PEER_OK || peer_unread(&call->peer).n > 0)
		return 0;
	return call_broken(call, result, err);
}

static void
call_keep_head(struct http_call *call)
{
	struct peer *peer = &call->peer;
	struct http_head *head = &call->head;
	struct err ignored;

	str_add_slice(&call->head_text, slice_first(peer_unread(peer),
	    head->bytes));
	peer_consume(peer, head->bytes);
	(void)http_head_parse(str_slice(&call->head_text), head, &ignored);
}

int
http_call_hear(struct http_call *call, struct err *err)
{
	struct peer *peer = &call->peer;
	enum peer_result result;

	for (unsigned interim = 0; interim <= HTTP_CALL_INTERIM_MAX;) {
		switch (http_head_parse(peer_unread(peer), &call->head, err)) {
		case HTTP_BAD:
			return err_prefix(err, "%s", call->host);
		case HTTP_MORE:
			result = peer_fill(peer, call->deadline_ms, err);
			if (result != PEER_OK)
				return call_broken(call, result, err);
			break;
		case HTTP_DONE:
			if (call->head.code >= 200) {
				call_keep_head(call);
				return 0;
			}
			peer_consume(peer, call->head.bytes);
			interim++;
		}
	}
	return err_set(err, "%s does not come to the point", call->host);
}

enum http_progress
http_call_body(struct http_call *call, struct str *text, size_t text_max,
    size_t wire_max, struct err *err)
{
	struct peer *peer = &call->peer;
	enum peer_result result;
	struct http_body body;
	size_t used, taken = 0;

	http_body_begin(&body, &call->head);
	for (;;) {
		enum http_progress got = http_body_take(&body,
		    peer_unread(peer), &used, text, text_max, err);

		peer_consume(peer, used);
		taken += used;
		if (got == HTTP_BAD)
			(void)err_prefix(err, "%s", call->host);
		if (got != HTTP_MORE)
			return got;
		if (taken > wire_max)
			return HTTP_MORE;
		result = peer_fill(peer, call->deadline_ms, err);
		if (result != PEER_OK) {
			(void)call_broken(call, result, err);
			return HTTP_BAD;
		}
	}
}

/* file.c - the policy file, from the web server of its domain
 *
 * In     an order
 * Out    a policy that was checked; or why there is none
 * Holds  a connection, as long as it takes
 * Trusts a server whose certificate leads to a trusted root and has the
 *        name; what it says is bounded in bytes and in time
 * Spec   RFC 8461 sections 3.2, 3.3; RFC 9112; RFC 8460 section 4.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "grammar/http.h"
#include "io/dns/dns.h"
#include "io/race.h"
#include "sts/fetch/fetch.h"

#include "base/banned.h"

static const char fetch_error[] = "sts-policy-fetch-error";
static const char webpki_invalid[] = "sts-webpki-invalid";
static const char policy_invalid[] = "sts-policy-invalid";

struct reading {
	const struct fetch_order *order;
	char		host[STS_DOMAIN_BYTES + 16];
	struct peer	peer;
	int64_t		deadline_ms;
	struct str	head_text, body;
	struct http_head head;
};

/* ---- a connection ------------------------------------------------------ */

static int
reading_connect(struct reading *reading, struct err *err)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct race_entry entries[RACE_MAX];
	size_t count = 0;

	if (dns_addresses(reading->host, addresses, &count, NULL,
	    err) != DNS_OK)
		return err_set(err, "%s has no address that could be had",
		    reading->host);
	memset(entries, 0, sizeof(entries));
	for (size_t i = 0; i < count && i < RACE_MAX; i++) {
		struct sockaddr_storage *at = &entries[i].address;

		*at = addresses[i].address;
		entries[i].length = addresses[i].length;
		if (at->ss_family == AF_INET)
			((struct sockaddr_in *)at)->sin_port =
			    htons((uint16_t)reading->order->port);
		else
			((struct sockaddr_in6 *)at)->sin6_port =
			    htons((uint16_t)reading->order->port);
	}
	if (race_run(&reading->peer, entries, count < RACE_MAX ? count :
	    RACE_MAX, reading->deadline_ms - clock_steady_ms()) < 0)
		return err_set(err, "%s does not take a connection",
		    reading->host);
	return 0;
}

static int
reading_encrypt(struct reading *reading, const char **out_type,
    struct err *err)
{
	const char *names[] = { reading->host };
	const struct tls_goal goal = {
		.key = "", .sni = reading->host, .names = names,
		.name_count = 1, .is_strict = true,
	};
	struct tls_info info;

	if (peer_start_tls(&reading->peer, reading->order->tls, &goal,
	    reading->deadline_ms, &info, err) == PEER_OK)
		return 0;
	if (slice_starts(slice_of(err->text), "certificate"))
		*out_type = webpki_invalid;
	return err_prefix(err, "%s", reading->host);
}

/* ---- asking and hearing ------------------------------------------------ */

static int
reading_broken(const struct reading *reading, enum peer_result result,
    struct err *err)
{
	if (result == PEER_TIMEOUT)
		return err_set(err, "%s is too slow", reading->host);
	if (result == PEER_EOF)
		return err_set(err, "%s hangs up before the end",
		    reading->host);
	return err_prefix(err, "%s", reading->host);
}

static int
reading_ask(struct reading *reading, struct err *err)
{
	enum peer_result result;

	str_addf(&reading->peer.out, "GET /.well-known/mta-sts.txt HTTP/1.1\r\n"
	    "Host: %s\r\nUser-Agent: zmailer/%s\r\nAccept: text/plain\r\n"
	    "Connection: close\r\n\r\n", reading->host, PACKAGE_VERSION);
	result = peer_flush(&reading->peer, reading->deadline_ms, err);
	return result == PEER_OK ? 0 : reading_broken(reading, result, err);
}

/* The head of the final reply; head borrows from head_text. */
static int
reading_hear_head(struct reading *reading, struct err *err)
{
	struct peer *peer = &reading->peer;
	struct http_head *head = &reading->head;
	enum peer_result result;

	for (unsigned interim = 0; interim <= FETCH_INTERIM_MAX;) {
		switch (http_head_parse(peer_unread(peer), head, err)) {
		case HTTP_BAD:
			return err_prefix(err, "%s", reading->host);
		case HTTP_MORE:
			result = peer_fill(peer, reading->deadline_ms, err);
			if (result != PEER_OK)
				return reading_broken(reading, result, err);
			break;
		case HTTP_DONE:
			if (head->code >= 200) {
				str_add_slice(&reading->head_text, slice_first(
				    peer_unread(peer), head->bytes));
				peer_consume(peer, head->bytes);
				(void)http_head_parse(str_slice(
				    &reading->head_text), head, err);
				return 0;
			}
			peer_consume(peer, head->bytes);
			interim++;
		}
	}
	return err_set(err, "%s does not come to the point", reading->host);
}

/* "text/plain", and parameters. */
static bool
type_is_plain(struct slice type)
{
	return slice_is_nocase(slice_trim(slice_first(type, slice_find(type,
	    ';'))), "text/plain");
}

static int
reading_judge_head(const struct reading *reading, struct err *err)
{
	const struct http_head *head = &reading->head;

	if (head->code / 100 == 3)
		return err_set(err, "%s answers %u: redirects are not followed",
		    reading->host, head->code);
	if (head->code != 200)
		return err_set(err, "%s answers %u", reading->host,
		    head->code);
	if (!type_is_plain(head->type))
		return err_set(err, "%s sends something else than text/plain",
		    reading->host);
	/* who could cut it short could shorten max_age */
	if (!head->has_length && !head->is_chunked)
		return err_set(err, "%s does not say how long the policy is",
		    reading->host);
	if (head->has_length && head->length > STS_BODY_BYTES_MAX)
		return err_set(err, "%s has a policy of more than %d bytes",
		    reading->host, STS_BODY_BYTES_MAX);
	return 0;
}

static int
reading_hear_body(struct reading *reading, struct err *err)
{
	struct peer *peer = &reading->peer;
	enum peer_result result;
	struct http_body body;
	size_t used, taken = 0;

	http_body_begin(&body, &reading->head);
	for (;;) {
		enum http_progress got = http_body_take(&body,
		    peer_unread(peer), &used, &reading->body,
		    STS_BODY_BYTES_MAX + 1, err);

		peer_consume(peer, used);
		taken += used;
		if (got == HTTP_BAD)
			return err_prefix(err, "%s", reading->host);
		/* with chunks of a byte it has six times as many */
		if (reading->body.len > STS_BODY_BYTES_MAX ||
		    taken > 8 * STS_BODY_BYTES_MAX)
			return err_set(err, "%s has a policy of more than %d "
			    "bytes", reading->host, STS_BODY_BYTES_MAX);
		if (got == HTTP_DONE)
			return 0;
		result = peer_fill(peer, reading->deadline_ms, err);
		if (result != PEER_OK)
			return reading_broken(reading, result, err);
	}
}

static int
reading_run(struct reading *reading, struct sts_policy *out,
    const char **out_type, struct err *err)
{
	if (reading_connect(reading, err) < 0 ||
	    reading_encrypt(reading, out_type, err) < 0 ||
	    reading_ask(reading, err) < 0 ||
	    reading_hear_head(reading, err) < 0 ||
	    reading_judge_head(reading, err) < 0 ||
	    reading_hear_body(reading, err) < 0)
		return -1;
	*out_type = policy_invalid;
	return sts_policy_parse(str_slice(&reading->body), out, err);
}

int
fetch_file(const struct fetch_order *order, struct sts_policy *out,
    const char **out_type, struct err *err)
{
	struct reading reading = {
		.order = order, .head_text = STR_INIT, .body = STR_INIT,
		.deadline_ms = clock_steady_ms() + order->for_ms,
	};
	int result;

	snprintf(reading.host, sizeof(reading.host), "mta-sts.%s",
	    order->domain);
	peer_init(&reading.peer);
	*out_type = fetch_error;
	result = reading_run(&reading, out, out_type, err);
	peer_release(&reading.peer);
	str_release(&reading.head_text);
	str_release(&reading.body);
	return result;
}

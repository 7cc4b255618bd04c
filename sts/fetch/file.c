/* file.c - the policy file, from the web server of its domain
 *
 * In     an order
 * Out    a policy that was checked; or why there is none
 * Holds  a connection, as long as it takes
 * Trusts a server as tls/outward/http_call.h does
 * Spec   RFC 8461 sections 3.2, 3.3; RFC 8460 section 4.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "sts/fetch/fetch.h"
#include "tls/outward/http_call.h"

#include "base/banned.h"

static const char fetch_error[] = "sts-policy-fetch-error";
static const char webpki_invalid[] = "sts-webpki-invalid";
static const char policy_invalid[] = "sts-policy-invalid";

struct reading {
	char		host[STS_DOMAIN_BYTES + 16];
	struct http_call call;
	struct str	body;
};

static int
reading_open(struct reading *reading, const char **out_type, struct err *err)
{
	if (http_call_open(&reading->call, err) == 0)
		return 0;
	if (reading->call.is_untrusted)
		*out_type = webpki_invalid;
	return -1;
}

static int
reading_ask(struct reading *reading, struct err *err)
{
	str_addf(&reading->call.peer.out,
	    "GET /.well-known/mta-sts.txt HTTP/1.1\r\n"
	    "Host: %s\r\nUser-Agent: zmailer/%s\r\nAccept: text/plain\r\n"
	    "Connection: close\r\n\r\n", reading->host, PACKAGE_VERSION);
	return http_call_ask(&reading->call, err);
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
	const struct http_head *head = &reading->call.head;

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

/* With chunks of a byte it has six times as many. */
static int
reading_hear_body(struct reading *reading, struct err *err)
{
	enum http_progress got = http_call_body(&reading->call,
	    &reading->body, STS_BODY_BYTES_MAX + 1, 8 * STS_BODY_BYTES_MAX,
	    err);

	if (got == HTTP_MORE || reading->body.len > STS_BODY_BYTES_MAX)
		return err_set(err, "%s has a policy of more than %d bytes",
		    reading->host, STS_BODY_BYTES_MAX);
	return got == HTTP_DONE ? 0 : -1;
}

static int
reading_run(struct reading *reading, struct sts_policy *out,
    const char **out_type, struct err *err)
{
	if (reading_open(reading, out_type, err) < 0 ||
	    reading_ask(reading, err) < 0 ||
	    http_call_hear(&reading->call, err) < 0 ||
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
	struct reading reading = { .body = STR_INIT };
	struct http_call *call = &reading.call;
	int result;

	snprintf(reading.host, sizeof(reading.host), "mta-sts.%s",
	    order->domain);
	http_call_init(call);
	call->host = reading.host;
	call->port = order->port;
	call->tls = order->tls;
	call->deadline_ms = clock_steady_ms() + order->for_ms;
	*out_type = fetch_error;
	result = reading_run(&reading, out, out_type, err);
	http_call_release(call);
	str_release(&reading.body);
	return result;
}

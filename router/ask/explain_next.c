/* explain_next.c - what becomes of a recipient after the router
 *
 * In     a recipient
 * Out    its schedule clause; the hosts of its MX and their addresses
 * Holds  nothing
 * Trusts no answer: io/dns/dns.h bounds them
 * Spec   zmailer-route(8); RFC 5321 section 5.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/ask/explain_next.h"

#include "base/json.h"
#include "base/mem.h"
#include "io/dns/dns.h"
#include "router/ask/explain_forward.h"

#include "base/banned.h"

enum { SHOWN_MAX = 10 };	/* hosts of an MX */

static void
next_add_addresses(const char *host, struct str *out)
{
	struct dns_address list[DNS_ADDRESS_MAX];
	char text[80];
	size_t n = 0;
	struct err err;

	switch (dns_addresses(host, list, &n, NULL, &err)) {
	case DNS_OK:
		break;
	case DNS_NONE:
	case DNS_NO_NAME:
		str_adds(out, " has no address");
		return;
	default:
		str_addf(out, ": %s", err.text);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		dns_address_text((const struct sockaddr *)&list[i].address,
		    text, sizeof(text));
		str_addf(out, " %s", text);
	}
}

/* One text a host: "10 mx1.far.test 192.0.2.1"; or what is wrong. */
static size_t
next_hosts(struct arena *arena, const char *host, struct slice *out)
{
	struct dns_mx list[DNS_MX_MAX];
	struct str text = STR_INIT;
	size_t n = 0, count = 0;
	struct err err = { "" };
	enum dns_result result = dns_mx(host, list, &n, NULL,
	    &err);

	if (result == DNS_OK && n == 1 && list[0].host[0] == '\0') {
		str_adds(&text, "null MX: it takes no mail (RFC 7505)");
		n = 0;
	} else if (result == DNS_NO_NAME) {
		str_adds(&text, "there is no such domain");
	} else if (result == DNS_NONE) {
		str_addf(&text, "no MX, %s itself", host);
		next_add_addresses(host, &text);
	} else if (result != DNS_OK) {
		str_addf(&text, "not known now: %s", err.text);
	}
	for (size_t i = 0; result == DNS_OK && i < n && count < SHOWN_MAX;
	    i++) {
		str_reset(&text);
		str_addf(&text, "%u %s", list[i].preference, list[i].host);
		next_add_addresses(list[i].host, &text);
		out[count++] = slice_copy(arena, str_slice(&text));
	}
	if (count == 0)
		out[count++] = slice_copy(arena, str_slice(&text));
	str_release(&text);
	return count;
}

static void
next_tell_mx(const struct draft_rcpt *rcpt, bool is_json, struct str *out)
{
	struct arena *arena = arena_new();
	struct slice hosts[SHOWN_MAX];
	size_t count = next_hosts(arena, slice_dup(arena, rcpt->host), hosts);

	if (is_json)
		json_list(out, "mx", hosts, count);
	for (size_t i = 0; i < count && !is_json; i++) {
		str_adds(out, "     mx ");
		str_add_escaped(out, hosts[i]);
		str_addc(out, '\n');
	}
	arena_free(&arena);
}

static void
next_tell_clause(const struct conf_schedule *clause, bool is_json,
    struct str *out)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s/%s", clause->channel, clause->host);
	if (is_json) {
		json_text(out, "schedule", str_slice(&text));
		json_text(out, "schedule_file", slice_of(clause->at.file !=
		    NULL ? clause->at.file : ""));
		json_number(out, "schedule_line", clause->at.line);
	} else {
		str_addf(out, "     schedule %s (", text.buf);
		if (clause->at.file != NULL)
			str_addf(out, "%s:%u)\n", clause->at.file,
			    clause->at.line);
		else
			str_adds(out, "preset)\n");
	}
	str_release(&text);
}

void
explain_next(const struct conf *conf, const struct draft_rcpt *rcpt,
    bool asks_mx, bool is_json, struct str *out)
{
	bool is_mx = slice_is(rcpt->channel, "smtp") && rcpt->host.n > 0 &&
	    rcpt->host.p[0] != '[';

	if (slice_is(rcpt->channel, "error"))
		return;
	if (slice_is(rcpt->channel, "local"))
		explain_forward(conf, rcpt, is_json, out);
	next_tell_clause(conf_schedule_for(conf, rcpt->channel, rcpt->host),
	    is_json, out);
	if (asks_mx && is_mx)
		next_tell_mx(rcpt, is_json, out);
}

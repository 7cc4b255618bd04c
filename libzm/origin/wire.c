/* wire.c - answers as a server of the DNS sent them
 *
 * In     bytes of an answer
 * Out    records for judgements; none of them is validated
 * Trusts nobody: counts are bounded, what cannot be read is no record
 * Spec   answers.h; RFC 1035 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/answers.h"

#include "base/banned.h"

static enum dns_result
wire_read_addresses(struct slice bytes, struct origin_answer *out)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	enum dns_result result;
	size_t n = 0;
	struct err err;

	result = dns_parse_addresses((const unsigned char *)bytes.p, bytes.n,
	    addresses, &n, &err);
	for (size_t i = 0; i < n; i++)
		net_of_sockaddr((const struct sockaddr *)&addresses[i].address,
		    &out->records[out->record_count++].address);
	return result;
}

static enum dns_result
wire_read_mx(struct slice bytes, struct arena *arena, struct origin_answer *out)
{
	struct dns_mx mx[DNS_MX_MAX];
	enum dns_result result;
	size_t n = 0;
	struct err err;

	result = dns_parse_mx((const unsigned char *)bytes.p, bytes.n, mx, &n,
	    &err);
	for (size_t i = 0; i < n; i++)
		out->records[out->record_count++] = (struct answer_record){
			.preference = mx[i].preference,
			.text = slice_lower(arena, slice_of(mx[i].host))
		};
	return result;
}

static enum dns_result
wire_read_names(struct slice bytes, struct arena *arena,
    struct origin_answer *out)
{
	struct dns_name names[DNS_PTR_MAX];
	enum dns_result result;
	size_t n = 0;
	struct err err;

	result = dns_parse_ptr((const unsigned char *)bytes.p, bytes.n, names,
	    &n, &err);
	for (size_t i = 0; i < n; i++)
		out->records[out->record_count++].text = slice_lower(arena,
		    slice_of(names[i].text));
	return result;
}

static enum dns_result
wire_read_texts(struct slice bytes, struct arena *arena,
    struct origin_answer *out)
{
	size_t ends[ANSWER_RECORDS_MAX], count = 0, at = 0;
	struct str text = STR_INIT;
	enum dns_result result;
	struct slice all;
	struct err err;

	result = dns_parse_texts((const unsigned char *)bytes.p, bytes.n, &text,
	    ends, ANSWER_RECORDS_MAX, &count, &err);
	all = slice_copy(arena, str_slice(&text));
	for (size_t i = 0; i < count; i++) {
		out->records[out->record_count++].text = slice_first(
		    slice_from(all, at), ends[i] - at);
		at = ends[i];
	}
	str_release(&text);
	return result;
}

static enum dns_result
wire_read(struct slice bytes, struct arena *arena, struct origin_answer *out)
{
	switch (out->type) {
	case DNS_TYPE_TXT:
		return wire_read_texts(bytes, arena, out);
	case DNS_TYPE_MX:
		return wire_read_mx(bytes, arena, out);
	case DNS_TYPE_PTR:
		return wire_read_names(bytes, arena, out);
	default:
		return wire_read_addresses(bytes, out);
	}
}

void
answers_put_wire(struct answers *answers, enum dns_type type,
    struct slice name, enum dns_result result, struct slice bytes)
{
	struct answer_record records[ANSWER_RECORDS_MAX] = { { .text = { NULL,
	    0 } } };
	struct origin_answer answer = { .type = type, .name = name,
	    .records = records };
	struct arena *arena = arena_new();

	if (result == DNS_OK)
		result = wire_read(bytes, arena, &answer);
	answer.is_no_name = result == DNS_NO_NAME;
	if (answer.record_count > 0)
		answer.status = ANSWER_INSECURE;
	else if (result == DNS_TRY_AGAIN || result == DNS_BAD)
		answer.status = ANSWER_SERVFAIL;
	else
		answer.status = ANSWER_NONE;
	answers_put(answers, &answer);
	arena_free(&arena);
}

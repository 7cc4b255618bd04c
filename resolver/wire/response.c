/* response.c - an answer of the DNS, as it goes back to who asked
 *
 * In     a question; what libunbound found
 * Out    a packet
 * Holds  nothing
 * Trusts no words about trouble: they are cut, and controls left out
 * Spec   response.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "resolver/wire/records.h"
#include "resolver/wire/response.h"

#include "base/banned.h"

enum {
	RESPONSE_QR = 0x80, RESPONSE_OPCODE_RD = 0x79, RESPONSE_TC = 0x02,
	RESPONSE_RA = 0x80, RESPONSE_AD = 0x20, RESPONSE_CD = 0x10,
	RESPONSE_OPT = 41, OPTION_EXTENDED_ERROR = 15,
	RESPONSE_OFFER = 1232	/* that we take in a datagram */
};

static void
response_number(struct str *out, unsigned number)
{
	str_addc(out, (char)(number >> 8));
	str_addc(out, (char)(number & 0xff));
}

static void
response_head(struct str *out, const struct dns_query *query,
    enum dns_code code, bool is_secure)
{
	response_number(out, query->id);
	str_addc(out, (char)(RESPONSE_QR |
	    (query->flags[0] & RESPONSE_OPCODE_RD)));
	str_addc(out, (char)(RESPONSE_RA | (is_secure ? RESPONSE_AD : 0) |
	    (query->flags[1] & RESPONSE_CD) | ((unsigned)code & 0x0f)));
	response_number(out, query->question_bytes > 0);
	for (int i = 0; i < RECORDS_SECTIONS; i++)
		response_number(out, 0);
	str_add(out, query->question, query->question_bytes);
}

/* RFC 8914 section 2: the code, then words of UTF-8. */
static void
response_trouble(struct str *option, enum dns_trouble trouble,
    const char *why)
{
	response_number(option, OPTION_EXTENDED_ERROR);
	response_number(option, 0);
	response_number(option, (unsigned)trouble);
	for (; why != NULL && *why != '\0' &&
	    option->len < 6 + RESPONSE_WHY_BYTES; why++)
		str_addc(option, *why < ' ' || *why > '~' ? ' ' : *why);
	option->buf[3] = (char)(option->len - 4);
}

static void
response_opt(struct str *out, const struct dns_query *query, enum dns_code code,
    const struct finding *finding)
{
	struct str option = STR_INIT;

	if (!query->has_edns)
		return;
	if (finding != NULL && finding->trouble != DNS_TROUBLE_NONE)
		response_trouble(&option, finding->trouble, finding->why);
	str_addc(out, '\0');
	response_number(out, RESPONSE_OPT);
	response_number(out, RESPONSE_OFFER);
	str_addc(out, (char)((unsigned)code >> 4));
	str_addc(out, '\0');		/* version */
	response_number(out, query->wants_signatures ? 0x8000 : 0);
	response_number(out, (unsigned)option.len);
	str_add(out, option.buf, option.len);
	str_release(&option);
}

/* The number of records of a section, from 0 on, after the question's. */
static void
response_count(struct str *out, size_t begin, size_t section, unsigned count)
{
	out->buf[begin + 6 + 2 * section] = (char)(count >> 8);
	out->buf[begin + 7 + 2 * section] = (char)(count & 0xff);
}

static void
response_build(struct str *out, const struct dns_query *query,
    const struct finding *finding)
{
	unsigned counts[RECORDS_SECTIONS] = { 0 };
	struct finding damaged = { .code = DNS_CODE_FAILED,
	    .trouble = DNS_TROUBLE_OTHER, .why = "the answer is damaged" };

	response_head(out, query, finding->code, finding->is_secure);
	if (finding->packet != NULL && !records_copy(out, query,
	    finding->packet, finding->packet_bytes, counts)) {
		str_reset(out);
		response_build(out, query, &damaged);
		return;
	}
	counts[RECORDS_SECTIONS - 1] += query->has_edns;
	for (size_t i = 0; i < RECORDS_SECTIONS; i++)
		response_count(out, 0, i, counts[i]);
	response_opt(out, query, finding->code, finding);
}

void
response_make(struct str *out, const struct dns_query *query,
    const struct finding *finding, size_t room)
{
	struct str answer = STR_INIT;
	struct finding bare = *finding;

	response_build(&answer, query, finding);
	if (answer.len > room) {
		str_reset(&answer);
		bare.packet = NULL;
		response_build(&answer, query, &bare);
		answer.buf[2] |= RESPONSE_TC;
	}
	str_add(out, answer.buf, answer.len);
	str_release(&answer);
}

void
response_refuse(struct str *out, const struct dns_query *query,
    enum dns_code code)
{
	size_t begin = out->len;

	response_head(out, query, code, false);
	if (query->has_edns)
		response_count(out, begin, RECORDS_SECTIONS - 1, 1);
	response_opt(out, query, code, NULL);
}

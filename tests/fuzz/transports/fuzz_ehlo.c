/* fuzz_ehlo.c - any lines as what a server announces
 *
 * Grammar: libzm/grammar/smtp/ehlo.c (RFC 5321 section 4.1.1.1), read by
 * transports/smtp/offer.c.  No number that is absurd stands; in
 * capitals it is the same offer.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "transports/smtp/client.h"

/* "250-LINE" for each line, "250 LINE" for the last: a reply, or none. */
static void
add_reply(struct str *out, struct slice lines, bool in_capitals)
{
	struct slice line;

	while (slice_cut(&lines, '\n', &line)) {
		str_adds(out, lines.p == NULL ? "250 " : "250-");
		for (size_t i = 0; i < line.n; i++) {
			char c = line.p[i];

			str_addc(out, in_capitals && c >= 'a' && c <= 'z' ?
			    (char)(c - 32) : c);
		}
		str_adds(out, "\r\n");
	}
}

static bool
take(struct slice lines, bool in_capitals, struct client_offer *offer)
{
	struct str text = STR_INIT;
	struct reply reply;
	struct err err;
	bool is_reply;

	memset(offer, 0, sizeof(*offer));
	add_reply(&text, lines, in_capitals);
	is_reply = reply_parse(str_slice(&text), &reply, &err) == REPLY_DONE;
	if (is_reply)
		client_offer_take(offer, &reply);
	str_release(&text);
	return is_reply;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct client_offer offer, capitals;

	if (!take(in, false, &offer))
		return 0;
	MUST(offer.size_bytes <= UINT64_MAX / 2);
	MUST(offer.by_min_s <= 999999999);
	MUST(offer.mails <= 1000000 && offer.rcpts <= 1000000 &&
	    offer.domains <= 1000000);
	MUST(take(in, true, &capitals));
	MUST(memcmp(&offer, &capitals, sizeof(offer)) == 0);
	return 0;
}

/* tally.c - what was asked and answered, as numbers
 *
 * In     findings
 * Out    numbers as text, and as an event
 * Spec   tally.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stddef.h>
#include <stdio.h>

#include "journal/event.h"
#include "resolver/serve/tally.h"

#include "base/banned.h"

static const struct {
	const char	*name;
	size_t		 offset;
} tally_fields[] = {
	{ "questions", offsetof(struct tally, questions) },
	{ "secure", offsetof(struct tally, secure) },
	{ "insecure", offsetof(struct tally, insecure) },
	{ "none", offsetof(struct tally, none) },
	{ "no-name", offsetof(struct tally, no_name) },
	{ "bogus", offsetof(struct tally, bogus) },
	{ "failed", offsetof(struct tally, failed) },
	{ "refused", offsetof(struct tally, refused) },
};
enum { TALLY_FIELDS = sizeof(tally_fields) / sizeof(tally_fields[0]) };

static uint64_t
tally_field(const struct tally *tally, size_t i)
{
	return *(const uint64_t *)(const void *)((const char *)tally +
	    tally_fields[i].offset);
}

/* Has the packet no record in its answer? */
static bool
finding_is_empty(const struct finding *finding)
{
	return finding->packet == NULL || finding->packet_bytes < 8 ||
	    (finding->packet[6] == 0 && finding->packet[7] == 0);
}

void
tally_answer(struct tally *tally, const struct finding *finding)
{
	if (finding->trouble == DNS_TROUBLE_BOGUS)
		tally->bogus++;
	else if (finding->code == DNS_CODE_NO_NAME)
		tally->no_name++;
	else if (finding->code != DNS_CODE_GOOD)
		tally->failed++;
	else if (finding_is_empty(finding))
		tally->none++;
	else if (finding->is_secure)
		tally->secure++;
	else
		tally->insecure++;
}

void
tally_add_text(struct str *out, const struct tally *tally)
{
	for (size_t i = 0; i < TALLY_FIELDS; i++)
		str_addf(out, "%s=%llu ", tally_fields[i].name,
		    (unsigned long long)tally_field(tally, i));
	str_addf(out, "flights=%llu", (unsigned long long)tally->flights);
}

void
tally_tell(const struct tally *tally, struct tally *before)
{
	char words[TALLY_FIELDS][24];
	bool is_changed = false;

	for (size_t i = 0; i < TALLY_FIELDS; i++) {
		uint64_t more = tally_field(tally, i) -
		    tally_field(before, i);

		is_changed = is_changed || more > 0;
		snprintf(words[i], sizeof(words[i]), "%llu",
		    (unsigned long long)more);
	}
	if (is_changed)
		event(EV_RESOLVER_COUNTED, NULL,
		    "questions", slice_of(words[0]),
		    "secure", slice_of(words[1]),
		    "insecure", slice_of(words[2]),
		    "none", slice_of(words[3]),
		    "no-name", slice_of(words[4]),
		    "bogus", slice_of(words[5]),
		    "failed", slice_of(words[6]),
		    "refused", slice_of(words[7]), NULL);
	*before = *tally;
}

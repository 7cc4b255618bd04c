/* fetch.c - one look-up of a domain's policy: its record, then its file
 *
 * In     an order
 * Out    a line
 * Holds  nothing
 * Spec   fetch.h; RFC 8461 sections 3 and 5.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "sts/fetch/fetch.h"

#include "base/banned.h"

static void
fetch_add_trouble(struct str *out, const char *type, const struct err *err)
{
	str_addf(out, "trouble %s ", type);
	str_add_escaped(out, slice_of(err->text));
}

static void
fetch_add_file(const struct fetch_order *order, const char *id,
    struct str *out)
{
	struct sts_policy policy;
	const char *type;
	struct err err;

	if (fetch_file(order, &policy, &type, &err) < 0) {
		fetch_add_trouble(out, type, &err);
		return;
	}
	strlcpy(policy.id, id, sizeof(policy.id));
	str_adds(out, "policy ");
	sts_policy_add_words(out, &policy);
}

void
fetch_run(const struct fetch_order *order, struct str *out)
{
	char id[STS_ID_BYTES];
	struct err err;

	switch (fetch_record(order->domain, id, &err)) {
	case FETCH_NO_RECORD:
		str_adds(out, "none");
		break;
	case FETCH_RECORD_TROUBLE:
		fetch_add_trouble(out, "sts-policy-fetch-error", &err);
		break;
	case FETCH_RECORD:
		if (!order->is_due && strcmp(id, order->id) == 0)
			str_adds(out, "same");
		else
			fetch_add_file(order, id, out);
	}
}

enum fetch_found
fetch_line_read(struct slice line, struct sts_policy *out,
    struct slice *out_type, struct slice *out_words)
{
	struct slice rest = line, word;
	struct err err;

	*out_type = SLICE("sts-policy-fetch-error");
	*out_words = SLICE("the process that looks it up ended");
	if (slice_is(line, "none"))
		return FETCH_NONE;
	if (slice_is(line, "same"))
		return FETCH_SAME;
	if (!slice_word(&rest, &word))
		return FETCH_TROUBLE;
	if (slice_is(word, "policy") &&
	    sts_policy_read_words(rest, out, &err) == 0)
		return FETCH_POLICY;
	if (slice_is(word, "trouble") && slice_word(&rest, &word)) {
		*out_type = word;
		*out_words = slice_trim(rest);
	}
	return FETCH_TROUBLE;
}

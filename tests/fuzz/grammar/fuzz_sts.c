/* fuzz_sts.c - any bytes as a record, a policy, its words, a pattern
 *
 * Grammar: libzm/grammar/sts.c (RFC 8461 sections 3.1, 3.2, 4.1); the file
 * that is kept: libzm/io/consult/sts_shelf.c
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/sts.h"
#include "io/consult/sts_shelf.h"

#include "base/banned.h"

/* What was taken can be written and read again, and is the same. */
static void
check_again(const struct sts_policy *policy)
{
	struct str words = STR_INIT, again = STR_INIT;
	struct sts_policy copy;
	struct err err;

	MUST(policy->mx_count <= STS_MX_MAX &&
	    policy->mx_bytes <= STS_MX_BYTES);
	MUST(policy->max_age_s >= 0 && policy->max_age_s <= STS_MAX_AGE_S);
	sts_policy_add_words(&words, policy);
	MUST(sts_policy_read_words(str_slice(&words), &copy, &err) == 0);
	sts_policy_add_words(&again, &copy);
	MUST(slice_equal(str_slice(&words), str_slice(&again)));
	for (unsigned i = 0; i < policy->mx_count; i++) {
		const char *mx = sts_policy_mx(policy, i);

		MUST(mx[0] == '*' || sts_policy_allows(policy, slice_of(mx)));
	}
	str_release(&words);
	str_release(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	char id[STS_ID_BYTES], domain[STS_DOMAIN_BYTES];
	struct sts_policy policy;
	struct err err = { "" };
	int64_t fetched_s;

	if (sts_record_parse(in, id, &err) == 0)
		MUST(sts_record_is(in) && id[0] != '\0');
	if (sts_policy_parse(in, &policy, &err) == 0)
		check_again(&policy);
	else
		MUST(err.text[0] != '\0');
	if (sts_policy_read_words(in, &policy, &err) == 0)
		check_again(&policy);
	if (sts_shelf_parse(in, "a.test", &fetched_s, &policy, &err) == 0)
		check_again(&policy);
	if (sts_domain(in, domain))
		MUST(sts_domain(slice_of(domain), domain));
	return 0;
}

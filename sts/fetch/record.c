/* record.c - the TXT record that says there is a policy, and which
 *
 * In     a domain
 * Out    an id
 * Holds  nothing
 * Trusts nothing: strings are looked at within the record they stand in
 * Spec   RFC 8461 section 3.1; RFC 1035 section 3.3.14
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "io/dns/dns.h"
#include "sts/fetch/fetch.h"

#include "base/banned.h"

/* The strings of a record, joined without anything between them. */
static void
record_join(struct slice data, struct str *out)
{
	str_reset(out);
	while (data.n > 0) {
		size_t n = (unsigned char)data.p[0];

		str_add_slice(out, slice_first(slice_from(data, 1), n));
		data = slice_from(data, n + 1);
	}
}

/* There must be one, and it must be good. */
static enum fetch_record
record_choose(const struct dns_records *records, char out_id[STS_ID_BYTES],
    struct err *err)
{
	enum fetch_record result = FETCH_NO_RECORD;
	struct str text = STR_INIT;
	unsigned count = 0;

	for (size_t i = 0; i < records->count; i++) {
		record_join(dns_records_at(records, i), &text);
		if (sts_record_is(str_slice(&text)) && count++ == 0 &&
		    sts_record_parse(str_slice(&text), out_id, err) == 0)
			result = FETCH_RECORD;
	}
	str_release(&text);
	return count == 1 ? result : FETCH_NO_RECORD;
}

enum fetch_record
fetch_record(const char *domain, char out_id[STS_ID_BYTES], struct err *err)
{
	enum fetch_record result = FETCH_NO_RECORD;
	struct dns_records records;
	char name[STS_DOMAIN_BYTES + 16];

	snprintf(name, sizeof(name), "_mta-sts.%s", domain);
	dns_records_init(&records);
	switch (dns_ask_records(name, DNS_TYPE_TXT, &records, err)) {
	case DNS_OK:
		result = record_choose(&records, out_id, err);
		break;
	case DNS_NONE:
	case DNS_NO_NAME:
		break;
	default:
		err_prefix(err, "TXT of %s could not be had", name);
		result = FETCH_RECORD_TROUBLE;
	}
	dns_records_release(&records);
	return result;
}

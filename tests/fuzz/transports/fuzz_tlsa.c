/* fuzz_tlsa.c - a whole answer with TLSA records: read, judged, told
 *
 * Grammar: libzm/grammar/tlsa.c, libzm/tls/dane.c (RFC 6698 section 2.1)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "io/dns/dns.h"
#include "tls/dane.h"

#include "base/banned.h"

static void
judge(struct slice rdata)
{
	struct str words = STR_INIT;
	struct tlsa tlsa;

	if (tlsa_parse(rdata, &tlsa) < 0) {
		MUST(rdata.n <= 3);
		return;
	}
	MUST(tlsa.data.n == rdata.n - 3 && tlsa.data.n > 0);
	MUST(!tls_tlsa_is_usable(&tlsa) || tlsa_is_for_smtp(&tlsa));
	MUST(!tlsa_is_for_smtp(&tlsa) || (tlsa.usage >= 2 &&
	    tlsa.usage <= 3));
	tlsa_add_words(&words, &tlsa);
	MUST(words.len >= 5 && words.len <= 11);
	str_reset(&words);
	MUST(tlsa_add_text(&words, &tlsa) == (words.len > 0));
	MUST(words.len <= TLSA_TEXT_BYTES_MAX);
	str_release(&words);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dns_records records;
	struct dns_trust trust;
	enum dns_result result;
	struct err err = { "" };

	if (size > 65535)
		return 0;
	judge(fuzz_slice(data, size));
	dns_records_init(&records);
	result = dns_parse_records(data, size, DNS_TYPE_TLSA, &records, &err);
	MUST((result == DNS_OK) == (records.count > 0));
	MUST(records.count <= DNS_RECORDS_MAX);
	for (size_t i = 0; i < records.count; i++)
		judge(dns_records_at(&records, i));
	MUST(records.count == 0 || records.ends[records.count - 1] ==
	    records.bytes.len);
	dns_records_release(&records);
	dns_parse_trust(data, size, &trust);
	MUST(strlen(trust.name) < sizeof(trust.name));
	return 0;
}

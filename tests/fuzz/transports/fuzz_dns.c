/* fuzz_dns.c - a whole answer of a name server
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "io/dns/dns.h"

#include "base/banned.h"

/* dns_record_fn */
static void
take_record(void *context, const struct dns_record *record)
{
	MUST(!fuzz_has_control(slice_of(record->name)));
	MUST(!fuzz_has_control(record->value));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dns_mx mx[DNS_MX_MAX];
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct dns_name names[DNS_PTR_MAX];
	struct dns_error error;
	enum dns_result result;
	struct err err = { "" };
	size_t n = 0;
	struct str text = STR_INIT;

	if (size > 65535)
		return 0;
	result = dns_parse_mx(data, size, mx, &n, &err);
	MUST((result == DNS_OK) == (n > 0) && n <= DNS_MX_MAX);
	MUST(result != DNS_BAD || err.text[0] != '\0');
	for (size_t i = 0; i < n; i++) {
		MUST(strlen(mx[i].host) < sizeof(mx[i].host));
		MUST(!fuzz_has_control(slice_of(mx[i].host)));
		MUST(i == 0 || mx[i - 1].preference <= mx[i].preference);
	}
	n = 0;
	result = dns_parse_ptr(data, size, names, &n, &err);
	MUST((result == DNS_OK) == (n > 0) && n <= DNS_PTR_MAX);
	for (size_t i = 0; i < n; i++) {
		MUST(strlen(names[i].text) < sizeof(names[i].text));
		MUST(!fuzz_has_control(slice_of(names[i].text)));
	}
	result = dns_parse_txt(data, size, &text, &err);
	MUST((result == DNS_OK) == (text.len > 0));
	for (size_t i = 0; i < text.len; i++)
		MUST(text.buf[i] == '\n' || (unsigned char)text.buf[i] >= 32);
	str_release(&text);
	result = dns_answer_result(data, size);
	MUST(result == DNS_OK || result == DNS_NO_NAME ||
	    result == DNS_TRY_AGAIN);
	if (dns_parse_error(data, size, &error))
		MUST(strlen(error.words) < sizeof(error.words) &&
		    !fuzz_has_control(slice_of(error.words)));
	(void)dns_tell_records(data, size, take_record, NULL);
	(void)dns_is_answer(data, size / 2, data + size / 2, size - size / 2);
	n = 0;
	result = dns_parse_addresses(data, size, addresses, &n, &err);
	MUST((result == DNS_OK) == (n > 0) && n <= DNS_ADDRESS_MAX);
	for (size_t i = 0; i < n; i++) {
		char shown[80];

		dns_address_text((struct sockaddr *)&addresses[i].address,
		    shown, sizeof(shown));
		MUST(shown[0] != '\0' && shown[0] != '?');
	}
	return 0;
}

/* test_provider.c - one name for the hosts that take a domain's mail
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "transports/smtp/client.h"

Test(provider, names)
{
	static const struct { const char *host, *domain, *want; } rows[] = {
		{ "gmail-smtp-in.l.google.com", "gmail.com", "l.google.com" },
		{ "ASPMX.L.GOOGLE.COM.", "shop.example", "l.google.com" },
		{ "shop-example.mail.protection.outlook.com", "shop.example",
		    "mail.protection.outlook.com" },
		{ "mta5.am0.yahoodns.net", "yahoo.com", "am0.yahoodns.net" },
		{ "mx0a-001.pphosted.com", "bank.example", "pphosted.com" },
		{ "mx.example.org", "example.org", "example.org" },
		{ "example.org", "example.org", "example.org" },
		{ "a.b.example.org", "a.b.example.org", "a.b.example.org" },
		{ "shop.co.uk", "other.example", "shop.co.uk" },
		{ "mx.shop.co.uk", "other.example", "shop.co.uk" },
		{ "localhost", "x.example", "localhost" },
		{ "", "x.example", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char out[CLIENT_PROVIDER_BYTES];

		client_provider(rows[i].host, rows[i].domain, out);
		cr_expect_str_eq(out, rows[i].want, "row %zu: %s", i, out);
	}
}

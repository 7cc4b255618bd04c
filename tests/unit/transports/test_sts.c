/* test_sts.c - OpenSSL's words about a certificate, as RFC 8460 has them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <openssl/x509.h>

#include "transports/smtp/security/sts.h"

Test(sts, words_of_the_library_are_result_types)
{
	static const struct {
		long		 code;
		const char	*result;
	} rows[] = {
		{ X509_V_ERR_CERT_HAS_EXPIRED, "certificate-expired" },
		{ X509_V_ERR_HOSTNAME_MISMATCH, "certificate-host-mismatch" },
		{ X509_V_ERR_IP_ADDRESS_MISMATCH,
		    "certificate-host-mismatch" },
		{ X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
		    "certificate-not-trusted" },
		{ X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
		    "certificate-not-trusted" },
		{ X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
		    "certificate-not-trusted" },
		{ X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
		    "certificate-not-trusted" },
		{ X509_V_ERR_DANE_NO_MATCH, "validation-failure" },
		{ X509_V_ERR_CERT_NOT_YET_VALID, "validation-failure" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_str_eq(client_tls_result(
		    X509_verify_cert_error_string(rows[i].code)),
		    rows[i].result, "row %zu", i);
}

/* tls_dane.c - certificates by TLSA records instead of trusted roots
 *
 * In     records that the DNS vouches for
 * Out    a connection that goes on only with a certificate they name
 * Holds  nothing
 * Trusts the records as far as their answers were secure, which others have
 *        looked at; no record to be readable
 * Spec   RFC 6698, RFC 7671, RFC 7672 section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>

#include "tls/dane.h"

#include "base/banned.h"

static bool
dane_is_certificate(struct slice data)
{
	const unsigned char *p = (const unsigned char *)data.p;
	X509 *certificate = d2i_X509(NULL, &p, (long)data.n);
	bool is_good = certificate != NULL &&
	    p == (const unsigned char *)data.p + data.n &&
	    X509_get0_pubkey(certificate) != NULL;

	X509_free(certificate);
	ERR_clear_error();
	return is_good;
}

static bool
dane_is_key(struct slice data)
{
	const unsigned char *p = (const unsigned char *)data.p;
	EVP_PKEY *key = d2i_PUBKEY(NULL, &p, (long)data.n);
	bool is_good = key != NULL &&
	    p == (const unsigned char *)data.p + data.n;

	EVP_PKEY_free(key);
	ERR_clear_error();
	return is_good;
}

bool
tls_tlsa_is_usable(const struct tlsa *tlsa)
{
	if (!tlsa_is_for_smtp(tlsa))
		return false;
	if (tlsa->matching != TLSA_FULL)
		return true;
	return tlsa->selector == TLSA_CERTIFICATE ?
	    dane_is_certificate(tlsa->data) : dane_is_key(tlsa->data);
}

/* What a record of this selector and matching type says of a certificate, in
 * out.  false: OpenSSL could not. */
static bool
dane_data(X509 *certificate, unsigned selector, unsigned matching,
    struct str *out)
{
	unsigned char *der = NULL, sum[EVP_MAX_MD_SIZE];
	unsigned sum_n = 0;
	int n = selector == TLSA_CERTIFICATE ? i2d_X509(certificate, &der) :
	    i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
	bool is_good = n > 0;

	if (is_good && matching == TLSA_FULL)
		str_add(out, der, (size_t)n);
	else if (is_good && EVP_Digest(der, (size_t)n, sum, &sum_n, matching ==
	    TLSA_SHA256 ? EVP_sha256() : EVP_sha512(), NULL) == 1)
		str_add(out, sum, sum_n);
	else
		is_good = false;
	OPENSSL_free(der);
	ERR_clear_error();
	return is_good;
}

static bool
dane_is_of(X509 *certificate, const struct tlsa *tlsa)
{
	struct str data = STR_INIT;
	bool result = dane_data(certificate, tlsa->selector, tlsa->matching,
	    &data) && slice_equal(str_slice(&data), tlsa->data);

	str_release(&data);
	return result;
}

enum tls_tlsa_fit
tls_tlsa_fits(const struct tlsa *tlsa, const char *file, struct err *err)
{
	enum tls_tlsa_fit result = TLS_TLSA_DIFFERS;
	BIO *bio = BIO_new_file(file, "r");
	X509 *one;
	int count = 0;

	while (bio != NULL && result == TLS_TLSA_DIFFERS &&
	    (count == 0 || tlsa->usage == TLSA_DANE_TA) &&
	    (one = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
		if (dane_is_of(one, tlsa))
			result = TLS_TLSA_FITS;
		X509_free(one);
		count++;
	}
	BIO_free(bio);
	ERR_clear_error();
	if (count > 0)
		return result;
	err_set(err, "%s: it has no certificate that can be read", file);
	return TLS_TLSA_BAD;
}

int
tls_tlsa_add(struct str *out, const char *file, struct err *err)
{
	BIO *bio = BIO_new_file(file, "r");
	X509 *one = bio == NULL ? NULL : PEM_read_bio_X509(bio, NULL, NULL,
	    NULL);
	struct str data = STR_INIT;
	bool is_good = one != NULL && dane_data(one, TLSA_KEY, TLSA_SHA256,
	    &data);

	if (is_good)
		str_adds(out, "3 1 1 ");
	for (size_t i = 0; is_good && i < data.len; i++)
		str_addf(out, "%02x", (unsigned char)data.buf[i]);
	str_release(&data);
	X509_free(one);
	BIO_free(bio);
	ERR_clear_error();
	return is_good ? 0 : err_set(err, "%s: it has no certificate that can "
	    "be read", file);
}

/* Names are those of the goal, and none for usage 3: there the record itself
 * names the certificate (RFC 7672 section 3.1.1). */
bool
tls_dane_set(struct ssl_st *ssl, const struct tls_goal *goal)
{
	struct tlsa tlsa;

	if (SSL_dane_enable(ssl, goal->sni) <= 0)
		return false;
	SSL_dane_set_flags(ssl, DANE_FLAG_NO_DANE_EE_NAMECHECKS);
	for (size_t i = 0; i < goal->tlsa->count; i++)
		if (tlsa_parse(dns_records_at(goal->tlsa, i), &tlsa) == 0 &&
		    tls_tlsa_is_usable(&tlsa) && SSL_dane_tlsa_add(ssl,
		    (uint8_t)tlsa.usage, (uint8_t)tlsa.selector,
		    (uint8_t)tlsa.matching,
		    (const unsigned char *)tlsa.data.p, tlsa.data.n) < 0)
			return false;
	return true;
}

/* A resumed session keeps what was found of the certificate, not by what. */
void
tls_dane_tell(struct ssl_st *ssl, struct tls_info *info)
{
	uint8_t usage, selector, matching;

	if (SSL_get0_dane_tlsa(ssl, &usage, &selector, &matching, NULL,
	    NULL) >= 0)
		snprintf(info->tlsa, sizeof(info->tlsa),
		    "TLSA %u %u %u matched", usage, selector, matching);
	else
		snprintf(info->tlsa, sizeof(info->tlsa),
		    "TLSA matched before");
}

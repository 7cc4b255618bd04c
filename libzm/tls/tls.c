/* tls.c - what both sides of a TLS connection tell about it
 *
 * In     a connection of OpenSSL's after its handshake
 * Out    words for Received fields, log and verdicts
 * Trusts nothing in the other side's certificate: names are cut and cleaned
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tls/tls.h"

#include "base/banned.h"

static void
set_clean(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; text != NULL && *text != '\0' && n + 1 < size; text++) {
		unsigned char c = (unsigned char)*text;

		out[n++] = c < ' ' || c >= 0x7f ? '?' : (char)c;
	}
	out[n] = '\0';
}

void
tls_fingerprint(const struct x509_st *certificate, char *out)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	out[0] = '\0';
	if (X509_digest(certificate, EVP_sha256(), hash, &n) != 1)
		return;
	for (unsigned i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

/* Half a name would be another's: what has no room is left out.  RFC 2253
 * escapes what is not ASCII, and control characters. */
static void
set_dn(char *out, size_t size, const X509_NAME *name)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *text = NULL;
	long n = 0;

	out[0] = '\0';
	if (bio == NULL)
		return;
	if (X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) >= 0)
		n = BIO_get_mem_data(bio, &text);
	if (n > 0 && (size_t)n < size && memchr(text, '\0', (size_t)n) == NULL)
		for (long i = 0; i <= n; i++)
			out[i] = i < n ? text[i] : '\0';
	BIO_free(bio);
}

static void
set_common_name(char *out, const X509_NAME *name)
{
	char text[TLS_NAME_BYTES] = "";

	X509_NAME_get_text_by_NID((X509_NAME *)(uintptr_t)name,
	    NID_commonName, text, sizeof(text));
	set_clean(out, TLS_NAME_BYTES, text);
}

static void
fill_names(const X509 *certificate, struct tls_info *out)
{
	const X509_NAME *subject = X509_get_subject_name(certificate),
	    *issuer = X509_get_issuer_name(certificate);

	set_common_name(out->peer, subject);
	set_common_name(out->issuer_peer, issuer);
	set_dn(out->subject, sizeof(out->subject), subject);
	set_dn(out->issuer, sizeof(out->issuer), issuer);
}

static void
fill_peer(const SSL *ssl, struct tls_info *out)
{
	X509 *certificate = SSL_get1_peer_certificate(ssl);
	long result = SSL_get_verify_result(ssl);

	if (certificate == NULL) {
		set_clean(out->why, sizeof(out->why), "no certificate");
		return;
	}
	fill_names(certificate, out);
	tls_fingerprint(certificate, out->fingerprint);
	X509_free(certificate);
	out->is_verified = result == X509_V_OK;
	if (!out->is_verified)
		set_clean(out->why, sizeof(out->why),
		    X509_verify_cert_error_string(result));
}

void
tls_info_fill(const struct ssl_st *ssl, struct tls_info *out)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);

	memset(out, 0, sizeof(*out));
	set_clean(out->version, sizeof(out->version), SSL_get_version(ssl));
	if (cipher != NULL) {
		set_clean(out->cipher, sizeof(out->cipher),
		    SSL_CIPHER_get_name(cipher));
		out->bits = SSL_CIPHER_get_bits(cipher, NULL);
	}
	set_clean(out->asked, sizeof(out->asked),
	    SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
	out->is_resumed = SSL_session_reused((SSL *)(uintptr_t)ssl) == 1;
	fill_peer(ssl, out);
}

bool
tls_shows_name(const struct ssl_st *ssl, const char *name)
{
	X509 *shown = SSL_get0_peer_certificate(ssl);

	return shown != NULL && X509_check_host(shown, name, 0,
	    X509_CHECK_FLAG_NO_WILDCARDS |
	    X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;
}

int64_t
tls_shown_ends_s(const struct ssl_st *ssl)
{
	const X509 *shown = SSL_get0_peer_certificate(ssl);
	struct tm at;

	memset(&at, 0, sizeof(at));
	return shown != NULL && ASN1_TIME_to_tm(X509_get0_notAfter(shown),
	    &at) == 1 ? (int64_t)timegm(&at) : 0;
}

void
tls_info_add(struct str *out, const struct tls_info *info)
{
	str_addf(out, "%s %s %d bits", info->version, info->cipher,
	    info->bits);
	if (info->peer[0] != '\0')
		str_addf(out, ", %s %s", info->is_verified ? "verified" :
		    "unverified", info->peer);
	if (info->tlsa[0] != '\0')
		str_addf(out, ", %s", info->tlsa);
}

int
tls_err(struct err *err, const char *what)
{
	unsigned long code = ERR_get_error();
	char words[160] = "no reason given";

	if (code != 0)
		ERR_error_string_n(code, words, sizeof(words));
	ERR_clear_error();
	return err_set(err, "%s: %s", what, words);
}

/* tls_about.c - what stands in a certificate, for people
 *
 * In     a PEM file
 * Out    names, issuer, dates
 * Holds  texts, until released
 * Trusts neither the file's length nor its content
 * Spec   RFC 5280 sections 4.1.2.4 to 4.1.2.6 and 4.2.1.6; RFC 6125
 *        section 6.4.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

#include "tls/about.h"
#include "tls/pair.h"

#include "base/banned.h"

static int64_t
about_seconds(const ASN1_TIME *time)
{
	struct tm tm;

	return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

static void
add_common_name(struct str *out, const X509_NAME *name)
{
	char text[256];
	int n = X509_NAME_get_text_by_NID((X509_NAME *)name, NID_commonName,
	    text, sizeof(text));

	if (n < 0)
		n = X509_NAME_get_text_by_NID((X509_NAME *)name,
		    NID_organizationName, text, sizeof(text));
	if (n > 0)
		str_add_escaped(out, (struct slice){ text, (size_t)n });
}

/* Names with blanks or controls in them are nobody's. */
static void
add_names(struct str *out, const X509 *certificate)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(certificate,
	    NID_subject_alt_name, NULL, NULL);

	for (int i = 0; i < sk_GENERAL_NAME_num(names) &&
	    i < TLS_ABOUT_NAMES_MAX; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		struct slice text;

		if (name->type != GEN_DNS)
			continue;
		text.p = (const char *)ASN1_STRING_get0_data(name->d.dNSName);
		text.n = (size_t)ASN1_STRING_length(name->d.dNSName);
		if (text.n == 0 || slice_find(text, ' ') < text.n)
			continue;
		if (out->len > 0)
			str_addc(out, ' ');
		str_add_escaped(out, text);
	}
	GENERAL_NAMES_free(names);
}

int
tls_about_load(struct tls_about *about, const char *file, struct err *err)
{
	struct str text = STR_INIT;
	X509 *certificate = NULL;
	BIO *bio;

	memset(about, 0, sizeof(*about));
	str_init(&about->subject);
	str_init(&about->issuer);
	str_init(&about->names);
	if (tls_file_read(file, &text, err) != 0) {
		str_release(&text);
		return -1;
	}
	bio = BIO_new_mem_buf(text.buf, (int)text.len);
	certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	BIO_free(bio);
	str_release(&text);
	if (certificate == NULL)
		return tls_err(err, file);
	about->begins_s = about_seconds(X509_get0_notBefore(certificate));
	about->expires_s = about_seconds(X509_get0_notAfter(certificate));
	about->is_own_issuer = X509_NAME_cmp(
	    X509_get_subject_name(certificate),
	    X509_get_issuer_name(certificate)) == 0;
	tls_fingerprint(certificate, about->fingerprint);
	add_common_name(&about->subject, X509_get_subject_name(certificate));
	add_common_name(&about->issuer, X509_get_issuer_name(certificate));
	add_names(&about->names, certificate);
	if (about->names.len == 0)
		str_add_slice(&about->names, str_slice(&about->subject));
	X509_free(certificate);
	ERR_clear_error();
	return 0;
}

void
tls_about_release(struct tls_about *about)
{
	if (about->names.buf == NULL)
		return;
	str_release(&about->subject);
	str_release(&about->issuer);
	str_release(&about->names);
}

bool
tls_about_has(const struct tls_about *about, const char *host)
{
	struct slice rest = str_slice(&about->names), name;
	struct slice wanted = slice_of(host);

	while (slice_word(&rest, &name)) {
		size_t dot = slice_find(wanted, '.');

		if (slice_equal_nocase(name, wanted))
			return true;
		if (slice_starts(name, "*.") && dot > 0 && dot < wanted.n &&
		    slice_equal_nocase(slice_from(name, 1),
		    slice_from(wanted, dot)))
			return true;
	}
	return false;
}

struct slice
tls_about_lacks(const struct tls_about *about, const char *names)
{
	struct slice rest = slice_of(names), word;
	struct str one = STR_INIT;
	bool is_lacking = false;

	while (!is_lacking && slice_word(&rest, &word)) {
		str_reset(&one);
		str_adds(&one, word.p[0] == '*' ? "any" : "");
		str_add_slice(&one, slice_from(word, word.p[0] == '*'));
		is_lacking = word.p[0] != '.' &&
		    !tls_about_has(about, one.buf);
	}
	str_release(&one);
	return is_lacking ? word : SLICE("");
}

enum tls_term
tls_term(int64_t begins_s, int64_t expires_s, int64_t now_s)
{
	if (begins_s > now_s)
		return TLS_TERM_EARLY;
	if (expires_s < now_s)
		return TLS_TERM_OVER;
	return expires_s - now_s < (int64_t)TLS_WARN_DAYS * TLS_DAY_S ?
	    TLS_TERM_SOON : TLS_TERM_GOOD;
}

/* password.c - whether a password is that of an entry
 *
 * In     an entry of a table of users, a password
 * Out    yes, no, trouble
 * Trusts nothing of an entry: what it wants of memory and time is bounded
 * Spec   password.h; crypt(5); RFC 5802
 *
 * SPDX-License-Identifier: ISC
 */
#include <crypt.h>
#include <openssl/evp.h>
#include <string.h>

#ifdef HAVE_SODIUM
#include <sodium.h>
#endif

#include "base/ascii.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "tls/login/password.h"
#include "tls/scram.h"

#include "base/banned.h"

static enum password_result
crypt_check(const char *entry, const char *password, struct err *err)
{
	struct crypt_data *data = mem_alloc(1, sizeof(*data));
	const char *made = crypt_r(password, entry, data);
	enum password_result result = PASSWORD_WRONG;

	if (made == NULL || made[0] == '*') {
		err_set(err, "crypt(3) does not know this kind of entry");
		result = PASSWORD_TROUBLE;
	} else if (secret_equal(slice_of(made), slice_of(entry))) {
		result = PASSWORD_FITS;
	}
	explicit_bzero(data, sizeof(*data));
	mem_free(&data);
	return result;
}

/* ---- argon2 ----------------------------------------------------------- */

enum { ARGON2_KBYTES_MAX = 262144, ARGON2_ROUNDS_MAX = 32,
	SALTED_LETTERS_MAX = 512 };

#ifdef HAVE_SODIUM
/* "NAME=NUMBER" of "$argon2id$v=19$m=65536,t=2,p=1$SALT$HASH" is at most
 * this. */
static bool
argon2_is_bounded(const char *entry, const char *name, uint64_t max)
{
	const char *at = strstr(entry, name);
	struct slice number;
	uint64_t value;

	if (at == NULL)
		return false;
	number = slice_of(at + strlen(name));
	return slice_number(slice_first(number, strspn(number.p,
	    "0123456789")), 1, max, &value);
}

/* What the entry wants of memory and time is bounded before it is made. */
static enum password_result
argon2_check(const char *entry, struct slice password, struct err *err)
{
	if (!argon2_is_bounded(entry, "$m=", ARGON2_KBYTES_MAX) ||
	    !argon2_is_bounded(entry, ",t=", ARGON2_ROUNDS_MAX)) {
		err_set(err, "the argon2 entry wants more than %d MB or %d "
		    "rounds", ARGON2_KBYTES_MAX >> 10, ARGON2_ROUNDS_MAX);
		return PASSWORD_TROUBLE;
	}
	if (sodium_init() < 0) {
		err_set(err, "libsodium does not start");
		return PASSWORD_TROUBLE;
	}
	return crypto_pwhash_str_verify(entry, password.p, password.n) == 0 ?
	    PASSWORD_FITS : PASSWORD_WRONG;
}
#else
static enum password_result
argon2_check(const char *entry, struct slice password, struct err *err)
{
	err_set(err, "argon2 was left out of this build (libsodium-dev)");
	return PASSWORD_TROUBLE;
}
#endif

/* ---- salted digests --------------------------------------------------- */

static const struct salted_scheme {
	const char	*name;
	const EVP_MD	*(*digest)(void);
} salted_schemes[] = {
	{ "{SSHA}", EVP_sha1 }, { "{SSHA256}", EVP_sha256 },
	{ "{SSHA512}", EVP_sha512 },
};

static const struct salted_scheme *
salted_scheme_of(struct slice entry)
{
	for (size_t i = 0; i < sizeof(salted_schemes) /
	    sizeof(salted_schemes[0]); i++) {
		struct slice name = slice_of(salted_schemes[i].name);

		if (slice_equal_nocase(slice_first(entry, name.n), name))
			return &salted_schemes[i];
	}
	return NULL;
}

/* base64 of the digest of password and salt, with the salt after it: RFC 2307's
 * {SSHA}, and what iRedMail and others write. */
static enum password_result
salted_check(const struct salted_scheme *scheme, struct slice letters,
    struct slice password, struct err *err)
{
	struct str bytes = STR_INIT, text = STR_INIT;
	enum password_result result = PASSWORD_TROUBLE;
	unsigned char made[EVP_MAX_MD_SIZE];
	size_t n = (size_t)EVP_MD_size(scheme->digest());

	if (letters.n > SALTED_LETTERS_MAX || base64_decode(letters, &bytes,
	    NULL) != 0 || bytes.len <= n) {
		err_set(err, "an entry %s has the digest and the salt in "
		    "base64", scheme->name);
		str_release(&bytes);
		return PASSWORD_TROUBLE;
	}
	(void)str_room(&text, password.n + bytes.len);
	str_add_slice(&text, password);
	str_add(&text, bytes.buf + n, bytes.len - n);
	if (EVP_Digest(text.buf, text.len, made, NULL, scheme->digest(),
	    NULL) == 1)
		result = secret_equal((struct slice){ (char *)made, n },
		    (struct slice){ bytes.buf, n }) ? PASSWORD_FITS :
		    PASSWORD_WRONG;
	else
		err_set(err, "OpenSSL has no digest for %s", scheme->name);
	explicit_bzero(text.buf, text.len);
	str_release(&text);
	str_release(&bytes);
	return result;
}

/* The word in braces in front, as Dovecot writes it, of those that crypt(3)
 * and argon2 know by what follows. */
static struct slice
entry_without_scheme(struct slice entry)
{
	static const char *const schemes[] = { "{CRYPT}", "{BLF-CRYPT}",
	    "{MD5-CRYPT}", "{SHA256-CRYPT}", "{SHA512-CRYPT}", "{ARGON2ID}",
	    "{ARGON2I}" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		struct slice scheme = slice_of(schemes[i]);

		if (slice_equal_nocase(slice_first(entry, scheme.n), scheme))
			return slice_from(entry, scheme.n);
	}
	return entry;
}

enum password_result
password_check_entry(struct slice entry, struct slice password, struct err *err)
{
	struct str setting = STR_INIT, text = STR_INIT;
	enum password_result result;
	struct scram_keys keys;
	int kind = scram_keys_parse(entry, &keys, err);

	if (kind != 0)
		return kind < 0 ? PASSWORD_TROUBLE :
		    scram_password_fits(&keys, password) ? PASSWORD_FITS :
		    PASSWORD_WRONG;
	if (salted_scheme_of(entry) != NULL)
		return salted_check(salted_scheme_of(entry), slice_from(entry,
		    slice_find(entry, '}') + 1), password, err);
	str_add_slice(&setting, entry_without_scheme(entry));
	str_add_slice(&text, password);
	result = slice_starts(str_slice(&setting), "$argon2") ?
	    argon2_check(setting.buf, password, err) :
	    crypt_check(setting.buf, text.buf, err);
	explicit_bzero(text.buf, text.len);
	str_release(&text);
	str_release(&setting);
	return result;
}

/* tls_provider.c - keys for OpenSSL whose private half is elsewhere
 *
 * In     a certificate, a number, a function that signs
 * Out    an EVP_PKEY that a TLS server can use
 * Holds  a library context with this provider in it, once a process
 * Trusts the function's signature as far as the client will check it
 * Spec   provider-keymgmt(7), provider-signature(7)
 *
 * Everything about the public half is asked of an ordinary key that is kept
 * inside; only signing is our own.  A key is never exported with its
 * private half, so OpenSSL finds no other provider that could sign.
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tls/tls.h"
#include "tls/sign.h"

#include "base/banned.h"

#define PARAM_REMOTE "zmailer-remote"
#define OPERATION "ZMAILER-REMOTE-SIGN"
#define DISPATCH(id, function) { id, (void (*)(void))(function) }

struct remote {
	EVP_PKEY		*public;
	struct tls_remote	 private;
};

/* ---- keys ------------------------------------------------------------- */

static void *
key_new(void *provider)
{
	return mem_alloc(1, sizeof(struct remote));
}

static void
key_free(void *data)
{
	struct remote *remote = data;

	if (remote == NULL)
		return;
	EVP_PKEY_free(remote->public);
	mem_free(&remote);
}

static int
key_has(const void *data, int selection)
{
	return 1;
}

static int
key_match(const void *a, const void *b, int selection)
{
	const struct remote *one = a, *other = b;

	return EVP_PKEY_eq(one->public, other->public) == 1;
}

static const OSSL_PARAM *
key_import_types(int selection)
{
	static const OSSL_PARAM types[] = {
		OSSL_PARAM_octet_string(PARAM_REMOTE, NULL, 0), OSSL_PARAM_END
	};

	return types;
}

/* Only tls_remote_key has this parameter. */
static int
key_import(void *data, int selection, const OSSL_PARAM params[])
{
	const OSSL_PARAM *param = OSSL_PARAM_locate_const(params,
	    PARAM_REMOTE);
	struct remote *remote = data;

	if (param == NULL || param->data_size != sizeof(*remote))
		return 0;
	memcpy(remote, param->data, sizeof(*remote));
	return EVP_PKEY_up_ref(remote->public);
}

static const OSSL_PARAM *
key_export_types(int selection)
{
	static const OSSL_PARAM none[] = { OSSL_PARAM_END };

	return none;
}

static int
key_export(void *data, int selection, OSSL_CALLBACK *fn, void *argument)
{
	const struct remote *remote = data;

	if (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY)
		return 0;
	return EVP_PKEY_export(remote->public, selection, fn, argument);
}

static const OSSL_PARAM *
key_gettable(void *provider)
{
	static const OSSL_PARAM types[] = {
		OSSL_PARAM_int(OSSL_PKEY_PARAM_BITS, NULL),
		OSSL_PARAM_int(OSSL_PKEY_PARAM_SECURITY_BITS, NULL),
		OSSL_PARAM_int(OSSL_PKEY_PARAM_MAX_SIZE, NULL),
		OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, NULL, 0),
		OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_DEFAULT_DIGEST, NULL,
		    0),
		OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_MANDATORY_DIGEST, NULL,
		    0),
		OSSL_PARAM_END
	};

	return types;
}

static int
key_get_params(void *data, OSSL_PARAM params[])
{
	const struct remote *remote = data;

	return EVP_PKEY_get_params(remote->public, params);
}

/* A name that no other provider has. */
static const char *
key_operation(int operation)
{
	return OPERATION;
}

static const OSSL_DISPATCH key_functions[] = {
	DISPATCH(OSSL_FUNC_KEYMGMT_NEW, key_new),
	DISPATCH(OSSL_FUNC_KEYMGMT_FREE, key_free),
	DISPATCH(OSSL_FUNC_KEYMGMT_HAS, key_has),
	DISPATCH(OSSL_FUNC_KEYMGMT_MATCH, key_match),
	DISPATCH(OSSL_FUNC_KEYMGMT_IMPORT, key_import),
	DISPATCH(OSSL_FUNC_KEYMGMT_IMPORT_TYPES, key_import_types),
	DISPATCH(OSSL_FUNC_KEYMGMT_EXPORT, key_export),
	DISPATCH(OSSL_FUNC_KEYMGMT_EXPORT_TYPES, key_export_types),
	DISPATCH(OSSL_FUNC_KEYMGMT_GET_PARAMS, key_get_params),
	DISPATCH(OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, key_gettable),
	DISPATCH(OSSL_FUNC_KEYMGMT_QUERY_OPERATION_NAME, key_operation),
	{ 0, NULL }
};

/* ---- signatures ------------------------------------------------------- */

struct signing {
	const struct remote	*remote;
	struct tls_signing	 what;
};

static void *
signing_new(void *provider, const char *properties)
{
	return mem_alloc(1, sizeof(struct signing));
}

static void
signing_free(void *data)
{
	struct signing *signing = data;

	mem_free(&signing);
}

/* Numbers and names are both in use.  What TLS never asks for is refused. */
static int
set_padding(struct signing *signing, const OSSL_PARAM *param)
{
	int number = 0;

	if (param->data_type == OSSL_PARAM_UTF8_STRING) {
		signing->what.is_pss = strcmp(param->data,
		    OSSL_PKEY_RSA_PAD_MODE_PSS) == 0;
		return signing->what.is_pss || strcmp(param->data,
		    OSSL_PKEY_RSA_PAD_MODE_PKCSV15) == 0;
	}
	if (!OSSL_PARAM_get_int(param, &number))
		return 0;
	signing->what.is_pss = number == RSA_PKCS1_PSS_PADDING;
	return signing->what.is_pss || number == RSA_PKCS1_PADDING;
}

static bool
is_digest_long(const OSSL_PARAM *param)
{
	int number = 0;

	if (param->data_type == OSSL_PARAM_UTF8_STRING)
		return strcmp(param->data,
		    OSSL_PKEY_RSA_PSS_SALT_LEN_DIGEST) == 0;
	return OSSL_PARAM_get_int(param, &number) &&
	    number == RSA_PSS_SALTLEN_DIGEST;
}

static int
signing_set_params(void *data, const OSSL_PARAM params[])
{
	struct signing *signing = data;
	const OSSL_PARAM *param;

	if (params == NULL)
		return 1;
	param = OSSL_PARAM_locate_const(params, OSSL_SIGNATURE_PARAM_PAD_MODE);
	if (param != NULL && !set_padding(signing, param))
		return 0;
	param = OSSL_PARAM_locate_const(params,
	    OSSL_SIGNATURE_PARAM_PSS_SALTLEN);
	return param == NULL || is_digest_long(param);
}

static const OSSL_PARAM *
signing_settable(void *data, void *provider)
{
	static const OSSL_PARAM types[] = {
		OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_PAD_MODE, NULL,
		    0),
		OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_PSS_SALTLEN, NULL,
		    0),
		OSSL_PARAM_END
	};

	return types;
}

/* Digests are named as the default provider names them. */
static int
signing_begin(void *data, const char *digest, void *key,
    const OSSL_PARAM params[])
{
	struct signing *signing = data;
	EVP_MD *md;

	signing->remote = key;
	signing->what.key = signing->remote->private.number;
	signing->what.digest[0] = '\0';
	if (digest != NULL && *digest != '\0') {
		md = EVP_MD_fetch(NULL, digest, NULL);
		if (md == NULL)
			return 0;
		snprintf(signing->what.digest, sizeof(signing->what.digest),
		    "%s", EVP_MD_get0_name(md));
		EVP_MD_free(md);
	}
	return signing_set_params(data, params);
}

static int
signing_do(void *data, unsigned char *out, size_t *out_n, size_t room,
    const unsigned char *bytes, size_t n)
{
	struct signing *signing = data;
	const struct remote *remote = signing->remote;
	struct str signature = STR_INIT;
	int result = 0;

	if (out == NULL) {
		*out_n = (size_t)EVP_PKEY_get_size(remote->public);
		return 1;
	}
	signing->what.bytes = (struct slice){ (const char *)bytes, n };
	if (remote->private.fn(remote->private.context, &signing->what,
	    &signature) == 0 && signature.len <= room) {
		memcpy(out, signature.buf, signature.len);
		*out_n = signature.len;
		result = 1;
	}
	str_release(&signature);
	return result;
}

static const OSSL_DISPATCH signing_functions[] = {
	DISPATCH(OSSL_FUNC_SIGNATURE_NEWCTX, signing_new),
	DISPATCH(OSSL_FUNC_SIGNATURE_FREECTX, signing_free),
	DISPATCH(OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, signing_begin),
	DISPATCH(OSSL_FUNC_SIGNATURE_DIGEST_SIGN, signing_do),
	DISPATCH(OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, signing_set_params),
	DISPATCH(OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS, signing_settable),
	{ 0, NULL }
};

/* ---- the provider ----------------------------------------------------- */

static const OSSL_ALGORITHM *
provider_query(void *provider, int operation, int *out_no_cache)
{
	static const OSSL_ALGORITHM keys[] = {
		{ "RSA:rsaEncryption:1.2.840.113549.1.1.1", "", key_functions,
		    NULL },
		{ "EC:id-ecPublicKey:1.2.840.10045.2.1", "", key_functions,
		    NULL },
		{ "ED25519:1.3.101.112", "", key_functions, NULL },
		{ NULL, NULL, NULL, NULL }
	};
	static const OSSL_ALGORITHM signatures[] = {
		{ OPERATION, "", signing_functions, NULL },
		{ NULL, NULL, NULL, NULL }
	};

	*out_no_cache = 0;
	return operation == OSSL_OP_KEYMGMT ? keys :
	    operation == OSSL_OP_SIGNATURE ? signatures : NULL;
}

static int
provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
    const OSSL_DISPATCH **out, void **out_context)
{
	static const OSSL_DISPATCH functions[] = {
		DISPATCH(OSSL_FUNC_PROVIDER_QUERY_OPERATION, provider_query),
		{ 0, NULL }
	};

	*out = functions;
	*out_context = (void *)(uintptr_t)handle;
	return 1;
}

static OSSL_LIB_CTX *
provider_library(void)
{
	static OSSL_LIB_CTX *context;

	if (context != NULL)
		return context;
	context = OSSL_LIB_CTX_new();
	if (context != NULL &&
	    (OSSL_PROVIDER_add_builtin(context, "zmailer", provider_init) !=
	    1 || OSSL_PROVIDER_load(context, "zmailer") == NULL)) {
		OSSL_LIB_CTX_free(context);
		context = NULL;
	}
	return context;
}

struct evp_pkey_st *
tls_remote_key(struct x509_st *certificate, const struct tls_remote *private,
    struct err *err)
{
	struct remote remote = { X509_get0_pubkey(certificate), *private };
	OSSL_PARAM params[] = {
		OSSL_PARAM_octet_string(PARAM_REMOTE, &remote,
		    sizeof(remote)),
		OSSL_PARAM_END
	};
	OSSL_LIB_CTX *lib = provider_library();
	EVP_PKEY_CTX *maker = NULL;
	EVP_PKEY *key = NULL;

	if (lib != NULL && remote.public != NULL)
		maker = EVP_PKEY_CTX_new_from_name(lib,
		    EVP_PKEY_get0_type_name(remote.public), NULL);
	if (maker == NULL || EVP_PKEY_fromdata_init(maker) != 1 ||
	    EVP_PKEY_fromdata(maker, &key, EVP_PKEY_KEYPAIR, params) != 1) {
		tls_err(err, "cannot use the certificate's key");
		key = NULL;
	}
	EVP_PKEY_CTX_free(maker);
	return key;
}

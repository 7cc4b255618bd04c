/* dkim_sign.c - sign message files as the router does
 *
 * usage: dkim_sign DOMAIN RSA.PEM ED25519.PEM FILE...
 *
 * Out    FILE.signed: a signature of each key (selectors rsa and ed25519), the
 *        message
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "origin/dkim/sign.h"
#include "tls/digest.h"
#include "tls/dkim.h"

static struct evp_pkey_st *keys[2];
static const char *const selectors[2] = { "rsa", "ed25519" };

/* the first byte behind the header, whose last line end is the header's */
static size_t
header_end(struct slice text)
{
	const char *end = memmem(text.p, text.n, "\r\n\r\n", 4);

	return end == NULL ? text.n : (size_t)(end - text.p) + 2;
}

static int
text_sign(struct slice text, const char *domain, struct str *out)
{
	size_t n = header_end(text);
	struct slice header = { text.p, n }, body = { text.p + n, text.n - n };
	unsigned char body_sum[DIGEST_SHA256_BYTES], sum[DIGEST_SHA256_BYTES];
	struct arena *arena = arena_new();
	struct str bytes = STR_INIT;
	struct err err;
	int result;

	if (body.n >= 2) {
		body.p += 2;
		body.n -= 2;
	}
	result = dkim_sign_body(body, body_sum);
	for (size_t i = 0; result == 0 && i < 2; i++) {
		struct dkim_sign sign = { .domain = slice_of(domain),
			.selector = slice_of(selectors[i]),
			.kind = dkim_private_kind(keys[i]),
			.time_s = 1700000000, .body_sum = body_sum };

		str_reset(&bytes);
		result = dkim_sign_begin(&sign, header, arena, out, sum);
		if (result == 0)
			result = dkim_private_sign(keys[i], sum, &bytes, &err);
		if (result == 0)
			dkim_sign_end(out, str_slice(&bytes));
	}
	str_release(&bytes);
	arena_free(&arena);
	return result;
}

static int
file_sign(const char *path, const char *domain)
{
	static char bytes[4 << 20];
	struct slice text = { bytes, 0 };
	struct str out = STR_INIT, name = STR_INIT;
	FILE *file = fopen(path, "r");
	int result = -1;

	if (file != NULL) {
		text.n = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		result = text_sign(text, domain, &out);
	}
	str_add_slice(&out, text);
	str_adds(&name, path);
	str_adds(&name, ".signed");
	file = result == 0 ? fopen(name.buf, "w") : NULL;
	if (file == NULL || fwrite(out.buf, 1, out.len, file) != out.len)
		result = -1;
	if (file != NULL && fclose(file) != 0)
		result = -1;
	str_release(&out);
	str_release(&name);
	return result;
}

int
main(int argc, char **argv)
{
	struct err err;

	if (argc < 5) {
		fprintf(stderr, "usage: dkim_sign DOMAIN RSA.PEM ED25519.PEM "
		    "FILE...\n");
		return 64;
	}
	for (int i = 0; i < 2; i++)
		if ((keys[i] = dkim_private_load(argv[2 + i], &err)) == NULL) {
			fprintf(stderr, "dkim_sign: %s\n", err.text);
			return 65;
		}
	for (int i = 4; i < argc; i++)
		if (file_sign(argv[i], argv[1]) != 0) {
			fprintf(stderr, "dkim_sign: %s\n", argv[i]);
			return 65;
		}
	for (int i = 0; i < 2; i++)
		dkim_private_free(&keys[i]);
	return 0;
}

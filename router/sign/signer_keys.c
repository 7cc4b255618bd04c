/* signer_keys.c - the keys of all sign statements, and the answers by them
 *
 * In     a configuration; lines of workers
 * Out    kinds of keys, signatures, refusals with their reason
 * Holds  the keys of rows; those of tables in a cache
 * Trusts no line: words, lengths and names are looked at
 * Spec   signer.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/sign/signer_keys.h"


#include "grammar/base64.h"
#include "journal/event.h"
#include "router/sign/key_cache.h"
#include "router/sign/signer.h"
#include "tls/digest.h"
#include "tls/dkim.h"

#include "base/banned.h"

struct sign_key {		/* of sign DOMAIN selector S key FILE */
	char		*domain, *selector, *file;
	struct evp_pkey_st *key;	/* NULL: it was never any good */
	bool		 is_said;	/* that it cannot be used */
};

struct sign_dir {		/* of sign <table> keys DIR */
	char	*table, *dir;
};

struct signer_keys {
	struct sign_key	*rows;
	struct sign_dir	*dirs;
	size_t		 row_count, dir_count;
	bool		 tells;
	struct key_cache *cache;
};

/* ---- rows --------------------------------------------------------------- */

static struct sign_key *
sign_key_find(struct sign_key *rows, size_t count, struct slice domain,
    struct slice selector)
{
	for (size_t i = 0; i < count; i++)
		if (slice_is(domain, rows[i].domain) &&
		    slice_is(selector, rows[i].selector))
			return &rows[i];
	return NULL;
}

static void
sign_key_load(struct sign_key *key, bool tells, struct err *err)
{
	struct evp_pkey_st *fresh = dkim_private_load(key->file, err);

	if (fresh == NULL && key->is_said)
		return;
	if (fresh == NULL) {
		key->is_said = true;
		if (tells)
			event(EV_SIGN_REFUSED, NULL, "file",
			    slice_of(key->file), "reason",
			    slice_of(err->text), NULL);
		return;
	}
	dkim_private_free(&key->key);
	key->key = fresh;
}

static void
sign_rows_free(struct sign_key *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		mem_free(&rows[i].domain);
		mem_free(&rows[i].selector);
		mem_free(&rows[i].file);
		dkim_private_free(&rows[i].key);
	}
	mem_free(&rows);
}

/* A key that cannot be read leaves the one before, of the same selector. */
static void
signer_keys_take_rows(struct signer_keys *keys, const struct conf *conf)
{
	struct sign_key *rows = mem_alloc(conf->sign_count + 1,
	    sizeof(*rows)), *before;
	struct err err;

	for (size_t i = 0; i < conf->sign_count; i++) {
		const struct conf_sign *one = &conf->signs[i];

		rows[i].domain = mem_strdup(one->domain);
		rows[i].selector = mem_strdup(one->selector);
		rows[i].file = mem_strdup(one->key);
		before = sign_key_find(keys->rows, keys->row_count,
		    slice_of(one->domain), slice_of(one->selector));
		if (before != NULL) {
			rows[i].key = before->key;
			before->key = NULL;
		}
		sign_key_load(&rows[i], keys->tells, &err);
	}
	sign_rows_free(keys->rows, keys->row_count);
	keys->rows = rows;
	keys->row_count = conf->sign_count;
}

/* ---- directories of tables ---------------------------------------------- */

static void
signer_keys_drop_dirs(struct signer_keys *keys)
{
	for (size_t i = 0; i < keys->dir_count; i++) {
		mem_free(&keys->dirs[i].table);
		mem_free(&keys->dirs[i].dir);
	}
	mem_free(&keys->dirs);
	keys->dir_count = 0;
}

/* Keys stay in the cache by their files, which are looked at again. */
static void
signer_keys_take_dirs(struct signer_keys *keys, const struct conf *conf)
{
	signer_keys_drop_dirs(keys);
	keys->dirs = mem_alloc(conf->sign_table_count + 1,
	    sizeof(*keys->dirs));
	for (size_t i = 0; i < conf->sign_table_count; i++) {
		keys->dirs[i].table = mem_strdup(conf->sign_tables[i].table);
		keys->dirs[i].dir = mem_strdup(conf->sign_tables[i].dir);
	}
	keys->dir_count = conf->sign_table_count;
	key_cache_age(keys->cache);
}

static const char *
signer_keys_dir(const struct signer_keys *keys, struct slice table)
{
	for (size_t i = 0; i < keys->dir_count; i++)
		if (slice_is(table, keys->dirs[i].table))
			return keys->dirs[i].dir;
	return NULL;
}

/* ---- all of them -------------------------------------------------------- */

struct signer_keys *
signer_keys_new(bool tells)
{
	struct signer_keys *keys = mem_alloc(1, sizeof(*keys));

	keys->tells = tells;
	keys->cache = key_cache_new(KEY_CACHE_MAX);
	return keys;
}

void
signer_keys_free(struct signer_keys **keys)
{
	if (*keys == NULL)
		return;
	sign_rows_free((*keys)->rows, (*keys)->row_count);
	signer_keys_drop_dirs(*keys);
	key_cache_free(&(*keys)->cache);
	mem_free(keys);
}

void
signer_keys_configure(struct signer_keys *keys, const struct conf *conf)
{
	signer_keys_take_rows(keys, conf);
	signer_keys_take_dirs(keys, conf);
}

/* ---- what workers ask --------------------------------------------------- */

struct sign_question {
	bool		is_sign;
	struct slice	domain, selector, sum, table;	/* table n 0: a row */
};

static bool
sign_question_read(struct slice line, struct sign_question *out)
{
	struct slice verb, more;

	*out = (struct sign_question){ .is_sign = false };
	if (!slice_word(&line, &verb) || !slice_word(&line, &out->domain) ||
	    !slice_word(&line, &out->selector))
		return false;
	out->is_sign = slice_is(verb, "sign");
	if (out->is_sign ? !slice_word(&line, &out->sum) :
	    !slice_is(verb, "key"))
		return false;
	return !slice_word(&line, &out->table) || !slice_word(&line, &more);
}

/* NULL: *err says why. */
static struct evp_pkey_st *
signer_keys_find(struct signer_keys *keys,
    const struct sign_question *question, int64_t now_ms, struct err *err)
{
	struct sign_key *row;
	const char *dir;

	if (question->table.n > 0) {
		dir = signer_keys_dir(keys, question->table);
		if (dir != NULL)
			return key_cache_find(keys->cache, dir,
			    question->domain, question->selector, now_ms, err);
		err_set(err, "no sign statement is about this table");
		return NULL;
	}
	row = sign_key_find(keys->rows, keys->row_count, question->domain,
	    question->selector);
	if (row == NULL)
		err_set(err, "no sign statement is about this selector");
	else if (row->key == NULL)
		sign_key_load(row, keys->tells, err);
	return row != NULL ? row->key : NULL;
}

static const char *
sign_key_kind(const struct evp_pkey_st *key)
{
	return dkim_private_kind(key) == VERIFY_RSA_SHA256 ?
	    SIGNER_RSA : SIGNER_ED25519;
}

/* 0; -1: this is no sum, or OpenSSL refuses. */
static int
sign_key_sign(struct evp_pkey_st *key, struct slice letters,
    struct str *out, struct err *err)
{
	struct str sum = STR_INIT, signature = STR_INIT;
	int result = -1;

	if (letters.n > 2 * DIGEST_SHA256_BYTES ||
	    base64_decode(letters, &sum, NULL) != 0 ||
	    sum.len != DIGEST_SHA256_BYTES)
		err_set(err, "this is no sum");
	else if (dkim_private_sign(key, (const unsigned char *)sum.buf,
	    &signature, err) == 0) {
		str_addf(out, "signed %s ", sign_key_kind(key));
		base64_add(out, str_slice(&signature));
		str_addc(out, '\n');
		result = 0;
	}
	str_release(&sum);
	str_release(&signature);
	return result;
}

bool
signer_keys_answer(struct signer_keys *keys, struct slice line,
    int64_t now_ms, struct str *out)
{
	struct sign_question question;
	struct evp_pkey_st *key;
	struct err err = { "" };

	if (!sign_question_read(line, &question))
		return false;
	key = signer_keys_find(keys, &question, now_ms, &err);
	if (key != NULL && !question.is_sign)
		str_addf(out, "kind %s\n", sign_key_kind(key));
	else if (key == NULL || sign_key_sign(key, question.sum, out,
	    &err) != 0)
		str_addf(out, "refused %s\n", err.text);
	return true;
}

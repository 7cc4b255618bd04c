/* test_key_cache.c - the keys of tables, and the answers of the signer
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "helper.h"
#include "router/sign/key_cache.h"
#include "router/sign/signer.h"
#include "router/sign/signer_keys.h"
#include "tls/dkim.h"

struct keys {			/* a directory of keys */
	char		 dir[64];
	struct key_cache *cache;
};

static void
keys_open(struct keys *keys, size_t max)
{
	snprintf(keys->dir, sizeof(keys->dir), "/tmp/zm-keys.XXXXXX");
	cr_assert(mkdtemp(keys->dir) != NULL);
	keys->cache = key_cache_new(max);
}

static void
keys_close(struct keys *keys)
{
	char command[128];

	key_cache_free(&keys->cache);
	snprintf(command, sizeof(command), "rm -rf %s", keys->dir);
	cr_assert_eq(system(command), 0);
}

static void
keys_path(const struct keys *keys, const char *domain, char out[256])
{
	snprintf(out, 256, "%s/s._domainkey.%s.private", keys->dir, domain);
}

static void
file_put(const char *path, const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

/* A new key as the file of a domain, by a rename as an editor does it. */
static void
keys_make(const struct keys *keys, const char *domain)
{
	char path[256], fresh[300];
	struct str pem = STR_INIT;
	struct err err;

	keys_path(keys, domain, path);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	cr_assert_eq(dkim_key_make(VERIFY_ED25519_SHA256, 0, &pem, &err), 0);
	file_put(fresh, pem.buf, pem.len);
	cr_assert_eq(rename(fresh, path), 0);
	str_release(&pem);
}

/* What the key makes of one sum says which it is; false: there is none. */
static bool
keys_mark(struct keys *keys, const char *domain, int64_t now_ms,
    struct str *out)
{
	static const unsigned char sum[32] = { 1 };
	struct err err = { "" };
	struct evp_pkey_st *key = key_cache_find(keys->cache, keys->dir,
	    slice_of(domain), SLICE("s"), now_ms, &err);

	str_reset(out);
	if (key == NULL) {
		cr_expect(err.text[0] != '\0');
		return false;
	}
	cr_expect_eq(dkim_private_sign(key, sum, out, &err), 0);
	return true;
}

static bool
mark_is(const struct str *a, const struct str *b)
{
	return slice_equal(str_slice(a), str_slice(b));
}

Test(key_cache, holds_so_many_and_the_oldest_use_goes)
{
	struct str a = STR_INIT, b = STR_INIT, again = STR_INIT;
	struct keys keys;
	char path[256];

	keys_open(&keys, 2);
	keys_make(&keys, "a.test");
	keys_make(&keys, "b.test");
	keys_make(&keys, "c.test");
	cr_expect(keys_mark(&keys, "a.test", 1, &a));
	cr_expect(keys_mark(&keys, "b.test", 1, &b));
	cr_expect(keys_mark(&keys, "a.test", 1, &again));
	cr_expect(mark_is(&a, &again));
	cr_expect(keys_mark(&keys, "c.test", 1, &again));
	cr_expect_eq(key_cache_count(keys.cache), 2);
	/* b was used before a: it is read again, a is not */
	keys_path(&keys, "a.test", path);
	cr_assert_eq(unlink(path), 0);
	keys_path(&keys, "b.test", path);
	cr_assert_eq(unlink(path), 0);
	cr_expect(keys_mark(&keys, "a.test", 1, &again));
	cr_expect(mark_is(&a, &again));
	cr_expect_not(keys_mark(&keys, "b.test", 1, &again));
	cr_expect_eq(key_cache_count(keys.cache), 2);
	keys_close(&keys);
	str_release(&a);
	str_release(&b);
	str_release(&again);
}

Test(key_cache, looks_again_after_a_while)
{
	struct str old = STR_INIT, fresh = STR_INIT;
	struct keys keys;
	char path[256];

	keys_open(&keys, 8);
	keys_make(&keys, "a.test");
	cr_expect(keys_mark(&keys, "a.test", 1000, &old));
	keys_make(&keys, "a.test");
	cr_expect(keys_mark(&keys, "a.test", 1001, &fresh));
	cr_expect(mark_is(&old, &fresh), "not yet");
	cr_expect(keys_mark(&keys, "a.test", 1000 + KEY_CACHE_LOOK_MS,
	    &fresh));
	cr_expect_not(mark_is(&old, &fresh));
	/* at a reload at once */
	cr_expect(keys_mark(&keys, "a.test", 5000, &old));
	keys_make(&keys, "a.test");
	key_cache_age(keys.cache);
	cr_expect(keys_mark(&keys, "a.test", 5001, &fresh));
	cr_expect_not(mark_is(&old, &fresh));
	/* broken, then gone: the one before stays */
	keys_path(&keys, "a.test", path);
	file_put(path, "no key", 6);
	cr_expect(keys_mark(&keys, "a.test", 20000, &old));
	cr_expect(mark_is(&old, &fresh));
	cr_assert_eq(unlink(path), 0);
	cr_expect(keys_mark(&keys, "a.test", 30000, &old));
	cr_expect(mark_is(&old, &fresh));
	keys_close(&keys);
	str_release(&old);
	str_release(&fresh);
}

Test(key_cache, what_is_not_there_is_looked_for_each_time)
{
	struct str mark = STR_INIT;
	struct keys keys;

	keys_open(&keys, 8);
	cr_expect_not(keys_mark(&keys, "a.test", 1, &mark));
	keys_make(&keys, "a.test");
	cr_expect(keys_mark(&keys, "a.test", 1, &mark));
	keys_close(&keys);
	str_release(&mark);
}

Test(key_cache, opens_no_link_and_no_name_that_leads_away)
{
	static const char *const bad[] = { "", ".", "..", "../a.test",
		"a/b", ".a.test", "a..test", "a.test.", "a b", "a\ntest" };
	struct str mark = STR_INIT;
	char path[256], target[256];
	struct keys keys;
	char *label;

	keys_open(&keys, 8);
	keys_make(&keys, "a.test");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(keys_mark(&keys, bad[i], 1, &mark), "%s",
		    bad[i]);
	label = mem_alloc(302, 1);
	memset(label, 'a', 300);
	cr_expect_not(keys_mark(&keys, label, 1, &mark));
	label[250] = '\0';	/* a name, but no file can have it */
	cr_expect_not(keys_mark(&keys, label, 1, &mark));
	mem_free(&label);
	keys_path(&keys, "a.test", target);
	keys_path(&keys, "link.test", path);
	cr_assert_eq(symlink(target, path), 0);
	cr_expect_not(keys_mark(&keys, "link.test", 1, &mark));
	keys_path(&keys, "dir.test", path);
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_not(keys_mark(&keys, "dir.test", 1, &mark));
	keys_path(&keys, "pipe.test", path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_not(keys_mark(&keys, "pipe.test", 1, &mark));
	keys_close(&keys);
	str_release(&mark);
}

Test(signer_keys, answers_lines)
{
	static const struct { const char *line, *answer; } rows[] = {
		{ "key a.test s t", "kind ed25519\n" },
		{ "key a.test s", "refused no sign statement is about this "
		    "selector\n" },
		{ "key a.test s u", "refused no sign statement is about this "
		    "table\n" },
		{ "key ../a.test s t", "refused this is no domain, or no "
		    "selector\n" },
		{ "key a.test a/b t", "refused this is no domain, or no "
		    "selector\n" },
		{ "sign a.test s AAAA t", "refused this is no sum\n" },
		{ "sign a.test s", NULL }, { "key a.test", NULL },
		{ "", NULL }, { "open a.test s t", NULL },
		{ "key a.test s t more", NULL },
	};
	struct signer_keys *signer = signer_keys_new(true);
	struct str text = STR_INIT, out = STR_INIT;
	struct fixture fixture;
	struct keys keys;

	keys_open(&keys, 8);
	keys_make(&keys, "a.test");
	str_addf(&text, "table t { a.test s }\nsign <t> keys %s\n", keys.dir);
	fixture_open(&fixture, text.buf, NULL, NULL, NULL);
	signer_keys_configure(signer, fixture.conf);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		str_reset(&out);
		cr_expect_eq(signer_keys_answer(signer,
		    slice_of(rows[i].line), 1, &out), rows[i].answer != NULL,
		    "%s", rows[i].line);
		cr_expect_str_eq(out.buf, rows[i].answer != NULL ?
		    rows[i].answer : "", "%s", rows[i].line);
	}
	str_reset(&out);
	cr_expect(signer_keys_answer(signer, SLICE("sign a.test s "
	    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= t"), 1, &out));
	cr_expect(slice_starts(str_slice(&out), "signed ed25519 "));
	signer_keys_free(&signer);
	fixture_close(&fixture);
	keys_close(&keys);
	str_release(&text);
	str_release(&out);
}

Test(signer, one_a_worker_at_most_one_a_processor)
{
	unsigned online = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);

	cr_expect_eq(signer_count(0), 1);
	cr_expect_eq(signer_count(1), 1);
	cr_expect_eq(signer_count(256), online < SIGNER_MAX ? online :
	    SIGNER_MAX);
}

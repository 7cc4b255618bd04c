/* key_cache.c - the keys of `sign <table> keys DIR`, read when first asked for
 *
 * In     a directory, a domain, a selector
 * Out    a key
 * Holds  keys, bounded; what each file looked like
 * Trusts no name: it must be one that may stand in a file's name, and the file
 *        is opened beneath its directory, without a link
 * Spec   key_cache.h; zmailer.conf(5), sign
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/sign/key_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "journal/event.h"
#include "tls/dkim.h"

#include "base/banned.h"

enum {
	KEY_YOUNG_S = 2,	/* changed so lately: it may change unseen */
	KEY_BUCKETS = 256
};

struct cached_key {
	char		*dir, *name;	/* of the file */
	struct evp_pkey_st *key;	/* NULL: it was never any good */
	struct stat	 seen;		/* the file that key was read from */
	int64_t		 looked_ms;	/* 0: it shall be looked at */
	bool		 is_young;
	bool		 is_said;	/* that it cannot be used */
	LIST_ENTRY(cached_key)	 by_name;
	TAILQ_ENTRY(cached_key)	 by_use;
};

struct key_cache {
	LIST_HEAD(, cached_key)	 buckets[KEY_BUCKETS];	/* of its name */
	TAILQ_HEAD(, cached_key) uses;			/* lately used last */
	size_t			 count, max;
};

static size_t
key_bucket(const char *name)
{
	return crc32c(0, name, strlen(name)) % KEY_BUCKETS;
}

/* ---- one key ------------------------------------------------------------ */

static bool
cached_key_is_same_file(const struct cached_key *key, const struct stat *st)
{
	return key->seen.st_dev == st->st_dev &&
	    key->seen.st_ino == st->st_ino &&
	    key->seen.st_size == st->st_size &&
	    key->seen.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	    key->seen.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

static bool
cached_key_has_changed(const struct cached_key *key)
{
	struct str path = STR_INIT;
	struct stat st;
	bool has_changed;

	str_addf(&path, "%s/%s", key->dir, key->name);
	has_changed = key->is_young || lstat(path.buf, &st) != 0 ||
	    !cached_key_is_same_file(key, &st);
	str_release(&path);
	return has_changed;
}

/* What is no good leaves the key before, and is said once. */
static void
cached_key_load(struct cached_key *key, struct err *err)
{
	struct stat seen = { .st_ino = 0 };
	struct evp_pkey_st *fresh = dkim_private_load_beneath(key->dir,
	    key->name, &seen, err);
	struct str path = STR_INIT;

	if (fresh != NULL) {
		dkim_private_free(&key->key);
		key->key = fresh;
		key->seen = seen;
		key->is_young = llabs(clock_wall_s() - seen.st_mtim.tv_sec) <=
		    KEY_YOUNG_S;
		key->is_said = false;
		return;
	}
	if (key->is_said)
		return;
	key->is_said = true;
	str_addf(&path, "%s/%s", key->dir, key->name);
	event(EV_SIGN_REFUSED, NULL, "file", str_slice(&path), "reason",
	    slice_of(err->text), NULL);
	str_release(&path);
}

/* ---- all of them -------------------------------------------------------- */

static void
key_cache_drop(struct key_cache *cache, struct cached_key *key)
{
	LIST_REMOVE(key, by_name);
	TAILQ_REMOVE(&cache->uses, key, by_use);
	cache->count--;
	mem_free(&key->dir);
	mem_free(&key->name);
	dkim_private_free(&key->key);
	mem_free(&key);
}

struct key_cache *
key_cache_new(size_t max)
{
	struct key_cache *cache = mem_alloc(1, sizeof(*cache));

	TAILQ_INIT(&cache->uses);
	cache->max = max;
	return cache;
}

void
key_cache_free(struct key_cache **cache)
{
	if (*cache == NULL)
		return;
	while (!TAILQ_EMPTY(&(*cache)->uses))
		key_cache_drop(*cache, TAILQ_FIRST(&(*cache)->uses));
	mem_free(cache);
}

static struct cached_key *
key_cache_add(struct key_cache *cache, const char *dir, const char *name)
{
	struct cached_key *key = mem_alloc(1, sizeof(*key));

	while (cache->count >= cache->max)
		key_cache_drop(cache, TAILQ_FIRST(&cache->uses));
	key->dir = mem_strdup(dir);
	key->name = mem_strdup(name);
	LIST_INSERT_HEAD(&cache->buckets[key_bucket(name)], key, by_name);
	TAILQ_INSERT_TAIL(&cache->uses, key, by_use);
	cache->count++;
	return key;
}

static struct cached_key *
key_cache_known(struct key_cache *cache, const char *dir, const char *name)
{
	struct cached_key *key;

	LIST_FOREACH(key, &cache->buckets[key_bucket(name)], by_name)
		if (strcmp(key->name, name) == 0 &&
		    strcmp(key->dir, dir) == 0)
			return key;
	return NULL;
}

static struct cached_key *
key_cache_use(struct key_cache *cache, const char *dir, struct slice domain,
    struct slice selector)
{
	struct arena *arena = arena_new();
	const char *name = conf_sign_file(arena, slice_lower(arena, selector),
	    slice_lower(arena, domain));
	struct cached_key *key = key_cache_known(cache, dir, name);

	if (key == NULL) {
		key = key_cache_add(cache, dir, name);
	} else {
		TAILQ_REMOVE(&cache->uses, key, by_use);
		TAILQ_INSERT_TAIL(&cache->uses, key, by_use);
	}
	arena_free(&arena);
	return key;
}

struct evp_pkey_st *
key_cache_find(struct key_cache *cache, const char *dir, struct slice domain,
    struct slice selector, int64_t now_ms, struct err *err)
{
	struct cached_key *key;

	if (!conf_sign_name_is_good(domain) ||
	    !conf_sign_name_is_good(selector)) {
		err_set(err, "this is no domain, or no selector");
		return NULL;
	}
	key = key_cache_use(cache, dir, domain, selector);
	if (key->key == NULL || key->looked_ms == 0 ||
	    now_ms - key->looked_ms >= KEY_CACHE_LOOK_MS) {
		key->looked_ms = now_ms;
		if (key->key == NULL || cached_key_has_changed(key))
			cached_key_load(key, err);
	}
	return key->key;
}

void
key_cache_age(struct key_cache *cache)
{
	struct cached_key *key;

	TAILQ_FOREACH(key, &cache->uses, by_use)
		key->looked_ms = 0;
}

size_t
key_cache_count(const struct key_cache *cache)
{
	return cache->count;
}

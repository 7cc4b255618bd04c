/* files.c - certificates and keys as they lie on disk
 *
 * In     the files that a configuration names, itself or in a table
 * Out    keys to sign with; lines that tell workers the certificates
 * Holds  the private keys
 * Trusts root's files, but not that both of a pair change at once: a pair
 *        is taken over when it fits, else the old one stays
 * Spec   keys.h; zmailer.conf(5), tls
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "tls/about.h"
#include "smtpserver/tls/files.h"

#include "base/banned.h"

enum {
	LINE_NAMES_BYTES = 8192,	/* in one line to a worker */
	GONE_LOOKS = 60			/* a key that no row has any more */
};

struct stamp {			/* tells versions of a file apart */
	dev_t		device;
	ino_t		inode;
	off_t		size;
	struct timespec	written, changed;
};

struct watched {
	char		*path;		/* NULL: none */
	struct stamp	 taken, seen;
};

struct loaded {
	struct tls_pair	 pair;
	unsigned	 number;	/* 0: nothing is loaded */
};

struct file_pair {
	struct watched	 certificate, key;
	char		*name;		/* NULL: those in it */
	struct loaded	 now, before;
};

struct rows {			/* what is to be loaded */
	struct arena		*arena;
	struct conf_certificate	*list;
	size_t			 count;
};

struct keys_files {
	struct file_pair	*pairs;
	size_t		 count;
	struct file_pair *gone;		/* rows of before the last change:
					 * a worker may not know of it yet */
	size_t		 gone_count;
	unsigned	 gone_looks;	/* until they are freed */
	struct rows	 own, named;	/* of the configuration, of its table */
	struct watched	 table;
	char		*table_name, *table_spec;	/* NULL: no table */
	struct watched	 ca;
	struct str	 ca_text;
	unsigned	 numbers;
};

/* ---- watching --------------------------------------------------------- */

static void
stamp_of(const char *path, struct stamp *out)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (stat(path, &st) != 0)
		return;
	out->device = st.st_dev;
	out->inode = st.st_ino;
	out->size = st.st_size;
	out->written = st.st_mtim;
	out->changed = st.st_ctim;
}

static bool
stamp_is(const struct stamp *a, const struct stamp *b)
{
	return a->device == b->device && a->inode == b->inode &&
	    a->size == b->size &&
	    a->written.tv_sec == b->written.tv_sec &&
	    a->written.tv_nsec == b->written.tv_nsec &&
	    a->changed.tv_sec == b->changed.tv_sec &&
	    a->changed.tv_nsec == b->changed.tv_nsec;
}

static void
watched_set(struct watched *watched, const char *path)
{
	mem_free(&watched->path);
	if (path != NULL)
		watched->path = mem_strdup(path);
}

/* What is there now counts as taken, good or bad. */
static void
watched_take(struct watched *watched)
{
	if (watched->path == NULL)
		return;
	stamp_of(watched->path, &watched->taken);
	watched->seen = watched->taken;
}

/* One look: 0 nothing new, 1 it has come to rest, -1 it is changing. */
static int
watched_look(struct watched *watched)
{
	struct stamp now;
	bool rests;

	if (watched->path == NULL)
		return 0;
	stamp_of(watched->path, &now);
	if (stamp_is(&now, &watched->taken)) {
		watched->seen = now;
		return 0;
	}
	rests = stamp_is(&now, &watched->seen);
	watched->seen = now;
	return rests ? 1 : -1;
}

/* ---- pairs ------------------------------------------------------------ */

static void
files_note_refused(const char *file, const struct err *err)
{
	event(EV_CERTIFICATE_REFUSED, NULL, "file", slice_of(file),
	    "reason", slice_of(err->text), NULL);
}

static void
files_note_loaded(const char *file, const struct tls_pair *pair)
{
	int64_t left_s = pair->expires_s - clock_wall_s();
	char until[CLOCK_TEXT_BYTES];

	clock_rfc3339(pair->expires_s * 1000000, until);
	event(EV_CERTIFICATE_LOADED, NULL, "file", slice_of(file),
	    "subject", slice_of(pair->subject),
	    "fingerprint", slice_of(pair->fingerprint),
	    "expires", slice_of(until), NULL);
	if (tls_term(0, pair->expires_s, clock_wall_s()) != TLS_TERM_GOOD)
		event(EV_CERTIFICATE_EXPIRES, NULL, "file", slice_of(file),
		    "expires", slice_of(until),
		    "days", event_number(left_s / TLS_DAY_S), NULL);
}

static void
loaded_release(struct loaded *loaded)
{
	if (loaded->number != 0)
		tls_pair_release(&loaded->pair);
	loaded->number = 0;
}

static void
file_pair_release(struct file_pair *pair)
{
	loaded_release(&pair->now);
	loaded_release(&pair->before);
	mem_free(&pair->certificate.path);
	mem_free(&pair->key.path);
	mem_free(&pair->name);
}

/* A bad pair is refused; what was there before stays.  true: taken. */
static bool
file_pair_load(struct keys_files *files, struct file_pair *pair)
{
	struct tls_pair fresh;
	struct err err;

	watched_take(&pair->certificate);
	watched_take(&pair->key);
	if (tls_pair_load(&fresh, pair->certificate.path, pair->key.path,
	    &err) != 0) {
		files_note_refused(pair->certificate.path, &err);
		return false;
	}
	files_note_loaded(pair->certificate.path, &fresh);
	loaded_release(&pair->before);
	pair->before = pair->now;
	pair->now = (struct loaded){ fresh, ++files->numbers };
	return true;
}

static bool
files_ca_load(struct keys_files *files)
{
	struct str text = STR_INIT;
	struct err err;

	watched_take(&files->ca);
	if (files->ca.path != NULL &&
	    (tls_file_read(files->ca.path, &text, &err) != 0 ||
	    tls_roots_check(str_slice(&text), &err) != 0)) {
		files_note_refused(files->ca.path, &err);
		str_release(&text);
		return false;
	}
	str_release(&files->ca_text);
	files->ca_text = text;
	return true;
}

/* ---- all of them ------------------------------------------------------ */

struct keys_files *
keys_files_new(void)
{
	struct keys_files *files = mem_alloc(1, sizeof(*files));

	files->own.arena = arena_new();
	files->named.arena = arena_new();
	str_init(&files->ca_text);
	return files;
}

static void
file_pairs_free(struct file_pair *pair, size_t count)
{
	for (size_t i = 0; i < count; i++)
		file_pair_release(&pair[i]);
	mem_free(&pair);
}

static bool
files_are_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* A row that was there already goes on with what it has. */
static void
files_inherit(struct file_pair *fresh, struct file_pair *old, size_t old_count)
{
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].now.number == 0 ||
		    !files_are_same(old[i].certificate.path,
		    fresh->certificate.path) ||
		    !files_are_same(old[i].key.path, fresh->key.path))
			continue;
		fresh->now = old[i].now;
		fresh->before = old[i].before;
		fresh->certificate.taken = old[i].certificate.taken;
		fresh->certificate.seen = old[i].certificate.seen;
		fresh->key.taken = old[i].key.taken;
		fresh->key.seen = old[i].key.seen;
		old[i].now.number = old[i].before.number = 0;
		return;
	}
}

static void
file_pair_init(struct file_pair *pair, const struct conf_certificate *row)
{
	watched_set(&pair->certificate, row->file);
	watched_set(&pair->key, row->key);
	if (row->name != NULL)
		pair->name = mem_strdup(row->name);
}

/* Keep what the rows say.  loads_all: look at files again that were loaded
 * before. */
static void
files_rebuild(struct keys_files *files, bool loads_all)
{
	struct file_pair *old = files->pairs;
	size_t old_count = files->count;

	files->count = files->own.count + files->named.count;
	files->pairs = mem_alloc(files->count, sizeof(*files->pairs));
	for (size_t i = 0; i < files->count; i++) {
		struct file_pair *pair = &files->pairs[i];

		file_pair_init(pair, i < files->own.count ?
		    &files->own.list[i] :
		    &files->named.list[i - files->own.count]);
		files_inherit(pair, old, old_count);
		if (loads_all || pair->now.number == 0)
			(void)file_pair_load(files, pair);
	}
	file_pairs_free(files->gone, files->gone_count);
	files->gone = old;
	files->gone_count = old_count;
	files->gone_looks = GONE_LOOKS;
}

static void
files_forget_gone(struct keys_files *files)
{
	if (files->gone_looks == 0 || --files->gone_looks > 0)
		return;
	file_pairs_free(files->gone, files->gone_count);
	files->gone = NULL;
	files->gone_count = 0;
}

static void
files_rows_copy(struct rows *rows, const struct conf_certificate *list,
    size_t count)
{
	struct arena *arena = arena_new();

	rows->list = arena_alloc(arena, (count + 1) * sizeof(*rows->list));
	for (size_t i = 0; i < count; i++)
		rows->list[i] = (struct conf_certificate){
			.file = slice_dup(arena, slice_of(list[i].file)),
			.key = slice_dup(arena, slice_of(list[i].key)),
			.name = list[i].name == NULL ? NULL :
			    slice_dup(arena, slice_of(list[i].name)),
		};
	rows->count = count;
	arena_free(&rows->arena);
	rows->arena = arena;
}

/* A table that cannot be read is refused; its rows stay.  true: taken. */
static bool
files_table_read(struct keys_files *files)
{
	struct arena *arena = arena_new();
	struct conf_certificate *list;
	size_t count;
	struct err err;
	bool is_taken;

	watched_take(&files->table);
	is_taken = conf_named_certificates(files->table_name,
	    files->table_spec, arena, &list, &count, &err) == 0;
	if (is_taken)
		files_rows_copy(&files->named, list, count);
	else
		files_note_refused(files->table.path != NULL ?
		    files->table.path :
		    files->table_name, &err);
	arena_free(&arena);
	return is_taken;
}

/* Another table, or none: what the one before it said is gone. */
static void
files_table_set(struct keys_files *files, const struct conf_table *table)
{
	static const char file[] = "file:";
	const char *spec = table == NULL ? NULL : table->spec;

	if (!files_are_same(files->table_spec, spec))
		files_rows_copy(&files->named, NULL, 0);
	mem_free(&files->table_name);
	mem_free(&files->table_spec);
	watched_set(&files->table, spec != NULL &&
	    strncmp(spec, file, sizeof(file) - 1) == 0 ?
	    spec + sizeof(file) - 1 : NULL);
	if (spec == NULL)
		return;
	files->table_name = mem_strdup(table->name);
	files->table_spec = mem_strdup(spec);
	(void)files_table_read(files);
}

void
keys_files_configure(struct keys_files *files, const struct conf *conf)
{
	files_rows_copy(&files->own, conf->certificates,
	    conf->certificate_count);
	files_table_set(files, conf->certificate_table == NULL ? NULL :
	    conf_table_find(conf, conf->certificate_table));
	files_rebuild(files, true);
	if (!files_are_same(files->ca.path, conf->client_ca))
		str_release(&files->ca_text);
	watched_set(&files->ca, conf->client_ca);
	(void)files_ca_load(files);
}

bool
keys_files_look(struct keys_files *files)
{
	bool is_changed = false;

	files_forget_gone(files);
	if (watched_look(&files->table) > 0 && files_table_read(files)) {
		files_rebuild(files, false);
		is_changed = true;
	}
	for (size_t i = 0; i < files->count; i++) {
		struct file_pair *pair = &files->pairs[i];
		int certificate = watched_look(&pair->certificate);
		int key = watched_look(&pair->key);

		/* Both must rest: they are not replaced at once. */
		if (certificate + key > 0 && certificate >= 0 && key >= 0)
			is_changed = file_pair_load(files, pair) || is_changed;
	}
	if (watched_look(&files->ca) > 0)
		is_changed = files_ca_load(files) || is_changed;
	return is_changed;
}

/* "pair KEY NAME CHAIN"; with many names several such lines. */
static void
file_pair_add_lines(const struct file_pair *pair, struct str *out)
{
	struct slice rest = slice_of(pair->name != NULL ? pair->name : "-");
	struct slice name;
	size_t begin;

	while (slice_word(&rest, &name)) {
		str_addf(out, "pair %u ", pair->now.number);
		begin = out->len;
		do {
			if (out->len > begin)
				str_addc(out, ',');
			str_add_slice(out, name);
		} while (out->len - begin < LINE_NAMES_BYTES &&
		    slice_word(&rest, &name));
		str_addc(out, ' ');
		base64_add(out, str_slice(&pair->now.pair.chain));
		str_addc(out, '\n');
	}
}

void
keys_files_add_lines(const struct keys_files *files, struct str *out)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->pairs[i].now.number != 0)
			file_pair_add_lines(&files->pairs[i], out);
	if (files->ca_text.len > 0) {
		str_adds(out, "ca ");
		base64_add(out, str_slice(&files->ca_text));
		str_addc(out, '\n');
	}
}

static struct evp_pkey_st *
file_pairs_key(const struct file_pair *pairs, size_t count, unsigned number)
{
	for (size_t i = 0; i < count && number != 0; i++) {
		if (pairs[i].now.number == number)
			return pairs[i].now.pair.key;
		if (pairs[i].before.number == number)
			return pairs[i].before.pair.key;
	}
	return NULL;
}

struct evp_pkey_st *
keys_files_key(const struct keys_files *files, unsigned number)
{
	struct evp_pkey_st *key = file_pairs_key(files->pairs, files->count,
	    number);

	return key != NULL ? key : file_pairs_key(files->gone,
	    files->gone_count, number);
}

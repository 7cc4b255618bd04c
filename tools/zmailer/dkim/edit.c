/* edit.c - a key, its lines in the tables, the statement that signs
 *
 * In     what is wanted
 * Out    edited texts: the key, KeyTable, SigningTable, opendkim.conf, the
 *        main file
 * Trusts no line of a table: one that is not ours is passed over and kept
 * Spec   zmailer-dkim(8); opendkim.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "conf/edit.h"
#include "tls/pair.h"
#include "tools/zmailer/dkim/dkim.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { WORDS_MAX = 3 };

const char *
dkim_path(struct change *change, const char *name)
{
	const char *slash = strrchr(change->conf_path, '/');

	if (slash == NULL)
		return arena_printf(change->arena, "dkim/%s", name);
	return arena_printf(change->arena, "%.*s/dkim/%s",
	    (int)(slash - change->conf_path), change->conf_path, name);
}

/* ---- reading ----------------------------------------------------------- */

/* "D:S:/path" -> its parts. */
static bool
dkim_value_take(struct arena *arena, struct slice value,
    struct dkim_own_key *key)
{
	struct slice domain, selector;

	if (!slice_cut(&value, ':', &domain) ||
	    !slice_cut(&value, ':', &selector) || value.n == 0)
		return false;
	key->domain = slice_lower(arena, domain).p;
	key->selector = slice_dup(arena, selector);
	key->path = slice_dup(arena, value);
	return true;
}

/* Is there a line of signers whose second word is this name? */
static bool
is_signer(struct slice signers, struct slice name)
{
	struct slice line, first, second;

	while (slice_cut(&signers, '\n', &line))
		if (slice_word(&line, &first) && slice_word(&line, &second) &&
		    slice_equal_nocase(second, name))
			return true;
	return false;
}

/* "# retired NAME SECONDS", a comment for OpenDKIM. */
static void
keys_take_note(struct dkim_own_key *all, struct slice line)
{
	struct slice word, name;
	uint64_t at_s;

	if (!slice_word(&line, &word) || !slice_is(word, "#") ||
	    !slice_word(&line, &word) || !slice_is(word, "retired") ||
	    !slice_word(&line, &name) || !slice_number(slice_trim(line), 1,
	    INT64_MAX / 1000000, &at_s))
		return;
	for (struct dkim_own_key *key = all; key != NULL; key = key->next)
		if (slice_equal_nocase(key->name, name))
			key->retired_s = (int64_t)at_s;
}

/* Those of sign statements: of the list, or put at its end. */
static void
keys_add_stated(struct change *change, struct dkim_own_key **all)
{
	for (size_t i = 0; i < change->conf->sign_count; i++) {
		const struct conf_sign *one = &change->conf->signs[i];
		struct dkim_own_key **at = all;

		while (*at != NULL && (strcmp((*at)->domain, one->domain) !=
		    0 || strcmp((*at)->selector, one->selector) != 0))
			at = &(*at)->next;
		if (*at == NULL) {
			*at = arena_alloc(change->arena, sizeof(**at));
			**at = (struct dkim_own_key){ .name = slice_of(
			    arena_printf(change->arena, "%s._domainkey.%s",
			    one->selector, one->domain)),
			    .selector = one->selector,
			    .domain = one->domain };
		}
		(*at)->path = one->key;
		(*at)->signs = (*at)->is_stated = true;
	}
}

struct dkim_own_key *
dkim_keys(struct change *change)
{
	struct change reader = { .verb = change->verb,
		.arena = change->arena };
	struct str *keys = change_file(&reader, dkim_path(change, DKIM_KEYS),
	    true, 0644);
	struct str *signers = change_file(&reader, dkim_path(change,
	    DKIM_SIGNERS), true, 0644);
	struct dkim_own_key *all = NULL, **last = &all;
	struct slice rest, line;

	if (keys == NULL || signers == NULL)
		return NULL;
	keys = &reader.files[0].after;
	rest = slice_copy(change->arena, str_slice(keys));
	while (slice_cut(&rest, '\n', &line)) {
		struct dkim_own_key *key = arena_alloc(change->arena,
		    sizeof(*key));
		struct slice value;

		*key = (struct dkim_own_key){ .next = NULL };
		if (!slice_word(&line, &key->name) || key->name.p[0] == '#' ||
		    !slice_word(&line, &value) ||
		    !dkim_value_take(change->arena, value, key))
			continue;
		key->signs = is_signer(str_slice(signers), key->name);
		*last = key;
		last = &key->next;
	}
	rest = slice_copy(change->arena, str_slice(keys));
	while (slice_cut(&rest, '\n', &line))
		keys_take_note(all, line);
	keys_add_stated(change, &all);
	dkim_keys_mark_tables(change, &all);
	for (size_t i = 0; i < reader.file_count; i++) {
		str_release(&reader.files[i].before);
		str_release(&reader.files[i].after);
	}
	return all;
}

struct dkim_own_key *
dkim_keys_of(struct change *change, const char *domain)
{
	struct dkim_own_key *all = dkim_keys(change);

	dkim_keys_add_tables(change, &all, domain);
	return all;
}

bool
dkim_domain_signs(struct change *change, const char *domain)
{
	const struct dkim_own_key *key = dkim_keys_of(change, domain);

	while (key != NULL && (!key->signs || strcmp(key->domain, domain) !=
	    0))
		key = key->next;
	return key != NULL;
}

int
dkim_key_read(const struct dkim_own_key *key, struct str *out, struct err *err)
{
	return tls_file_read(key->path, out, err);
}

/* ---- lines ------------------------------------------------------------- */

static void
dkim_line_add(struct str *text, const char *line)
{
	if (text->len > 0 && text->buf[text->len - 1] != '\n')
		str_addc(text, '\n');
	str_adds(text, line);
}

/* Remove the lines whose word number index is this one. */
static bool
dkim_lines_take(struct str *text, size_t index, struct slice word)
{
	struct slice rest = str_slice(text);
	struct str kept = STR_INIT;
	bool is_taken = false;

	while (rest.n > 0) {
		size_t n = slice_find(rest, '\n');
		struct slice line = slice_first(rest, n < rest.n ? n + 1 : n);
		struct slice words = line, at = { "", 0 };

		rest = slice_from(rest, line.n);
		for (size_t i = 0; i <= index; i++)
			if (!slice_word(&words, &at))
				at = (struct slice){ "", 0 };
		if (at.n > 0 && slice_equal_nocase(at, word))
			is_taken = true;
		else
			str_add_slice(&kept, line);
	}
	str_reset(text);
	str_add_slice(text, str_slice(&kept));
	str_release(&kept);
	return is_taken;
}

void
dkim_edit_note_retired(struct change *change, struct str *keys,
    const struct dkim_own_key *key)
{
	bool is_listed = false;
	struct slice rest = slice_copy(change->arena, str_slice(keys));
	struct slice line, name;

	while (slice_cut(&rest, '\n', &line))
		is_listed |= slice_word(&line, &name) &&
		    slice_equal_nocase(name, key->name);
	if (!is_listed)		/* of a statement that a person wrote */
		dkim_line_add(keys, arena_printf(change->arena, SLICE_FMT
		    " %s:%s:%s\n", SLICE_ARG(key->name), key->domain,
		    key->selector, key->path));
	(void)dkim_lines_take(keys, 2, key->name);
	dkim_line_add(keys, arena_printf(change->arena, "# retired " SLICE_FMT
	    " %jd\n", SLICE_ARG(key->name), (intmax_t)clock_wall_s()));
}

/* Make the lines of signers for a domain's senders name only this key. */
static int
signer_set(struct change *change, const struct dkim_own_key *key)
{
	struct str *text = change_file(change, dkim_path(change,
	    DKIM_SIGNERS), true, 0644);
	const char *pattern = arena_printf(change->arena, "*@%s",
	    key->domain);

	if (text == NULL)
		return EX_NOINPUT;
	(void)dkim_lines_take(text, 0, slice_of(pattern));
	dkim_line_add(text, arena_printf(change->arena, "%s " SLICE_FMT "\n",
	    pattern, SLICE_ARG(key->name)));
	return EX_OK;
}

/* ---- the statement that signs ------------------------------------------ */

/* Take a key's statement out of the main file. */
static void
stated_take(struct change *change, struct str *text, const char *domain,
    const char *selector)
{
	struct conf_piece *pieces;	/* of a copy: text becomes another */
	size_t n = conf_pieces(change->arena, slice_copy(change->arena,
	    str_slice(text)), &pieces);

	for (size_t i = n; i-- > 0;) {
		bool is_his = false;

		if (!conf_piece_is(&pieces[i], 0, "sign") ||
		    !conf_piece_is(&pieces[i], 1, domain))
			continue;
		for (size_t k = 2; k + 1 < pieces[i].word_count; k++)
			is_his |= conf_piece_is(&pieces[i], k, "selector") &&
			    conf_piece_is(&pieces[i], k + 1, selector);
		if (is_his)
			conf_take_piece(text, &pieces[i]);
	}
}

static bool
stated_is_of_kind(const char *file, enum verify_kind kind)
{
	struct err err;
	struct evp_pkey_st *key = dkim_private_load(file, &err);
	bool is_same = key != NULL && dkim_private_kind(key) == kind;

	dkim_private_free(&key);
	return is_same;
}

/* It replaces those of its kind: RSA and Ed25519 keys sign side by side. */
static int
stated_put(struct change *change, const struct dkim_own_key *key,
    enum verify_kind kind)
{
	const struct conf *conf = change->conf;
	struct str *text = change_main(change);

	if (text == NULL)
		return EX_NOINPUT;
	for (size_t i = 0; i < conf->sign_count; i++)
		if (strcmp(conf->signs[i].domain, key->domain) == 0 &&
		    stated_is_of_kind(conf->signs[i].key, kind))
			stated_take(change, text, key->domain,
			    conf->signs[i].selector);
	conf_put_last(text, arena_printf(change->arena,
	    "sign %s selector %s key %s\n", key->domain, key->selector,
	    key->path));
	return EX_OK;
}

/* ---- opendkim and its milter statement --------------------------------- */

/* "inet:H:P" -> "inet:P@H", "unix:/p" -> "local:/p"; NULL: neither. */
static const char *
opendkim_socket(struct arena *arena, const char *socket)
{
	const char *colon = strrchr(socket, ':');

	struct slice path;

	if (unix_socket_path(slice_of(socket), &path))
		return arena_printf(arena, "local:%s", path.p);
	if (strncmp(socket, "inet:", 5) != 0 || colon == socket + 4)
		return NULL;
	return arena_printf(arena, "inet:%s@%.*s", colon + 1,
	    (int)(colon - socket - 5), socket + 5);
}

/* opendkim's own file, once; a person may change it then. */
static int
signer_conf_put(struct change *change, const char *socket)
{
	const char *path = dkim_path(change, DKIM_CONF);
	struct str *text = change_file(change, path, true, 0644);

	if (text == NULL)
		return EX_NOINPUT;
	if (text->len > 0)
		return EX_OK;
	str_addf(text, "# zmailer dkim new wrote this; start: opendkim -x "
	    "%s\nMode sv\nSocket %s\nKeyTable file:%s\n"
	    "SigningTable refile:%s\nCanonicalization relaxed/simple\n"
	    "OversignHeaders From\nSyslog yes\nPidFile %s/opendkim.pid\n",
	    path, opendkim_socket(change->arena, socket),
	    dkim_path(change, DKIM_KEYS), dkim_path(change, DKIM_SIGNERS),
	    change->conf->run_dir);
	if (geteuid() == 0 && getpwnam(DKIM_ACCOUNT) != NULL)
		str_adds(text, "UserID " DKIM_ACCOUNT "\n");
	return EX_OK;
}

static int
milter_put(struct change *change, const char *socket)
{
	const struct conf *conf = change->conf;
	struct str *text;

	for (size_t i = 0; i < conf->milter_count; i++)
		if (strcmp(conf->milters[i].socket, socket) == 0)
			return EX_OK;
	text = change_main(change);
	if (text == NULL)
		return EX_NOINPUT;
	/* after the others: what they change is signed, too */
	conf_put_last(text, arena_printf(change->arena,
	    "milter %s fail accept also sendmail\n", socket));
	return EX_OK;
}

/* ---- edits ------------------------------------------------------------- */

/* The file of a key is there.  Was it made by such a call that was ended before
 * the statement was there?  What no list has may be a key that somebody took
 * away: nobody uses it.  EX_OK or EX_CANTCREAT. */
static int
key_take_waiting(struct change *change, const struct dkim_own_key *wanted,
    enum verify_kind kind)
{
	const struct dkim_own_key *key = dkim_keys(change);

	while (key != NULL && !slice_equal_nocase(key->name, wanted->name))
		key = key->next;
	if (key != NULL && !key->signs && key->retired_s == 0 &&
	    stated_is_of_kind(key->path, kind))
		return EX_OK;
	fprintf(stderr, "zmailer: dkim: %s is there already%s say another "
	    "--selector\n", wanted->path, key != NULL ? ";" : ", of a key "
	    "that was removed or never used: delete it, or");
	return EX_CANTCREAT;
}

static int
key_put(struct change *change, const struct dkim_own_key *key,
    const struct dkim_wish *wish)
{
	struct str *text = change_file(change, key->path, true, 0600);
	struct change_file *file;
	struct err err = { "" };

	if (text == NULL)
		return EX_NOINPUT;
	file = &change->files[change->file_count - 1];
	file->is_secret = true;
	if (text->len > 0)
		return key_take_waiting(change, key, wish->kind);
	file->account = wish->socket != NULL ? DKIM_ACCOUNT : NULL;
	if (dkim_key_make(wish->kind, wish->bits, text, &err) == 0)
		return EX_OK;
	fprintf(stderr, "zmailer: dkim: %s\n", err.text);
	return EX_SOFTWARE;
}

/* A domain's first key signs at once; a second one when the record had its
 * time to spread: dkim use. */
int
dkim_edit_new(struct change *change, const struct dkim_wish *wish)
{
	const char *name = arena_printf(change->arena, "%s._domainkey.%s",
	    wish->selector, wish->domain);
	const struct conf_sign_table *row = wish->socket != NULL ? NULL :
	    dkim_table_for(change, wish->domain);
	struct dkim_own_key key = { .name = slice_of(name),
		.selector = wish->selector, .domain = wish->domain,
		.path = row != NULL ? arena_printf(change->arena,
		"%s/%s.private", row->dir, name) : dkim_path(change,
		arena_printf(change->arena, "%s.private", name)) };
	struct str *keys;
	bool is_first = !dkim_domain_signs(change, wish->domain);
	int status;

	if (wish->socket != NULL && opendkim_socket(change->arena,
	    wish->socket) == NULL)
		return EX_USAGE;
	status = key_put(change, &key, wish);
	keys = status == EX_OK ? change_file(change, dkim_path(change,
	    DKIM_KEYS), true, 0644) : NULL;
	if (keys == NULL)
		return status == EX_OK ? EX_NOINPUT : status;
	(void)dkim_lines_take(keys, 0, key.name);
	dkim_line_add(keys, arena_printf(change->arena, "%s %s:%s:%s\n", name,
	    wish->domain, wish->selector, key.path));
	if (is_first && row == NULL)
		status = wish->socket != NULL ? signer_set(change, &key) :
		    stated_put(change, &key, wish->kind);
	if (status == EX_OK && wish->socket != NULL)
		status = signer_conf_put(change, wish->socket);
	return status == EX_OK && wish->socket != NULL ?
	    milter_put(change, wish->socket) : status;
}

/* Does opendkim sign for the domain? */
static bool
domain_is_opendkims(struct change *change, const char *domain)
{
	for (const struct dkim_own_key *key = dkim_keys(change); key != NULL;
	    key = key->next)
		if (key->signs && !key->is_stated && key->table == NULL &&
		    strcmp(key->domain, domain) == 0)
			return true;
	return false;
}

int
dkim_edit_use(struct change *change, const struct dkim_own_key *key)
{
	struct err err;
	struct evp_pkey_st *private_key;
	enum verify_kind kind;
	struct str *keys = key->retired_s == 0 ? NULL : change_file(change,
	    dkim_path(change, DKIM_KEYS), true, 0644);

	if (dkim_table_for(change, key->domain) != NULL)
		return dkim_table_refuse(change, key, true);
	if (keys != NULL)	/* it signs again */
		(void)dkim_lines_take(keys, 2, key->name);
	if (domain_is_opendkims(change, key->domain))
		return signer_set(change, key);
	private_key = dkim_private_load(key->path, &err);
	if (private_key == NULL) {
		fprintf(stderr, "zmailer: dkim: %s\n", err.text);
		return EX_NOINPUT;
	}
	kind = dkim_private_kind(private_key);
	dkim_private_free(&private_key);
	return stated_put(change, key, kind);
}

int
dkim_edit_remove(struct change *change, const struct dkim_own_key *key)
{
	struct str *keys = change_file(change, dkim_path(change, DKIM_KEYS),
	    true, 0644);
	struct str *signers, *text;

	if (key->table != NULL)
		return dkim_table_refuse(change, key, false);
	if (keys == NULL)
		return EX_NOINPUT;
	(void)dkim_lines_take(keys, 0, key->name);
	(void)dkim_lines_take(keys, 2, key->name);
	text = key->is_stated ? change_main(change) : NULL;
	if (key->is_stated && text == NULL)
		return EX_NOINPUT;
	if (text != NULL)
		stated_take(change, text, key->domain, key->selector);
	signers = change_file(change, dkim_path(change, DKIM_SIGNERS), true,
	    0644);
	if (signers == NULL)
		return EX_NOINPUT;
	(void)dkim_lines_take(signers, 1, key->name);
	return EX_OK;
}

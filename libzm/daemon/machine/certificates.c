/* certificates.c - the certificates that a configuration names are any good
 *
 * In     a conf that is right in itself; files of certificates and keys
 * Out    complaints: unreadable, a key of another, expired or about to
 * Holds  nothing: a key that was read is freed at once
 * Spec   zmailer.conf(5), tls
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/machine/look.h"
#include "tls/about.h"
#include "tls/pair.h"

#include "base/banned.h"

/* Keys are often root's alone: who checks may be somebody else. */
static bool
is_forbidden(struct machine_look *look, const char *file, struct conf_at at)
{
	if (access(file, R_OK) == 0 || errno != EACCES || geteuid() == 0)
		return false;
	machine_tell(look, CONF_WARNING, at, "check it as root",
	    arena_printf(look->arena, "%s cannot be read by you", file));
	return true;
}

enum { SHOWN_NAMES_BYTES = 200 };

/* "FILE (mx.example.org www.example.org)" */
static const char *
certificate_shown(struct machine_look *look, const char *file,
    const struct tls_about *about)
{
	size_t n = about->names.len;

	return arena_printf(look->arena, "%s (%.*s%s)", file,
	    n > SHOWN_NAMES_BYTES ? SHOWN_NAMES_BYTES : (int)n,
	    about->names.buf, n > SHOWN_NAMES_BYTES ? " ..." : "");
}

static void
check_dates(struct machine_look *look, const struct conf_certificate *one,
    const struct tls_about *about)
{
	static const char renew[] =
	    "renew it: zmailer cert install FILE KEY takes the new pair";
	int64_t now_s = clock_wall_s(), left_s = about->expires_s - now_s;
	const char *shown = certificate_shown(look, one->file, about);
	char span[CLOCK_TEXT_BYTES], begins[CLOCK_TEXT_BYTES];

	clock_span(left_s < 0 ? -left_s : left_s, span);
	clock_local(about->begins_s, begins);
	switch (tls_term(about->begins_s, about->expires_s, now_s)) {
	case TLS_TERM_EARLY:
		machine_tell(look, CONF_WARNING, one->at, "is the clock of "
		    "this machine right? else use the one before it until "
		    "then", arena_printf(look->arena, "%s is not in force "
		    "before %s: clients that look will not believe us", shown,
		    begins));
		break;
	case TLS_TERM_OVER:
		machine_tell(look, CONF_WARNING, one->at, renew,
		    arena_printf(look->arena, "%s has expired %s ago: clients "
		    "that look will not believe us", shown, span));
		break;
	case TLS_TERM_SOON:
		machine_tell(look, CONF_WARNING, one->at, renew,
		    arena_printf(look->arena, "%s expires in %s", shown,
		    span));
		break;
	case TLS_TERM_GOOD:
		break;
	}
}

/* Whoever looks whether we are who we say will not believe it. */
static void
check_names(struct machine_look *look, const struct conf_certificate *one,
    const char *names, const struct tls_about *about)
{
	struct slice lacks = tls_about_lacks(about, names);

	if (lacks.n == 0)
		return;
	machine_tell(look, CONF_WARNING, one->at, one->name != NULL ?
	    "get one with that name, or write for NAME as it stands in it" :
	    "get one with that name, or write host NAME as it stands in it",
	    arena_printf(look->arena, "%s is shown as " SLICE_FMT ", which "
	    "is none of its names", certificate_shown(look, one->file,
	    about), SLICE_ARG(lacks)));
}

/* Both files, each by itself: what is missing is said of each. */
static bool
pair_is_there(struct machine_look *look, const struct conf_certificate *one)
{
	const char *files[] = { one->file, one->key };
	bool is_there = true;

	for (size_t i = 0; i < 2; i++) {
		if (access(files[i], F_OK) == 0 || errno == EACCES ||
		    (i == 1 && strcmp(files[0], files[1]) == 0))
			continue;	/* EACCES: see is_forbidden */
		machine_tell(look, CONF_ERROR, one->at, i == 0 ?
		    "name the chain that your authority gave you, or say "
		    "zmailer cert install FILE KEY" :
		    "name the key that the certificate was asked for with",
		    arena_printf(look->arena, "cannot read %s: %s", files[i],
		    strerror(errno)));
		is_there = false;
	}
	return is_there;
}

static const char *
pair_hint(const struct conf_certificate *one, const char *what)
{
	if (strstr(what, "is not that of") != NULL)
		return "name the key that the certificate was asked for with, "
		    "or ask for a new certificate";
	if (strstr(what, "pass phrase") != NULL)
		return "openssl pkey -in FILE -out FILE takes it away";
	return strcmp(one->file, one->key) == 0 ? NULL :
	    "write: tls certificate CHAIN key KEY, both in PEM; are they in "
	    "each other's place?";
}

/* Anybody who reads the key can pretend to be us. */
static void
check_key_mode(struct machine_look *look, const struct conf_certificate *one)
{
	struct stat st;

	if (stat(one->key, &st) == 0 && (st.st_mode & S_IROTH) != 0)
		machine_tell(look, CONF_WARNING, one->at,
		    arena_printf(look->arena, "chmod o-r %s", one->key),
		    arena_printf(look->arena, "the key %s can be read by "
		    "everybody on this machine", one->key));
}

/* ---- two for one name -------------------------------------------------- */

struct certificate_seen {
	struct tls_about about;
	const char	*kind;		/* of its key; NULL: it is no good */
};

/* Whom a client that asks for a name gets it for. */
static const char *
certificate_names(const struct conf_certificate *one,
    const struct certificate_seen *seen)
{
	return one->name != NULL ? one->name : seen->about.names.buf;
}

static bool
names_are_within(const char *inner, const char *outer)
{
	struct slice rest = slice_of(inner), word, other, name;
	bool is_there = true;

	while (is_there && slice_word(&rest, &word)) {
		other = slice_of(outer);
		is_there = false;
		while (!is_there && slice_word(&other, &name))
			is_there = slice_equal_nocase(word, name);
	}
	return is_there;
}

/* Keys of different kinds stand beside each other; of one kind the first is
 * offered. */
static void
check_second(struct machine_look *look, const struct conf_certificate *rows,
    const struct certificate_seen *seen, size_t at)
{
	const struct conf_certificate *one = &rows[at];

	for (size_t i = 0; i < at && seen[at].kind != NULL; i++) {
		if (seen[i].kind == NULL ||
		    strcmp(seen[i].kind, seen[at].kind) != 0 ||
		    (rows[i].name == NULL) != (one->name == NULL) ||
		    !names_are_within(certificate_names(one, &seen[at]),
		    certificate_names(&rows[i], &seen[i])))
			continue;
		machine_tell(look, CONF_WARNING, one->at,
		    arena_printf(look->arena, "delete line %u or this one; "
		    "zmailer cert install takes the place of one",
		    rows[i].at.line), arena_printf(look->arena,
		    "%s is never offered: %s (line %u) is, which has its "
		    "names, and a key of the same kind",
		    certificate_shown(look, one->file, &seen[at].about),
		    rows[i].file, rows[i].at.line));
		return;
	}
}

/* ---- each by itself ---------------------------------------------------- */

/* False: the files are no good, or cannot be read by us. */
static bool
certificate_check_pair(struct machine_look *look,
    const struct conf_certificate *one, struct certificate_seen *out)
{
	struct tls_pair pair;
	struct err err;

	if (is_forbidden(look, one->key, one->at))
		return false;
	if (tls_pair_load(&pair, one->file, one->key, &err) != 0) {
		machine_tell(look, CONF_ERROR, one->at,
		    pair_hint(one, err.text), err.text);
		return false;
	}
	check_key_mode(look, one);
	out->kind = pair.kind;
	tls_pair_release(&pair);
	return true;
}

/* names: under which it is shown; NULL: those that it has. */
static void
check_certificate(struct machine_look *look,
    const struct conf_certificate *one, const char *names,
    struct certificate_seen *out)
{
	struct err err;

	if (!pair_is_there(look, one) ||
	    is_forbidden(look, one->file, one->at) ||
	    !certificate_check_pair(look, one, out) ||
	    tls_about_load(&out->about, one->file, &err) != 0)
		return;
	check_dates(look, one, &out->about);
	if (names != NULL)
		check_names(look, one, names, &out->about);
}

/* The statements, which stand before the lines of a table. */
static void
check_seconds(struct machine_look *look, const struct conf_certificate *rows,
    size_t count, struct certificate_seen *seen)
{
	for (size_t i = 0; i < count; i++)
		if (i < look->conf->certificate_count)
			check_second(look, rows, seen, i);
	for (size_t i = 0; i < count; i++)
		tls_about_release(&seen[i].about);
}

static void
check_client_ca(struct machine_look *look)
{
	struct conf_at at = look->conf->book->client_certificates_at;
	struct str text = STR_INIT;
	struct err err;

	if (look->conf->client_ca == NULL ||
	    is_forbidden(look, look->conf->client_ca, at))
		return;
	if (tls_file_read(look->conf->client_ca, &text, &err) != 0 ||
	    tls_roots_check(str_slice(&text), &err) != 0)
		machine_tell(look, CONF_ERROR, at, NULL,
		    arena_printf(look->arena,
		    "%s: %s", look->conf->client_ca, err.text));
	str_release(&text);
}

void
machine_check_certificates(const struct conf *conf, struct arena *arena,
    struct conf_report *report)
{
	struct machine_look look = { conf, arena, report, 3 };
	struct certificate_seen *seen;
	struct conf_certificate *rows;
	struct err err;
	size_t count;

	if (conf_all_certificates(conf, arena, &rows, &count, &err) < 0)
		machine_tell(&look, CONF_ERROR, conf->certificate_table_at,
		    NULL, arena_printf(arena, "%s", err.text));
	seen = mem_alloc(count + 1, sizeof(*seen));
	for (size_t i = 0; i < count; i++)
		/* the first is the default, shown under our own name */
		check_certificate(&look, &rows[i], rows[i].name != NULL ?
		    rows[i].name : i == 0 ? conf->host : NULL, &seen[i]);
	check_seconds(&look, rows, count, seen);
	mem_free(&seen);
	check_client_ca(&look);
}

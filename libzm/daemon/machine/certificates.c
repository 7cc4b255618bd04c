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

static void
check_dates(struct machine_look *look, const struct conf_certificate *one,
    const struct tls_pair *pair)
{
	int64_t now_s = clock_wall_s(), left_s = pair->expires_s - now_s;
	char span[CLOCK_TEXT_BYTES];

	clock_span(left_s < 0 ? -left_s : left_s, span);
	switch (tls_term(pair->begins_s, pair->expires_s, now_s)) {
	case TLS_TERM_EARLY:
		machine_tell(look, CONF_WARNING, one->at, NULL,
		    arena_printf(look->arena, "%s is not in force yet",
		    one->file));
		break;
	case TLS_TERM_OVER:
		machine_tell(look, CONF_WARNING, one->at, "renew it",
		    arena_printf(look->arena, "%s has expired %s ago",
		    one->file, span));
		break;
	case TLS_TERM_SOON:
		machine_tell(look, CONF_WARNING, one->at, "renew it",
		    arena_printf(look->arena, "%s expires in %s", one->file,
		    span));
		break;
	case TLS_TERM_GOOD:
		break;
	}
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

static void
check_certificate(struct machine_look *look, const struct conf_certificate *one)
{
	struct tls_pair pair;
	struct err err;

	if (!pair_is_there(look, one) ||
	    is_forbidden(look, one->file, one->at) ||
	    is_forbidden(look, one->key, one->at))
		return;
	if (tls_pair_load(&pair, one->file, one->key, &err) != 0) {
		machine_tell(look, CONF_ERROR, one->at,
		    pair_hint(one, err.text), err.text);
		return;
	}
	check_key_mode(look, one);
	check_dates(look, one, &pair);
	tls_pair_release(&pair);
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

	struct conf_certificate *rows;
	struct err err;
	size_t count;

	if (conf_all_certificates(conf, arena, &rows, &count, &err) < 0)
		machine_tell(&look, CONF_ERROR, conf->certificate_table_at,
		    NULL, arena_printf(arena, "%s", err.text));
	for (size_t i = 0; i < count; i++)
		check_certificate(&look, &rows[i]);
	check_client_ca(&look);
}

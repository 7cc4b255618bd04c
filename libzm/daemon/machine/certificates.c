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

static void
check_certificate(struct machine_look *look, const struct conf_certificate *one)
{
	struct tls_pair pair;
	struct err err;

	if (is_forbidden(look, one->file, one->at) ||
	    is_forbidden(look, one->key, one->at))
		return;
	if (tls_pair_load(&pair, one->file, one->key, &err) != 0) {
		machine_tell(look, CONF_ERROR, one->at, NULL, err.text);
		return;
	}
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

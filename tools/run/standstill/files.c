/* files.c - files that a running system reads, when they are no
 * good any more
 *
 * In     the certificates and tables of the configuration in force
 * Out    a row for each that is over, nearly over, or gone
 * Trusts nothing in a certificate: only its dates are told
 * Spec   standstill.h; zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tls/about.h"
#include "tools/run/standstill/parts.h"

#include "base/banned.h"

/* Its own statements only: `zmailer cert check` looks at those of a table,
 * too. */
static void
standstill_certificate(struct standstill *all, const char *file)
{
	int64_t now_s = clock_wall_s(), left_s;
	struct standstill_row *row;
	struct tls_about about;
	char span[CLOCK_TEXT_BYTES];
	enum tls_term term;
	struct err err;

	if (tls_about_load(&about, file, &err) != 0) {
		tls_about_release(&about);
		return;
	}
	term = tls_term(about.begins_s, about.expires_s, now_s);
	left_s = about.expires_s - now_s;
	tls_about_release(&about);
	if (term != TLS_TERM_OVER && term != TLS_TERM_SOON)
		return;
	clock_span(left_s < 0 ? -left_s : left_s, span);
	row = standstill_row(all, "certificate", file);
	row->next = "renew it: zmailer cert install";
	row->text = term == TLS_TERM_OVER ?
	    arena_printf(all->arena, "the certificate %s has expired %s ago: "
	    "clients that look do not believe us", file, span) :
	    arena_printf(all->arena, "the certificate %s expires in %s",
	    file, span);
}

/* A file that was there when the configuration was taken over. */
static void
standstill_table(struct standstill *all, const struct conf_table *table)
{
	const char *path = strchr(table->spec, ':');
	struct standstill_row *row;

	if (table->has_lines || table->spec[0] == '?' || path == NULL ||
	    path[1] != '/' || access(path + 1, F_OK) == 0 || errno != ENOENT)
		return;
	row = standstill_row(all, "table", path + 1);
	row->text = arena_printf(all->arena, "the file of the table %s, %s, "
	    "is gone: mail goes by what was read of it, or is told 451",
	    table->name, path + 1);
	row->next = "put it back; zmailer check";
}

void
standstill_files(struct standstill *all, const struct conf *conf)
{
	for (size_t i = 0; i < conf->certificate_count; i++)
		standstill_certificate(all, conf->certificates[i].file);
	for (size_t i = 0; i < conf->table_count; i++)
		standstill_table(all, &conf->tables[i]);
}

/* import.c - zmailer import: the way over from another mailer
 *
 * In     zmailer import MAILER [FILE|DIR] --to NEW-DIR
 * Out    NEW-DIR with zmailer.conf and tables; a table of all settings; queue
 *        is another matter (queue/)
 * Trusts nothing that it reads, and changes nothing there
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/machine/machine.h"
#include "tools/zmailer/import/compare/compare.h"
#include "tools/zmailer/import/import.h"
#include "tools/zmailer/import/queue/queue.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

static const struct {
	const char		*name;
	import_reader_fn	*read;
	const char		*places[4];	/* the first that is there */
} import_mailers[] = {
	{ "postfix", import_postfix, { "/etc/postfix" } },
	{ "exim", import_exim, { "/etc/exim4", "/etc/exim",
	    "/usr/local/etc/exim", "/etc/exim.conf" } },
	{ "sendmail", import_sendmail, { "/etc/mail" } },
	{ "zmailer", import_zmailer, { "/etc/zmailer.conf", "/opt/mail",
	    "/usr/local/etc/zmailer.conf" } },
	{ "opensmtpd", import_opensmtpd, { "/etc/smtpd.conf",
	    "/etc/mail/smtpd.conf", "/etc/smtpd/smtpd.conf" } },
};
enum { IMPORT_MAILERS = sizeof(import_mailers) / sizeof(import_mailers[0]) };

/* Where that mailer's configuration is, when nothing is said. */
static const char *
mailer_place(size_t mailer)
{
	const char *const *places = import_mailers[mailer].places;

	for (size_t i = 0; i < 4 && places[i] != NULL; i++)
		if (access(places[i], F_OK) == 0)
			return places[i];
	return places[0];
}

static size_t
mailer_named(const struct arguments *arguments)
{
	size_t mailer = 0;

	while (mailer + 1 < IMPORT_MAILERS && !arguments_is(arguments,
	    import_mailers[mailer].name))
		mailer++;
	return mailer;
}

/* Absolute; the directory need not be there. */
static const char *
path_whole(struct arena *arena, const char *path)
{
	char here[PATH_MAX];
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (path[0] == '/')
		return arena_dup(arena, path, n);
	if (getcwd(here, sizeof(here)) == NULL)
		return NULL;
	return arena_printf(arena, "%s/%.*s", here, (int)n, path);
}

/* The new file as the daemons would read it. */
static int
import_check(struct import *import)
{
	const char *path = arena_printf(import->arena, "%s/zmailer.conf",
	    import->to);
	struct conf_report report;
	struct str text = STR_INIT;
	struct conf *conf = conf_load(path, import->arena, &report);

	if (conf != NULL)
		machine_check(conf, import->arena, &report);
	/* warnings are said by zmailer check, which comes next */
	conf_report_print(&report, path, &text);
	if (report.errors > 0)
		fprintf(stderr, "%s", text.buf);
	str_release(&text);
	conf_free(&conf);
	return report.errors > 0 ? EX_CONFIG : EX_OK;
}

static int
import_write(struct import *import, const struct str *conf, bool is_dry,
    bool is_json)
{
	struct str table = STR_INIT;
	int status = is_dry ? EX_OK : import_put(import, str_slice(conf));

	if (status == EX_OK) {
		import_print(import, is_json, &table);
		fputs(table.buf, stdout);
		if (is_dry && !is_json)
			printf("\nnothing was written; the file would be:\n\n"
			    "%s", conf->buf);
		fflush(stdout);
	}
	str_release(&table);
	if (status != EX_OK || is_dry)
		return status;
	status = import_check(import);
	if (!is_json)
		printf("wrote %s/zmailer.conf\nnext: read what differs and "
		    "what is missing; then\n  zmailer check %s/zmailer.conf\n"
		    "  zmailer route --config %s/zmailer.conf ADDRESS...\n",
		    import->to, import->to, import->to);
	return status;
}

static int
import_configuration(struct arguments *arguments)
{
	const char *path = arguments_word(arguments, 0);
	const char *to = arguments_text(arguments, OPT_TO_DIR);
	bool is_dry = arguments_has(arguments, OPT_DRY_RUN);
	struct arena *arena = arena_new();
	struct str conf = STR_INIT;
	struct import import;
	struct err err;
	int status = EX_OK;
	size_t mailer = mailer_named(arguments);

	to = path_whole(arena, to != NULL ? to : "NEW-DIR");
	path = path_whole(arena, path != NULL ? path : mailer_place(mailer));
	if (to == NULL || path == NULL)
		status = EX_OSERR;
	else if (arguments_text(arguments, OPT_TO_DIR) == NULL && !is_dry)
		status = arguments_refuse(arguments, "--to NEW-DIR says where "
		    "it is written; --dry-run only shows it");
	else if (!is_dry)
		status = import_put_check(to);
	if (status != EX_OK) {
		arena_free(&arena);
		return status;
	}
	import_begin(&import, arena, import_mailers[mailer].name, to);
	if (import_word(&import, slice_of(to)) == NULL) {
		status = arguments_refuse(arguments, "--to: a path of "
		    "letters, digits and . _ - / only");
	} else if (import_mailers[mailer].read(&import, path, &err) != 0) {
		fprintf(stderr, "zmailer: import: %s\n", err.text);
		status = EX_NOINPUT;
	} else {
		import_finish(&import, &conf);
		status = import_write(&import, &conf, is_dry,
		    arguments_has(arguments, OPT_JSON));
	}
	import_end(&import);
	str_release(&conf);
	arena_free(&arena);
	return status;
}

/* ---- both, compared ----------------------------------------------------- */

static int
import_compare_run(struct arguments *arguments, struct import *import)
{
	const char *file = arguments_text(arguments, OPT_ADDRESSES);
	struct compare compare = { .import = import,
		.program = arguments_text(arguments, OPT_WITH) };
	struct str conf = STR_INIT;
	struct err err;
	int status = EX_OK;

	compare.conf_path = arena_printf(import->arena, "%s/zmailer.conf",
	    import->to);
	import_finish(import, &conf);
	str_release(&conf);
	/* says what is wrong with it */
	conf_free(&(struct conf *){ verb_conf_file(compare.conf_path) });
	if (file == NULL)
		compare_addresses_find(&compare);
	else if (compare_addresses_read(&compare, file, &err) != 0) {
		fprintf(stderr, "zmailer: import: %s\n", err.text);
		status = EX_NOINPUT;
	}
	return status != EX_OK ? status : compare_both(&compare,
	    arguments_has(arguments, OPT_JSON));
}

static int
import_compare(struct arguments *arguments)
{
	const char *path = arguments_word(arguments, 0);
	const char *to = arguments_text(arguments, OPT_TO_DIR);
	size_t mailer = mailer_named(arguments);
	struct arena *arena;
	struct import import;
	struct err err;
	int status;

	if (to == NULL)
		return arguments_refuse(arguments, "--to NEW-DIR says where "
		    "the new configuration is");
	if (strcmp(import_mailers[mailer].name, "opensmtpd") == 0 ||
	    strcmp(import_mailers[mailer].name, "zmailer") == 0) {
		fprintf(stderr, "zmailer: import: %s has no program that "
		    "tells where mail for an address goes without sending "
		    "it: nothing to compare with\n",
		    import_mailers[mailer].read == import_zmailer ?
		    "ZMailer 2.99" : "OpenSMTPD");
		return EX_UNAVAILABLE;
	}
	arena = arena_new();
	import_begin(&import, arena, import_mailers[mailer].name,
	    path_whole(arena, to));
	if (import_mailers[mailer].read(&import, path_whole(arena, path !=
	    NULL ? path : mailer_place(mailer)), &err) != 0) {
		fprintf(stderr, "zmailer: import: %s\n", err.text);
		status = EX_NOINPUT;
	} else
		status = import_compare_run(arguments, &import);
	import_end(&import);
	arena_free(&arena);
	return status;
}

int
verb_import(struct arguments *arguments)
{
	bool is_queue = arguments_is(arguments, "queue");
	bool is_compare = arguments_has(arguments, OPT_COMPARE);

	if (is_compare && (is_queue || arguments_has(arguments, OPT_DRY_RUN)))
		return arguments_refuse(arguments, "--compare is for the "
		    "configuration, and writes nothing anyway");
	if (!is_compare && (arguments_has(arguments, OPT_ADDRESSES) ||
	    arguments_has(arguments, OPT_WITH)))
		return arguments_refuse(arguments, "--addresses and --with "
		    "are for --compare");
	if (is_compare)
		return import_compare(arguments);
	return is_queue ? import_queue_run(arguments) :
	    import_configuration(arguments);
}

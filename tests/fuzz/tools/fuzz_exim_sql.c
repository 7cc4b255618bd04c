/* fuzz_exim_sql.c - a query of exim4.conf to a database, as a definition
 *
 * Input: type and role of the query, a line each; mysql_servers,
 * pgsql_servers or sqlite_dbfile, a line; the query.
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/mman.h>
#include <unistd.h>

#include "mail/table/definition.h"
#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/import/exim/exim4.h"

static const char *const settings[] = { "mysql_servers", "pgsql_servers",
	"sqlite_dbfile" };
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* What was written is a definition: nothing of their text became a line, and
 * what is asked for goes as a parameter. */
static void
definition_look(const char *type, struct slice text)
{
	int fd = memfd_create("definition", 0);
	struct definition definition;
	char path[64];
	struct err err = { "" };

	MUST(fd >= 0);
	MUST(write(fd, text.p, text.n) == (ssize_t)text.n);
	/* as import_put makes it: it has a password */
	MUST(fchmod(fd, 0600) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (definition_read(type, path, &definition, &err) !=
	    DEFINITION_GOOD) {
		fprintf(stderr, "%s\n%.*s", err.text, (int)text.n, text.p);
		MUST(false);
	}
	MUST(definition.parameters > 0);
	MUST(definition.values[DEFINITION_LIST] == NULL);
	MUST(definition.values[DEFINITION_ADD] == NULL);
	MUST(definition.values[DEFINITION_CA] == NULL);
	definition_release(&definition);
	close(fd);
}

static void
setting_put(struct exim4 *exim, struct exim4_row *row, const char *name,
    struct slice value)
{
	row->said.kind = EXIM4_OPTION;
	row->said.section = EXIM4_MAIN;
	row->said.name = slice_of(name);
	row->value = value;
	exim->rows = row;
	exim->count = 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct import import;
	static struct exim4 exim;
	static const char *const order[] = { "exim4.conf", NULL };
	struct slice rest = slice_first(fuzz_slice(data, size), 4096);
	struct slice type = SLICE(""), role = SLICE(""), value = SLICE("");
	struct exim4_row row = { .is_used = false };
	const char *ours, *why = NULL, *name;

	if (!slice_cut(&rest, '\n', &type) || !slice_cut(&rest, '\n', &role) ||
	    !slice_cut(&rest, '\n', &value) ||
	    memchr(data, 0, size) != NULL)
		return 0;
	import = (struct import){ .arena = arena_new(), .mailer = "exim",
	    .order = order, .to = "/new" };
	exim = (struct exim4){ .import = &import, .files = "" };
	for (size_t i = 0; i < SETTINGS; i++)
		if (slice_starts(slice_of(settings[i]), slice_dup(import.arena,
		    type)))
			setting_put(&exim, &row, settings[i], value);
	name = slice_is(role, "domains") ? "domains" : "aliases";
	ours = exim4_question(&exim, type, rest, name, &why);
	MUST(ours != NULL || why != NULL);
	MUST(import.file_count == (ours != NULL));
	if (ours != NULL) {
		definition_look(slice_dup(import.arena, type),
		    str_slice(&import.files[0].text));
		/* the same again is the same table */
		MUST(strcmp(exim4_question(&exim, type, rest, name, &why),
		    ours) == 0);
		MUST(import.file_count == 1);
		str_release(&import.files[0].text);
	}
	arena_free(&import.arena);
	return 0;
}

/* run.c - read, decide, lay out: an import from its beginning to its end
 *
 * In     the directory of Postfix
 * Out    a struct import that is ready to be printed and put
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/import/import.h"

#include "base/banned.h"

void
import_begin(struct import *import, struct arena *arena, const char *dir,
    const char *to)
{
	*import = (struct import){ .arena = arena, .dir = dir, .to = to,
	    .domains = STR_INIT, .listens = { -1, -1, -1 } };
}

/* Services that are listeners name the statement that was made of them. */
static void
listeners_point(struct import *import)
{
	for (size_t i = 0; i < import->finding_count; i++) {
		struct import_finding *finding = &import->findings[i];

		if (finding->port > 0)
			finding->statement = import->listens[finding->port ==
			    25 ? 0 : finding->port == 587 ? 1 : 2];
	}
}

int
import_postfix(struct import *import, struct str *out_conf, struct err *err)
{
	struct slice text;
	const char *path;

	path = arena_printf(import->arena, "%s/main.cf", import->dir);
	if (import_file_take(import->arena, path, &text, err) != 0)
		return err_prefix(err, "%s", path);
	import_read_main(import->arena, text, &import->settings);
	path = arena_printf(import->arena, "%s/master.cf", import->dir);
	if (import_file_take(import->arena, path, &text, err) == 0)
		import_read_master(import->arena, text, &import->services);
	else
		import_find(import, &(struct import_finding){
		    .file = "master.cf", .name = "master.cf", .value = "",
		    .kind = IMPORT_MISSING, .statement = -1,
		    .text = arena_printf(import->arena, "%s: %s; a listener "
		    "on port 25 is assumed", path, err->text) });
	import_visit(import);
	listeners_point(import);
	import_lay_out(import, out_conf);
	import_verify(import, out_conf);
	return 0;
}

void
import_end(struct import *import)
{
	for (size_t i = 0; i < import->file_count; i++)
		str_release(&import->files[i].text);
	str_release(&import->domains);
}

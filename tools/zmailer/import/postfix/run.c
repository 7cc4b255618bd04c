/* run.c - Postfix's directory is read from beginning to end
 *
 * In     main.cf and master.cf
 * Out    a struct import that is ready to be laid out
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

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
import_postfix(struct import *import, const char *path, struct err *err)
{
	static const char *const order[] = { "main.cf", "master.cf", NULL };
	struct slice text;

	import->dir = path;
	import->order = order;
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
	return 0;
}

/* run.c - an import from its beginning to its end
 *
 * In     what a reader said
 * Out    a struct import that is ready to be printed and put
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/import/import.h"

#include "base/banned.h"

void
import_begin(struct import *import, struct arena *arena, const char *mailer,
    const char *to)
{
	static const char *const none[] = { NULL };

	*import = (struct import){ .arena = arena, .mailer = mailer, .to = to,
	    .dir = "", .order = none, .domains = STR_INIT,
	    .listens = { -1, -1, -1 } };
}

void
import_finish(struct import *import, struct str *out_conf)
{
	import_lay_out(import, out_conf);
	import_verify(import, out_conf);
}

void
import_end(struct import *import)
{
	for (size_t i = 0; i < import->file_count; i++)
		str_release(&import->files[i].text);
	str_release(&import->domains);
}

/* engines.c - the engines that were built in
 *
 * In     the type of a table
 * Out    who asks for it
 * Holds  nothing
 * Spec   engine.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tables/engine/engine.h"

#include "base/banned.h"

enum { DIR_BYTES = 4096 };

static const struct engine *const engines[] = {
#ifdef HAVE_PGSQL
	&engine_pgsql,
#endif
#ifdef HAVE_MARIADB
	&engine_mysql,
#endif
#ifdef HAVE_SQLITE3
	&engine_sqlite,
#endif
#ifdef HAVE_LDAP
	&engine_ldap,
#endif
	&engine_redis, &engine_socketmap, &engine_tcp,
};

const struct engine *
engine_of(const char *type)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (strcmp(engines[i]->name, type) == 0)
			return engines[i];
	return NULL;
}

bool
engine_add_row(struct str *out, struct slice row, unsigned rows,
    struct err *err)
{
	if (rows >= ENGINE_ROWS_MAX ||
	    out->len + row.n + 2 > ENGINE_VALUE_BYTES_MAX) {
		err_set(err, "the answer has more than %u rows, or %u bytes",
		    ENGINE_ROWS_MAX, ENGINE_VALUE_BYTES_MAX);
		return false;
	}
	if (rows > 0)
		str_adds(out, ", ");
	str_add_slice(out, row);
	return true;
}

void
engine_lock_in(const struct definition *definition, struct sandbox *out)
{
	static char ca_dir[DIR_BYTES];
	const char *ca = definition->values[DEFINITION_CA];

	if (ca != NULL && strlcpy(ca_dir, ca, sizeof(ca_dir)) <
	    sizeof(ca_dir)) {
		*strrchr(ca_dir, '/') = '\0';
		out->readable[out->readable_count++] = ca_dir[0] != '\0' ?
		    ca_dir : "/";
	}
	out->readable[out->readable_count++] = "/etc";
	out->readable[out->readable_count++] = "/usr";
	out->readable[out->readable_count++] = "/lib";
	out->sockets = SOCKETS_ALL;
}

/* fuzz_definition.c - any bytes as the file of a table in a database
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/table/definition.h"
#include "tables/engine/query.h"
#include "tests/fuzz/fuzz.h"

static void
definition_must(const struct definition *definition)
{
	struct slice key = SLICE("a@b@c"), forms[DEFINITION_PARAMETERS];
	struct query query;

	definition_parameters(key, forms);
	MUST(forms[1].n == 3 && forms[2].n == 1);
	MUST(!definition->may_write);
	for (enum definition_word word = DEFINITION_ADD;
	    word <= DEFINITION_REMOVE; word++) {
		if (definition->values[word] == NULL)
			continue;
		query_render(&query, definition->values[word], QUERY_DOLLAR);
		MUST(query.count >= 1 && query.count <= DEFINITION_WRITTEN);
		query_release(&query);
	}
	if (definition->values[DEFINITION_QUERY] == NULL)
		return;
	for (enum query_style style = QUERY_DOLLAR; style <= QUERY_MARK;
	    style++) {
		query_render(&query, definition->values[DEFINITION_QUERY],
		    style);
		MUST(query.count >= 1);
		MUST(query.count <= (style == QUERY_MARK ?
		    DEFINITION_PLACES_MAX : definition->parameters));
		query_release(&query);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const types[] = { "pgsql", "mysql", "sqlite",
		"socketmap" };
	struct definition definition;
	struct err err = { "" };
	char path[64];
	int fd = memfd_create("definition", MFD_CLOEXEC);

	if (fd < 0 || fchmod(fd, 0600) < 0 || write(fd, data, size) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (definition_read(types[i], path, &definition, &err) ==
		    DEFINITION_GOOD)
			definition_must(&definition);
		else
			MUST(err.text[0] != '\0');
		definition_release(&definition);
	}
	close(fd);
	return 0;
}

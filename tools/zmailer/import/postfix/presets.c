/* presets.c - Postfix's defaults for parameters that main.cf does not set
 *
 * In     the name of a parameter
 * Out    its preset, as rows.h has it
 * Holds  nothing
 * Spec   postconf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/units.h"
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

static const struct {
	const char	*name, *preset;
} presets[] = {
#define IMPORT_NOTHING(name, preset, text)		{ name, preset },
#define IMPORT_DIFFERENT(name, preset, text)		{ name, preset },
#define IMPORT_LACKS(name, preset, text)		{ name, preset },
#define IMPORT_WITH(name, preset, text)			{ name, preset },
#define IMPORT_STATEMENT(name, preset, part, text)	{ name, preset },
#define IMPORT_FUNCTION(name, preset, function)		{ name, preset },
#include "tools/zmailer/import/postfix/rows.h"
};

const char *
import_preset(struct slice name)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (glob_match(slice_of(presets[i].name), name))
			return presets[i].preset;
	return NULL;
}

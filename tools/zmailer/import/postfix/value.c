/* value.c - values of main.cf, expanded
 *
 * In     the settings that were read; the presets of rows.h
 * Out    values; paths as they are here
 * Holds  nothing
 * Spec   postconf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <unistd.h>

#include "io/unix_socket.h"
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

const struct import_setting *
import_setting(const struct import *import, const char *name)
{
	for (size_t i = import->settings.count; i-- > 0;)
		if (import->settings.rows[i].wrong == NULL &&
		    slice_is(import->settings.rows[i].name, name))
			return &import->settings.rows[i];
	return NULL;
}

bool
import_is_set(const struct import *import, const char *name)
{
	return import_value(import, name).n > 0 &&
	    import_setting(import, name) != NULL;
}

/* As it stands in myhostname: filled in, that may name mydomain. */
static struct slice
unsaid_domain(const struct import *import)
{
	const struct import_setting *setting = import_setting(import,
	    "myhostname");
	struct slice host = setting != NULL ? setting->value :
	    slice_of(import_machine_name(import->arena));
	struct slice domain = slice_from(host, slice_find(host, '.') + 1);

	return domain.n > 0 && slice_find(domain, '$') == domain.n ? domain :
	    SLICE("localdomain");
}

static bool
value_lookup(void *context, struct slice name, struct slice *out_value)
{
	static const struct { const char *name, *value; } places[] = {
		{ "queue_directory", "/var/spool/postfix" },
		{ "config_directory", "/etc/postfix" },
		{ "data_directory", "/var/lib/postfix" },
		{ "mail_name", "Postfix" },
	};
	const struct import *import = context;
	const struct import_setting *setting = import_setting(import,
	    slice_dup(import->arena, name));
	const char *preset = import_preset(name);

	if (setting != NULL) {
		*out_value = setting->value;
		return true;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (slice_is(name, places[i].name))
			preset = places[i].value;
	*out_value = slice_of(preset);
	if (slice_is(name, "myhostname"))
		*out_value = slice_of(import_machine_name(import->arena));
	else if (slice_is(name, "mydomain"))
		*out_value = unsaid_domain(import);
	return out_value->n > 0;
}

struct slice
import_fill(const struct import *import, struct slice value, struct err *err)
{
	struct slice out;

	if (import_expand(import->arena, value, value_lookup,
	    (void *)(uintptr_t)import, &out, err) != 0)
		return SLICE("");
	return out;
}

struct slice
import_value(const struct import *import, const char *name)
{
	struct slice value;

	if (!value_lookup((void *)(uintptr_t)import, slice_of(name), &value))
		return SLICE("");
	return import_fill(import, value, NULL);
}

bool
import_is_yes(const struct import *import, const char *name)
{
	return slice_is_nocase(import_value(import, name), "yes");
}

const char *
import_path(const struct import *import, struct slice path)
{
	static const char home[] = "/etc/postfix/";
	const char *here;
	struct slice rest;

	if (slice_starts(path, home)) {
		rest = slice_from(path, sizeof(home) - 1);
		here = arena_printf(import->arena, "%s/" SLICE_FMT,
		    import->dir, SLICE_ARG(rest));
		if (access(here, F_OK) == 0)
			return here;
	}
	if (slice_starts(path, "/"))
		return slice_dup(import->arena, path);
	return arena_printf(import->arena, SLICE_FMT "/" SLICE_FMT,
	    SLICE_ARG(import_value(import, "queue_directory")),
	    SLICE_ARG(path));
}

const char *
import_socket(struct import *import, struct slice text)
{
	struct slice path;

	if (unix_socket_path(text, &path) || slice_starts(text, "local:"))
		return import_word(import, slice_of(arena_printf(
		    import->arena, "unix:%s", import_path(import,
		    slice_from(text, slice_find(text, ':') + 1)))));
	if (slice_starts(text, "inet:localhost:"))
		text = slice_of(arena_printf(import->arena,
		    "inet:127.0.0.1" SLICE_FMT, SLICE_ARG(slice_from(text,
		    sizeof("inet:localhost") - 1))));
	return slice_starts(text, "inet:") ? import_word(import, text) : NULL;
}

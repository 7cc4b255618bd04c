/* relay.c - clients that may relay, and domains that we relay for
 *
 * In     mynetworks, relay_domains, relay_recipient_maps
 * Out    accept from NET for any; accept to DOMAIN for any
 * Holds  nothing
 * Spec   zmailer.conf(5), accept
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/net.h"
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

/* "[2001:db8::]/32" without its brackets. */
static const char *
network_word(struct import *import, struct slice text)
{
	size_t shut = slice_find(text, ']');
	struct net net;

	if (slice_starts(text, "[") && shut < text.n)
		text = slice_of(arena_printf(import->arena, SLICE_FMT
		    SLICE_FMT, SLICE_ARG(((struct slice){ text.p + 1,
		    shut - 1 })), SLICE_ARG(slice_from(text, shut + 1))));
	return net_parse(text, &net, NULL) == 0 ? import_word(import, text) :
	    NULL;
}

static bool
network_is_loopback(const char *word)
{
	return strncmp(word, "127.", 4) == 0 || strncmp(word, "::1", 3) == 0 ||
	    strncmp(word, "::ffff:127.", 11) == 0;
}

static void
network_say(struct import *import, const char *name, struct slice text)
{
	const char *word = network_word(import, text);

	if (word == NULL)
		import_note(import, name, text, IMPORT_MISSING,
		    "it is no network: write `accept from NET for any`");
	else if (network_is_loopback(word))
		import_note(import, name, text, IMPORT_NOT_NEEDED,
		    "loopback may relay: a preset rule");
	else
		import_say(import, IMPORT_RELAYING, name,
		    "accept from %s for any", word);
}

static void
networks_of_table(struct import *import, const char *name, struct slice spec)
{
	struct import_map map;

	while (import_map_next(import, name, &spec, &map)) {
		if (map.is_networks)
			import_read_table(import->arena,
			    map.entries.rows[0].key, &map.entries);
		for (size_t i = 0; !map.is_patterns &&
		    i < map.entries.count; i++)
			network_say(import, name, map.entries.rows[i].key);
		if (map.is_patterns)
			import_note(import, name, map.spec, IMPORT_MISSING,
			    "patterns: write `accept from NET for any`");
	}
}

/* Do the lists that decide about relaying let mynetworks through? */
static bool
networks_may_relay(struct import *import)
{
	struct slice rest = import_value(import, "smtpd_relay_restrictions");
	struct slice word;

	if (rest.n == 0)
		rest = import_value(import, "smtpd_recipient_restrictions");
	while (import_list_next(&rest, &word))
		if (slice_is(word, "permit_mynetworks"))
			return true;
	return false;
}

void
import_networks(struct import *import, const char *name)
{
	struct slice rest = import_value(import, name), one, text, line;
	struct import_lines lines;
	unsigned number;
	struct err err;

	if (!networks_may_relay(import)) {
		import_note(import, name, SLICE(""), IMPORT_DIFFERS,
		    "no list about relaying has permit_mynetworks: these may "
		    "not relay; loopback may, by a preset rule");
		return;
	}
	if (import_setting(import, name) == NULL &&
	    !slice_is(import_value(import, "mynetworks_style"), "host"))
		import_note(import, "mynetworks_style", SLICE(""),
		    IMPORT_MISSING, "write `accept from NET for any` for the "
		    "networks that are meant");
	while (import_list_next(&rest, &one)) {
		if (slice_starts(one, "/")) {
			if (import_file_take(import->arena, import_path(
			    import, one), &text, &err) != 0) {
				import_note(import, name, one, IMPORT_MISSING,
				    "it cannot be read: %s", err.text);
				continue;
			}
			lines = (struct import_lines){ text, 0 };
			while (import_line_next(import->arena, &lines, &line,
			    &number))
				while (import_list_next(&line, &text))
					network_say(import, name, text);
		} else if (slice_starts(one, "hash:") ||
		    slice_starts(one, "cidr:") || slice_starts(one, "proxy:"))
			networks_of_table(import, name, one);
		else
			network_say(import, name, one);
	}
}

/* ---- relay domains ------------------------------------------------------ */

static void
relay_domain_say(struct import *import, void *context, struct slice domain)
{
	const char *word, *key;

	(void)context;
	if (slice_starts(domain, "<")) {
		import_say(import, IMPORT_RELAYING, "relay_domains",
		    "accept to " SLICE_FMT " for any", SLICE_ARG(domain));
		return;
	}
	word = import_domain(import, domain);
	if (word == NULL) {
		import_note(import, "relay_domains", domain, IMPORT_MISSING,
		    "it is no name of a domain");
		return;
	}
	key = arena_printf(import->arena, " %s ", word);
	if (strstr(import->domains.buf, key) != NULL)
		return;		/* its mail ends here anyway */
	import_say(import, IMPORT_RELAYING, "relay_domains",
	    "accept to @%s for any\naccept to *@*.%s for any", word, word);
}

void
import_relay_domains(struct import *import, const char *name)
{
	static const char maps[] = "relay_recipient_maps";
	const char *users;

	if (!import_is_set(import, name))
		return;
	if (!import_is_set(import, maps)) {
		import_domains_each(import, name, relay_domain_say, NULL);
		return;
	}
	users = import_users_add(import, maps, import_value(import, maps));
	if (users[0] == '\0') {
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "write `accept to <TABLE> for any` once "
		    "relay_recipient_maps has one; until then mail for "
		    "these domains is refused");
		return;
	}
	import_say(import, IMPORT_RELAYING,
	    "relay_domains relay_recipient_maps", "accept to %s for any",
	    users);
}

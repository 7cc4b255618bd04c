/* result.c - what came of a publish
 *
 * In     what each node said; its newest version
 * Out    a table; SPOOL/desk/publish/sent, an event
 * Holds  nothing
 * Trusts no node to be there
 * Spec   steps.h; zmailer-config(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "journal/event.h"
#include "tools/publish/steps.h"
#include "tools/versions/versions.h"

#include "base/banned.h"

static void
publish_look_versions(struct publish *publish)
{
	struct publish_order look = { .verb = PUBLISH_LOOK };
	struct str words = STR_INIT;
	struct slice rest, word;
	uint64_t number;

	strlcpy(look.id, publish->id, sizeof(look.id));
	for (size_t i = 0; i < publish->count; i++) {
		struct publish_node *node = &publish->nodes[i];

		if (node->is_kept && publish_ask(publish->conf, node->name,
		    &look, SLICE(""), &words) == PUBLISH_DONE) {
			rest = str_slice(&words);
			if (slice_word(&rest, &word) &&
			    slice_word(&rest, &word) &&
			    slice_number(word, 0, UINT32_MAX, &number))
				node->version = (unsigned)number;
		}
	}
	str_release(&words);
}

void
publish_table(struct publish *publish)
{
	bool is_json = arguments_has(publish->arguments, OPT_JSON);
	struct str out = STR_INIT;

	publish_look_versions(publish);
	if (!is_json)
		str_addf(&out, "%-20s %-8s %-8s %s\n", "NODE", "TAKEN",
		    "KEPT", "VERSION");
	for (size_t i = 0; i < publish->count; i++) {
		const struct publish_node *node = &publish->nodes[i];

		if (is_json) {
			json_open_answer(&out);
			json_text(&out, "node", slice_of(node->name));
			json_bool(&out, "left_out", node->is_left_out);
			json_bool(&out, "taken", node->is_taken);
			json_bool(&out, "kept", node->is_kept);
			json_number(&out, "version", node->version);
			json_close(&out);
		} else if (node->is_left_out) {
			str_addf(&out, "%-20s left out\n", node->name);
		} else {
			str_addf(&out, "%-20s %-8s %-8s %u\n", node->name,
			    node->is_taken ? "yes" : "NO", node->is_kept ?
			    "yes" : "NO", node->version);
		}
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

unsigned
publish_version_here(const struct conf *conf)
{
	unsigned numbers[VERSIONS_MAX + 2];
	size_t count = versions_list(conf->spool_dir, numbers);

	return count == 0 ? 0 : numbers[count - 1];
}

void
publish_note(const struct publish *publish)
{
	char by[64];
	struct publish_record sent = { .from = publish->conf->cluster.self,
		.who = by, .sum = "", .since_s = clock_wall_s(),
		.version = publish_version_here(publish->conf) };
	struct str nodes = STR_INIT;
	struct err err;

	verb_who(by, sizeof(by));
	strlcpy(sent.id, publish->id, sizeof(sent.id));
	if (record_write(publish->conf->spool_dir, RECORD_SENT, &sent, &err) <
	    0)
		(void)publish_tell("undo --cluster will not know of this: "
		    "%s", err.text);
	for (size_t i = 0; i < publish->count; i++)
		if (publish->nodes[i].is_kept)
			str_addf(&nodes, "%s%s", nodes.len > 0 ? "," : "",
			    publish->nodes[i].name);
	(void)event_open(publish->conf->log_dir);
	event(EV_CONFIG_PUBLISHED, NULL, "publish", slice_of(sent.id),
	    "nodes", str_slice(&nodes), "by", slice_of(by), "version",
	    event_number(sent.version), NULL);
	event_flush();
	str_release(&nodes);
}

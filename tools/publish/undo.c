/* undo.c - the last publish of this node is taken back everywhere
 *
 * In     the record of what was sent; what the takers of other nodes answer
 * Out    undos; a line for each node
 * Holds  nothing
 * Trusts no node to be there
 * Spec   publish.h; doc/CLUSTER.md; doc/protocol/nodes.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "tools/publish/steps.h"

#include "base/banned.h"

/* Which one was the last: EX_OK, or a status after words about it. */
static int
undo_find(struct publish *publish)
{
	struct publish_record sent;
	struct err err = { "" };

	if (!conf_asks_nodes(publish->conf))
		return publish_tell("no cluster with a desk is configured "
		    "(zmailer help desk)");
	if (record_read(publish->conf->spool_dir, RECORD_SENT, publish->arena,
	    &sent, &err) != RECORD_READ) {
		(void)publish_tell("this node has published nothing%s%s",
		    err.text[0] == '\0' ? "" : ": ", err.text);
		return 1;
	}
	strlcpy(publish->id, sent.id, sizeof(publish->id));
	if (publish_version_here(publish->conf) == sent.version)
		return EX_OK;
	(void)publish_tell("the configuration of this node was changed "
	    "after it was published: zmailer config undo, and publish that");
	return 1;
}

/* What each would do; one with other files since says so when it is asked. */
static int
undo_show(struct publish *publish)
{
	struct publish_order look = { .verb = PUBLISH_LOOK };
	int status = EX_OK;

	strlcpy(look.id, publish->id, sizeof(look.id));
	for (size_t i = 0; i < publish->count; i++) {
		struct publish_node *node = &publish->nodes[i];
		enum publish_said said = publish_ask(publish->conf,
		    node->name, &look, SLICE(""), &node->words);

		if (said != PUBLISH_DONE) {
			node_say(node, said == PUBLISH_REFUSED ? "" :
			    "does not answer: ");
			status = EX_TEMPFAIL;
		} else if (slice_starts(str_slice(&node->words), "kept ")) {
			printf("%s would have what it had before, if its "
			    "files are unchanged since\n", node->name);
		} else {
			printf("%s would refuse: it has gone back already, "
			    "never had it, or has a later one\n", node->name);
		}
	}
	puts("nothing was changed");
	return status;
}

static int
undo_steps(struct publish *publish)
{
	int status = undo_find(publish);

	if (status != EX_OK)
		return status;
	publish_list(publish);
	if (arguments_has(publish->arguments, OPT_DRY_RUN))
		return undo_show(publish);
	if (!arguments_has(publish->arguments, OPT_YES)) {
		(void)publish_tell("undo --cluster: say --yes to do this");
		return EX_USAGE;
	}
	for (size_t i = 0; i < publish->count; i++) {
		struct publish_node *node = &publish->nodes[i];
		enum publish_said said = publish_order_node(publish, node,
		    PUBLISH_UNDO, 0);

		if (said == PUBLISH_DONE) {
			printf("%s has what it had before\n", node->name);
			continue;
		}
		node_say(node, said == PUBLISH_REFUSED ? "" :
		    "does not answer: ");
		status = said == PUBLISH_REFUSED && status != EX_TEMPFAIL ?
		    1 : EX_TEMPFAIL;
	}
	fflush(stdout);
	if (status == 1)
		(void)publish_tell("this node was not changed, because "
		    "another one refuses: zmailer config undo goes back here");
	return status;
}

int
publish_undo_all(const struct arguments *arguments,
    publish_undo_fn *undo_here)
{
	int status = publish_with(arguments, undo_steps);

	return status == EX_OK || status == EX_TEMPFAIL ?
	    (undo_here(arguments) == EX_OK ? status : EX_TEMPFAIL) : status;
}

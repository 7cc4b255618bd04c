/* cluster.c - zmailer cluster: which of it is asked
 *
 * In     arguments
 * Out    what status.c and init.c print
 * Holds  nothing
 * Spec   zmailer-cluster(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <sysexits.h>

#include "tools/copies/sweep.h"
#include "tools/zmailer/cluster/cluster.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

static int
cluster_sweep(const struct conf *conf, bool is_dry)
{
	struct copies_swept swept;
	struct err err;

	if (copies_sweep(conf, is_dry, &swept, &err) < 0)
		return verb_failed("cluster sweep", &err, EX_UNAVAILABLE);
	printf("%" PRIu64 " copies of this node, %" PRIu64 " of messages that "
	    "are not here%s\n", swept.rows, swept.gone - swept.older, is_dry ||
	    swept.gone == swept.older ? "" : ": removed");
	if (swept.older == 0)
		return EX_OK;
	printf("%" PRIu64 " more are older than this spool: mail of a machine "
	    "that had this name.  zmailer stop here, then on another node: "
	    "zmailer cluster takeover %s\n", swept.older, conf->cluster.self);
	return 1;
}

static int
cluster_do(const struct conf *conf, struct arguments *arguments)
{
	bool is_json = arguments_has(arguments, OPT_JSON);
	const char *node;

	if (arguments_is(arguments, "status"))
		return cluster_status(conf, is_json);
	if (!conf_keeps_copies(conf)) {
		fputs("zmailer: cluster: no cluster with a postgres is "
		    "configured (zmailer help cluster)\n", stderr);
		return EX_CONFIG;
	}
	if (arguments_is(arguments, "sweep"))
		return cluster_sweep(conf, arguments_has(arguments,
		    OPT_DRY_RUN));
	(void)arguments_is(arguments, "takeover");
	node = arguments_word(arguments, 0);
	if (node == NULL)
		return arguments_refuse(arguments, "which node is lost?");
	return cluster_takeover(conf, node, arguments_has(arguments,
	    OPT_YES), is_json);
}

int
verb_cluster(struct arguments *arguments)
{
	struct conf *conf;
	int status;

	if (arguments_is(arguments, "init"))
		return cluster_init();
	if (arguments_is(arguments, "keys")) {
		/* the file's: what is in force may wait for these keys */
		conf = verb_conf_file(arguments->conf_path);
		status = arguments_word(arguments, 0) == NULL ?
		    arguments_refuse(arguments, "into which directory?") :
		    cluster_keys(conf, arguments_word(arguments, 0));
	} else {
		conf = verb_conf(arguments->conf_path);
		status = cluster_do(conf, arguments);
	}
	conf_free(&conf);
	return status;
}

/* cluster.c - zmailer cluster: which of it is asked
 *
 * In     arguments
 * Out    what status.c and init.c print
 * Holds  nothing
 * Spec   zmailer-cluster(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/cluster/cluster.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

int
verb_cluster(struct arguments *arguments)
{
	struct conf *conf;
	int status;

	if (arguments_is(arguments, "init"))
		return cluster_init();
	if (!arguments_is(arguments, "status"))
		return arguments_refuse(arguments, "status or init?");
	conf = verb_conf(arguments->conf_path);
	status = cluster_status(conf, arguments_has(arguments, OPT_JSON));
	conf_free(&conf);
	return status;
}

/* published.c - do the other nodes of a cluster have our configuration?
 *
 * In     what they say of theirs
 * Out    findings
 * Trusts nothing in it: names of files are escaped
 * Spec   zmailer-doctor(8); doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/publish/drift.h"
#include "tools/zmailer/doctor/doctor.h"

#include "base/banned.h"

void
doctor_published(struct doctor *doctor)
{
	struct publish_drift *nodes;
	struct err err;
	size_t count;

	if (publish_drift(doctor->conf, doctor->arena, &nodes, &count,
	    &err) < 0)
		doctor_add(doctor, DOCTOR_WARN, "cluster",
		    "zmailer config files", "the configuration of the other "
		    "nodes cannot be compared: %s", err.text);

	for (size_t i = 0; i < count; i++) {
		const struct publish_drift *node = &nodes[i];

		if (!node->is_known)
			doctor_add(doctor, DOCTOR_WARN, "cluster",
			    "zmailer cluster status", "%s does not tell its "
			    "configuration: %s", node->node, node->err);
		else if (node->files[0] != '\0' && node->may_differ)
			doctor_add(doctor, DOCTOR_OK, "cluster", "",
			    "%s differs while a publish is tried: %s",
			    node->node, node->files);
		else if (node->files[0] != '\0')
			doctor_add(doctor, DOCTOR_WARN, "cluster",
			    "zmailer config publish, on the node whose files "
			    "are right", "%s has another configuration than "
			    "this node: %s", node->node, node->files);
		else
			doctor_add(doctor, DOCTOR_OK, "cluster", "",
			    "%s has the configuration of this node",
			    node->node);
	}
}

/* cluster.c - the cluster statement as it would be written
 *
 * In     the cluster
 * Out    its words
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/read/read.h"
#include "conf/settings/conf.h"
#include "grammar/units.h"

#include "base/banned.h"

static void
cluster_add_tls(struct str *out, const struct conf_cluster *cluster)
{
	const struct {
		const char *word, *path;
	} parts[] = {
		{ " ca ", cluster->roots },
		{ " certificate ", cluster->certificate },
		{ " key ", cluster->key },
	};

	str_adds(out, "; tls");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].path != NULL) {
			str_adds(out, parts[i].word);
			conf_add_word(out, parts[i].path);
		}
}

static void
cluster_add_copies(struct str *out, const struct conf_cluster *cluster)
{
	str_adds(out, "; postgres ");
	conf_add_word(out, cluster->postgres);
	if (cluster->postgres_password_path != NULL) {
		str_adds(out, " password ");
		conf_add_word(out, cluster->postgres_password_path);
	}
	str_addf(out, "; copies else %s size ",
	    cluster->copies_defer ? "defer" : "accept");
	units_add_bytes(out, cluster->copy_bytes_max);
	str_addf(out, " lease %s", cluster->delivers_alone ? "go-on" :
	    "wait");
}

/* Those with an address have a statement each. */
static void
cluster_add_nodes(struct str *out, const struct conf_cluster *cluster)
{
	bool is_begun = true;

	for (size_t i = 0; i < cluster->node_count; i++) {
		const char *at = cluster->node_ats[i];

		if (!is_begun || (at != NULL && i > 0))
			str_adds(out, "; node");
		str_addf(out, " %s", cluster->nodes[i]);
		if (at != NULL)
			str_addf(out, " at %s", at);
		is_begun = at == NULL;
	}
}

static void
cluster_add_asks(struct str *out, const struct conf_cluster *cluster)
{
	str_adds(out, "; desk ca ");
	conf_add_word(out, cluster->desk_ca);
	str_adds(out, " certificate ");
	conf_add_word(out, cluster->desk_certificate);
	if (cluster->desk_key != NULL) {
		str_adds(out, " key ");
		conf_add_word(out, cluster->desk_key);
	}
}

void
conf_cluster_add(struct str *out, const struct conf_cluster *cluster)
{
	str_addf(out, "%s { node", cluster->name);
	cluster_add_nodes(out, cluster);
	str_addf(out, "; self %s", cluster->self);
	for (size_t i = 0; i < cluster->server_count; i++)
		str_addf(out, "%s %s", i == 0 ? "; redis" : "",
		    cluster->servers[i]);
	if (cluster->master != NULL) {
		str_adds(out, "; sentinel ");
		conf_add_word(out, cluster->master);
	}
	for (size_t i = 0; i < cluster->sentinel_count; i++)
		str_addf(out, " %s", cluster->sentinels[i]);
	if (cluster->sentinel_password_path != NULL) {
		str_adds(out, "; sentinel-password ");
		conf_add_word(out, cluster->sentinel_password_path);
	}
	if (cluster->password_path != NULL) {
		str_adds(out, "; password ");
		conf_add_word(out, cluster->password_path);
	}
	if (cluster->is_tls)
		cluster_add_tls(out, cluster);
	if (cluster->postgres != NULL)
		cluster_add_copies(out, cluster);
	if (cluster->takeover_after_ms > 0) {
		str_adds(out, "; takeover after ");
		units_add_span(out, cluster->takeover_after_ms);
	}
	if (cluster->desk_ca != NULL)
		cluster_add_asks(out, cluster);
	for (size_t i = 0; i < cluster->publisher_count; i++)
		str_addf(out, "%s %s", i == 0 ? "; publish from" : "",
		    cluster->publishers[i]);
	str_adds(out, "; patience ");
	units_add_span(out, cluster->patience_ms);
	str_adds(out, " }");
}

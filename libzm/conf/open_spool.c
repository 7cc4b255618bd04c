/* open_spool.c - the spool that a configuration says, as `sync` says
 *
 * In     a conf, or what a message needs of one
 * Out    its spool, open
 * Spec   zmailer.conf(5), spool, hash, sync; mail/spool/spool.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "conf/conf.h"

#include "base/banned.h"

int
conf_brief_spool_open(const struct conf_brief *brief, enum spool_flags more,
    struct spool **out, struct err *err)
{
	if (brief->sync == SYNC_STRICT)
		more |= SPOOL_STRICT;
	else if (brief->sync == SYNC_UNSAFE)
		more |= SPOOL_UNSAFE_FS;
	else if (brief->sync == SYNC_EPHEMERAL)
		more |= SPOOL_MEMORY;
	if (spool_open(brief->spool_dir, more, brief->hash_levels, out,
	    err) != 0)
		return -1;
	spool_set_size(*out, brief->size_bytes);
	spool_set_node(*out, brief->node);
	return 0;
}

int
conf_spool_open(const struct conf *conf, enum spool_flags more,
    struct spool **out, struct err *err)
{
	struct conf_brief brief;

	conf_brief_of(conf, &brief);
	return conf_brief_spool_open(&brief, more, out, err);
}

void
conf_make_id(const struct conf *conf, ino_t inode,
    char out_id[SPOOL_ID_BYTES])
{
	spool_id_make(clock_wall_us(), inode, out_id);
	spool_id_add_node(conf->cluster.node_digits, out_id);
}

/* open_spool.c - the spool that a configuration says, as `sync` says
 *
 * In     a conf, or what a message needs of one
 * Out    its spool, open
 * Spec   zmailer.conf(5), spool, hash, sync; mail/spool/spool.h
 *
 * SPDX-License-Identifier: ISC
 */
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

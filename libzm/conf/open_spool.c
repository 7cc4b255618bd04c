/* open_spool.c - the spool that a configuration says, as `sync` says
 *
 * In     a conf
 * Out    its spool, open
 * Spec   zmailer.conf(5), spool, hash, sync; mail/spool/spool.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/conf.h"

#include "base/banned.h"

int
conf_spool_open(const struct conf *conf, enum spool_flags more,
    struct spool **out, struct err *err)
{
	if (conf->sync == SYNC_STRICT)
		more |= SPOOL_STRICT;
	else if (conf->sync == SYNC_UNSAFE)
		more |= SPOOL_UNSAFE_FS;
	else if (conf->sync == SYNC_EPHEMERAL)
		more |= SPOOL_MEMORY;
	if (spool_open(conf->spool_dir, more, conf->hash_levels, out,
	    err) != 0)
		return -1;
	spool_set_size(*out, conf->limits.size_bytes);
	return 0;
}

/* queue.h - zmailer queue: what its files share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ZMAILER_QUEUE_H
#define ZM_ZMAILER_QUEUE_H

#include "conf/conf.h"

/* As the words of --by. */
enum queue_by {
	QUEUE_BY_PROVIDER, QUEUE_BY_DOMAIN, QUEUE_BY_SENDER, QUEUE_BY_USER,
	QUEUE_BY_CLIENT, QUEUE_BY_HOP, QUEUE_BY_COUNT
};

/* Print what waits, summed by one of them (a word of the option).
 * returns the exit status */
int queue_by_run(const struct conf *conf, const char *what, bool is_json);

#endif

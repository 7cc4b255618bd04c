/* metrics.h - what zmailer metrics looks up besides the counters
 *
 * Each appends its metrics as OpenMetrics text; heads come from the rows of
 * libzm/journal/metrics.h.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_METRICS_H
#define ZM_TOOLS_METRICS_H

#include "conf/conf.h"
#include "mail/spool/spool.h"
#include "tools/zmailer/verbs/verb.h"

/* Append all of them, as OpenMetrics text or in the older format of Prometheus;
 * if the caller may not read, the running instance answers.
 * returns the exit status, after words about it */
int metrics_text(const struct conf *conf, bool is_open, struct str *out);
/* Answer scrapers at that place until SIGTERM or SIGINT.
 * returns the exit status, after words about it */
int metrics_listen(const struct conf *conf,
    const struct arguments *arguments, const char *where);
/* Messages in the spool's directories, their age and size; free space on its
 * disk. */
void metrics_add_spool(struct str *out, const struct spool *spool,
    const char *dir);
/* What the scheduler has, if one answers: recipients by channel and state,
 * agents. */
void metrics_add_queue(struct str *out, const char *run_dir);
/* The progress of the daemons. */
void metrics_add_processes(struct str *out, const char *run_dir);
/* Other programs that mail depends on: those that the configuration names, and
 * next hops by LMTP. */
void metrics_add_neighbours(struct str *out, const struct conf *conf);
/* When the certificates of the configuration expire, if they can be read. */
void metrics_add_certificates(struct str *out, const struct conf *conf);

#endif

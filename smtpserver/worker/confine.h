/* confine.h - what a process of sessions keeps of the system
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_WORKER_CONFINE_H
#define ZM_SMTPSERVER_WORKER_CONFINE_H

#include "conf/conf.h"

/* Lock this process in, for good: it makes files in public/ and files them
 * in router/ and freezer/, writes the journal, and reads what lies beside
 * the configuration (NULL: none) and beside the tables.  Directories that
 * are not there now are not allowed.
 * returns enum sandbox_wall; -1 err */
int session_confine(const struct conf *conf, const char *conf_path,
    struct err *err);

/* May a process that was locked in with one configuration read the tables of
 * another? */
bool session_may_read(const struct conf *was, const struct conf *now);

#endif

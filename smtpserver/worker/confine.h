/* confine.h - the sandbox of a process with sessions
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_WORKER_CONFINE_H
#define ZM_SMTPSERVER_WORKER_CONFINE_H

#include "conf/conf.h"

/* Sandbox this process for good: it may make files in public/ and rename them
 * into router/ and freezer/, write the journal, and read the directories of the
 * configuration (NULL: none) and of the tables.  Directories that do not exist
 * now are not allowed.
 * returns enum sandbox_wall; -1 err */
int session_confine(const struct conf *conf, const char *conf_path,
    struct err *err);

/* May a process that was sandboxed with one configuration read the tables of
 * another? */
bool session_may_read(const struct conf *was, const struct conf *now);

#endif

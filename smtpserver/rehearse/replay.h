/* replay.h - smtpserver replay: lines of the record, decided again
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_REHEARSE_REPLAY_H
#define ZM_SMTPSERVER_REHEARSE_REPLAY_H

#include <stdbool.h>

/* "smtpserver replay", as `zmailer replay` calls it? */
bool replay_is_meant(int argc, char **argv);

/* A line of the record a line of stdin; an answer of JSON a line of stdout:
 * {"code":550,"status":"5.7.1","words":"...","by":"policy",
 *  "rule":"zmailer.conf:7","says":"reject from 192.0.2.0/24",
 *  "aside":true}, {"need":"dns name 192.0.2.1"} or {"bad":"..."}.
 * --ask-dns: what was not asked then is asked of the DNS now.  Writes nothing
 * anywhere.  Returns the exit status. */
int replay_run(int argc, char **argv);

#endif

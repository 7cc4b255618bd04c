/* standalone.h - one session on stdin and stdout
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_WORKER_STANDALONE_H
#define ZM_SMTPSERVER_WORKER_STANDALONE_H

#include <stdbool.h>

/* `smtpserver -bs [-C FILE]`, which sendmail -bs becomes: SMTP with the
 * caller on stdin and stdout, by the daemon's own code and the daemon's own
 * promise, whether it runs or not.  Whoever may not write into router/
 * leaves his messages in public/ (row S4).  Returns the exit status. */
int standalone_run(int argc, char **argv);

/* Is that what these arguments ask for? */
bool standalone_is_meant(int argc, char **argv);

#endif

/* rehearse.h - smtpserver test: the policy without a client
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_REHEARSE_REHEARSE_H
#define ZM_SMTPSERVER_REHEARSE_REHEARSE_H

#include <stdbool.h>

/* "smtpserver test ...", as `zmailer test` calls it? */
bool rehearse_is_meant(int argc, char **argv);

/* test smtp OPTION...: one mail; prints each rule that is tried.
 * test FILE...: rows and what is expected of them.
 * Returns the exit status: 0 as expected, 1 not, else <sysexits.h>. */
int rehearse(int argc, char **argv);

#endif

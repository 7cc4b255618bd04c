/* helper_kinds.h - what can be asked of helpers, one row each
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_LISTENER_HELPER_KINDS_H
#define ZM_SMTPSERVER_LISTENER_HELPER_KINDS_H

#include "smtpserver/helper/helper.h"

/* The rows; the last one has no name. */
extern const struct helper_kind helper_kinds[];

#endif

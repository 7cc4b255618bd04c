/* blocked.h - does a block of the cluster bar a client, a sender, a user?
 *
 * Such a block counts before all rules, in the words of those that zmailer
 * block writes.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_BLOCKED_H
#define ZM_SMTPSERVER_POLICY_BLOCKED_H

#include "smtpserver/policy/internal.h"

/* The rule that stands for the block of the client, of the user who logged in,
 * or, when the trial has one, of the sender; NULL: there is none.  Static. */
const struct conf_rule *blocked_by(struct trial *trial, bool has_sender);
/* That of the user alone. */
const struct conf_rule *blocked_user(struct trial *trial);

#endif

/* groups.h - the verbs of verbs.h in groups, in the order people meet them
 *
 * GROUP(title, verbs): every verb is in one.  The first has those of the first
 * week: `zmailer` without a verb says what each of them does, and only names
 * the others.  `zmailer help` and zmailer(8) have the same groups.
 *
 * SPDX-License-Identifier: ISC
 */
GROUP("The first week", "setup check start reload status hello doctor list "
    "why trace retry help")
GROUP("Running", "run stop restart watch top web metrics report audit events "
    "log")
GROUP("Configuration", "config import domain alias user smarthost cert dkim "
    "sts table")
GROUP("Messages", "show search hold release schedule reroute bounce "
    "delete undelete")
GROUP("Set aside", "review forward note learn resubmit freeze thaw")
GROUP("Destinations", "queue count connections zones suspend resume pin etrn "
    "orders")
GROUP("Abuse", "block unblock limit auth")
GROUP("Maintenance", "cluster move drain undrain fsck backup restore upgrade "
    "logrotate")
GROUP("Trying it", "test route dns replay whynot demo init sink classify "
    "completion")

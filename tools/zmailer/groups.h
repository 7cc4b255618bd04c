/* groups.h - the verbs as `zmailer` without one shows them
 *
 * GROUP(title, verbs): every verb of verbs.h is in one of them (a test
 * looks).  The first is for the first week: a line each, with its text.
 *
 * SPDX-License-Identifier: ISC
 */
GROUP("the first week", "setup start status check reload queue trace why list "
    "review domain doctor")
GROUP("messages", "show hold release freeze thaw retry reroute bounce schedule "
    "delete undelete")
GROUP("set aside", "resubmit forward note")
GROUP("destinations", "zones suspend resume pin limit etrn drain undrain "
    "orders")
GROUP("configuration", "config route test table alias smarthost dkim cert "
    "block unblock log")
GROUP("the host", "top report count metrics audit events logrotate classify "
    "fsck backup restore")
GROUP("processes", "run stop restart init demo sink hello completion help")

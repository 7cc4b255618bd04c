/* pages.h - manual pages of several verbs
 *
 * PAGE(page, verbs): page(8) has these verbs; every other verb of verbs.h has
 * a page zmailer-VERB(8) of its own.  `zmailer help` names the page; the
 * build makes zmailer-VERB.8 a link to it (doc/folder.mk).
 *
 * SPDX-License-Identifier: ISC
 */
PAGE("zmailer", "help demo check init run start stop restart reload status "
    "completion")
PAGE("zmailer-trace", "events logrotate")
PAGE("zmailer-order", "hold release freeze thaw retry reroute bounce schedule "
    "delete undelete move")
PAGE("zmailer-review", "forward note learn")
PAGE("zmailer-web", "search")
PAGE("zmailer-queue", "why count connections zones suspend resume pin etrn "
    "drain undrain orders")

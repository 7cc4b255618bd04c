/* orders.h - verbs that are orders to the scheduler about mail, a row each
 *
 * ORDER(verb, op, done, files, act)
 *   op     of doc/protocol/control.md
 *   done   the word for a message afterwards
 *   files  areas of messages set aside that the verb also works on, by act
 *   act    what it does with one of those; NULL
 *
 * SPDX-License-Identifier: ISC
 */
ORDER(hold, "hold", "held", 0, NULL)
ORDER(release, "release", "released", FREEZER | POSTMAN, selection_act_release)
ORDER(freeze, "freeze", "frozen", 0, NULL)
ORDER(thaw, "thaw", "thawed", 0, NULL)
ORDER(retry, "retry", "due now", 0, NULL)
ORDER(reroute, "reroute", "routed again", 0, NULL)
ORDER(bounce, "bounce", "bounced", DEFERRED | FREEZER | POSTMAN,
    selection_act_bounce)
ORDER(forward, NULL, "forwarded", DEFERRED | FREEZER | POSTMAN,
    selection_act_forward)
ORDER(note, NULL, "noted", DEFERRED | FREEZER | POSTMAN, selection_act_note)
ORDER(schedule, "schedule", "rescheduled", 0, NULL)
ORDER(delete, "delete", "deleted", DEFERRED | FREEZER | POSTMAN,
    selection_act_delete)
ORDER(undelete, "undelete", "undeleted", TRASH, selection_act_undelete)

/* orders.h - verbs that are orders to the scheduler about mail, a row each
 *
 * ORDER(verb, op, done, files, act, flags)
 *   op     of doc/protocol/control.md
 *   done   what is said of a message afterwards
 *   files  areas of messages set aside that the verb also works on, by act
 *   act    what it does with one of those; NULL
 *   flags  words of the command line that it takes beside the common ones
 *
 * SPDX-License-Identifier: ISC
 */
ORDER(hold, "hold", "held", 0, NULL, DESK_FOR)
ORDER(release, "release", "released", FREEZER | POSTMAN, desk_act_release,
    DESK_ALLOW)
ORDER(freeze, "freeze", "frozen", 0, NULL, 0)
ORDER(thaw, "thaw", "thawed", 0, NULL, 0)
ORDER(retry, "retry", "due now", 0, NULL, DESK_PACE)
ORDER(reroute, "reroute", "routed again", 0, NULL, 0)
ORDER(bounce, "bounce", "bounced", DEFERRED | FREEZER | POSTMAN,
    desk_act_bounce, 0)
ORDER(forward, NULL, "forwarded", DEFERRED | FREEZER | POSTMAN,
    desk_act_forward, DESK_TO)
ORDER(note, NULL, "noted", DEFERRED | FREEZER | POSTMAN, desk_act_note,
    DESK_REASON)
ORDER(schedule, "schedule", "rescheduled", 0, NULL, DESK_MOMENTS)
ORDER(delete, "delete", "deleted", DEFERRED | FREEZER | POSTMAN,
    desk_act_delete, 0)
ORDER(undelete, "undelete", "undeleted", TRASH, desk_act_undelete, 0)

/* rows.h - all that the desk may ask and order, a row each
 *
 * VERB(role, help, pattern)	a verb of zmailer(8)
 * SOCKET(role, help, pattern)	an operation of the scheduler's socket
 *   role     who may (web/session/role.h)
 *   help     how who helps users of some domains is kept to their mail
 *            (help.h): ALONE he may not; NARROW the selector is joined with
 *            one of theirs; FIRST the message is looked for with such a one
 *            before; SIFT what the answer says of others is left out
 *   pattern  of VERB the words, each to be said as it stands here, but
 *              A|B       one of these
 *              [ ... ]   or nothing of it
 *              ID        letters and digits
 *              NUMBER    digits
 *              TEXT      what somebody typed, 300 bytes of it
 *              SELECTOR  as TEXT, as long as a form
 *            of SOCKET the name and the members that a request may have;
 *            "#": a number
 *
 * What is typed stands after an option that takes it, or after "--".
 *
 * SPDX-License-Identifier: ISC
 */
VERB(LOOK, NARROW, "list --json --limit 50 [ --after ID ] [ -- SELECTOR ]")
VERB(LOOK, FIRST, "show -- ID")
VERB(LOOK, FIRST, "show --raw -- ID")
VERB(LOOK, SIFT, "trace --json -- ID")
VERB(LOOK, ALONE, "trace -- ID")
VERB(LOOK, ALONE, "review --list --json [ -- SELECTOR ]")
VERB(LOOK, ALONE, "events --json -n NUMBER -- SELECTOR")
VERB(LOOK, ALONE, "whynot --json -- ID")
VERB(LOOK, ALONE, "status --json")
VERB(LOOK, ALONE, "dkim list|check --json")
VERB(LOOK, ALONE, "doctor --json -- config processes standstill spool "
    "accounts certificates clock limits")
VERB(LOOK, ALONE, "doctor --json --timeout 5s")
VERB(LOOK, ALONE, "cert list --json")
VERB(LOOK, ALONE, "config history --json")
VERB(LOOK, ALONE, "config diff -- NUMBER")
VERB(LOOK, ALONE, "block list --json")
VERB(LOOK, ALONE, "limit list --json")

VERB(ACT, NARROW, "hold|release|retry --yes|--dry-run [ --reason TEXT ] "
    "-- SELECTOR")
VERB(ACT, ALONE, "reroute|bounce|delete|undelete --yes|--dry-run "
    "[ --reason TEXT ] -- SELECTOR")
VERB(ACT, ALONE, "release --yes|--dry-run --allow [ --reason TEXT ] "
    "-- SELECTOR")
VERB(ACT, ALONE, "forward --yes|--dry-run --to TEXT [ --reason TEXT ] "
    "-- SELECTOR")
VERB(ACT, ALONE, "note --yes|--dry-run --reason TEXT -- SELECTOR")

VERB(ADMINISTER, ALONE, "block --yes|--dry-run [ --for TEXT ] "
    "[ --reason TEXT ] -- TEXT")
VERB(ADMINISTER, ALONE, "unblock --yes|--dry-run [ --reason TEXT ] -- TEXT")
VERB(ADMINISTER, ALONE, "limit sender|dest --yes|--dry-run [ --for TEXT ] "
    "[ --reason TEXT ] -- TEXT [ TEXT ] [ TEXT ]")
VERB(ADMINISTER, ALONE, "limit remove sender|dest --yes|--dry-run "
    "[ --reason TEXT ] -- TEXT")
VERB(ADMINISTER, ALONE, "config undo --yes|--dry-run [ --reason TEXT ] "
    "-- TEXT")
VERB(ADMINISTER, ALONE, "suspend --yes [ --for TEXT ] [ --reason TEXT ] "
    "-- TEXT")
VERB(ADMINISTER, ALONE, "resume --yes -- TEXT")
VERB(ADMINISTER, ALONE, "pin --yes [ --for TEXT ] --limit TEXT "
    "[ --reason TEXT ] -- TEXT")
VERB(ADMINISTER, ALONE, "pin --limit 0 --yes [ --reason TEXT ] -- TEXT")
VERB(ADMINISTER, ALONE, "drain --timeout 1s --yes [ --reason TEXT ] --")
VERB(ADMINISTER, ALONE, "undrain --yes --")

SOCKET(LOOK, ALONE, "count by")
SOCKET(LOOK, ALONE, "destinations channel host")
SOCKET(LOOK, ALONE, "arrivals channel host")
SOCKET(LOOK, ALONE, "orders")
SOCKET(LOOK, ALONE, "history #span_s #points")
SOCKET(LOOK, FIRST, "why id")

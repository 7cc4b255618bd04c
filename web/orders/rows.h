/* rows.h - all that the desk may ask and order, a row each
 *
 * VERB(role, help, pattern)	a verb of zmailer(8)
 * SOCKET(role, help, pattern)	an operation of the scheduler's socket
 *   role     the role that may ask (web/session/role.h)
 *   help     how the role help is restricted to mail of its domains (help.h):
 *            ALONE it may not ask; NARROW the selector is joined with one of
 *            its domains; FIRST the message must be found by such a selector
 *            first; SIFT what the answer says about others is left out; OWN
 *            it is about nobody's mail, but the user's own searches
 *   pattern  of VERB: the words, to be used as they are written, except
 *              A|B       one of these
 *              [ ... ]   may be left out
 *              ID        letters and digits
 *              NUMBER    digits
 *              TEXT      what a person typed, at most 300 bytes
 *              SELECTOR  as TEXT, as long as a form
 *            of SOCKET: the name and the members that a request may have;
 *            "#": a number
 *
 * Typed text follows an option that takes it, or "--".
 *
 * SPDX-License-Identifier: ISC
 */
VERB(LOOK, NARROW, "list --json --limit 50 [ --after ID ] [ --cluster ] "
    "[ --node TEXT ] [ -- SELECTOR ]")
VERB(LOOK, FIRST, "show -- ID")
VERB(LOOK, FIRST, "show --raw -- ID")
VERB(LOOK, SIFT, "trace --json -- ID")
VERB(LOOK, ALONE, "trace [ --cluster ] [ --node TEXT ] -- ID")
VERB(LOOK, ALONE, "trace --json [ --cluster ] [ --node TEXT ] -- ID")
VERB(LOOK, ALONE, "why --json [ --cluster ] [ --node TEXT ] -- ID")
VERB(LOOK, ALONE, "queue --json [ --cluster ] [ --node TEXT ]")
VERB(LOOK, ALONE, "top --json [ --cluster ] [ --node TEXT ]")
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
VERB(LOOK, OWN, "search list --json")
VERB(LOOK, OWN, "search save -- TEXT SELECTOR")
VERB(LOOK, OWN, "search remove -- TEXT")

VERB(ACT, NARROW, "hold|release|retry --yes|--dry-run [ --reason TEXT ] "
    "[ --cluster ] [ --node TEXT ] -- SELECTOR")
VERB(ACT, ALONE, "reroute|thaw|bounce|delete|undelete --yes|--dry-run "
    "[ --reason TEXT ] [ --cluster ] [ --node TEXT ] -- SELECTOR")
VERB(ACT, ALONE, "release --yes|--dry-run --allow [ --reason TEXT ] "
    "-- SELECTOR")
VERB(ACT, ALONE, "forward --yes|--dry-run --to TEXT [ --reason TEXT ] "
    "-- SELECTOR")
VERB(ACT, ALONE, "resubmit --from deferred --yes|--dry-run -- SELECTOR")
VERB(ACT, ALONE, "learn --yes|--dry-run spam|ham [ --reason TEXT ] "
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

/* history_rows.h - what is kept of the past, a row each
 *
 * HISTORY_COUNT(symbol, name, metric, labels, text)
 *   how often: by how much a counter of metrics.h has grown
 * HISTORY_MORE(symbol, metric, labels)
 *   another counter that is added to the symbol before
 * HISTORY_LEVEL(symbol, name, text)
 *   how many there are: the last number of a span, and the most, which is
 *   called name_most
 *
 * The names are members of answers (doc/protocol/control.md, history).  The
 * order is that of the file: if you change it, raise HISTORY_VERSION.
 *
 * SPDX-License-Identifier: ISC
 */
HISTORY_COUNT(ACCEPTED, "accepted", "smtpserver_messages",
    "result=\"accepted\"", "messages that came in")
HISTORY_COUNT(BYTES, "bytes", "smtpserver_bytes", "", "their bytes")
HISTORY_COUNT(REFUSED, "refused", "smtpserver_rejects", "",
    "commands and messages that were refused")
HISTORY_MORE(REFUSED, "smtpserver_rejects", "stage=\"content\"")
HISTORY_COUNT(ROUTED, "routed", "router_recipients", "",
    "recipients that were routed")
HISTORY_COUNT(DELIVERED, "delivered", "deliveries", "result=\"ok\"",
    "recipients that have their mail")
HISTORY_COUNT(DEFERRED, "deferred", "deliveries", "result=\"deferred\"",
    "tries that were put off")
HISTORY_COUNT(FAILED, "failed", "deliveries", "result=\"failed\"",
    "recipients that failed")
HISTORY_COUNT(REPORTS, "reports", "dsn", "", "reports that were sent")
HISTORY_LEVEL(WAITING, "waiting", "messages that the scheduler has")
HISTORY_LEVEL(AGENTS, "agents", "transport agents at work")
HISTORY_LEVEL(SESSIONS, "sessions", "sessions of clients")

/* metrics.h - what is counted for monitoring, one row each
 *
 * COUNTER(metric, labels, event, text)
 *   how often an event happened.  labels as they stand between braces, ""
 *   none.  Rows of one metric stand together; the first has its text.
 * BY_CHANNEL(metric, labels, event, text)
 *   the same for each channel that the event names
 * MATCH(metric, labels, event, key, front, text)
 *   how often the event happened with a value of key that begins with front
 * TALLY(metric, labels, tally, text)
 *   what no event stands for: counters_tally() counts it
 * SUM(metric, event, key, text)
 *   the sum of a number that the event carries
 * HISTOGRAM(metric, event, key, text)
 *   how often such a number (seconds) was at most 1, 5, 30, ...
 *
 * Counting is a side of event(): a row here is all that a new metric needs.
 * `zmailer metrics` prints them as OpenMetrics text, "zmailer_" in front
 * and "_total" behind.
 *
 * SPDX-License-Identifier: ISC
 */
COUNTER("smtpserver_connections", "result=\"accepted\"", SESSION_OPEN,
    "connections of clients")
COUNTER("smtpserver_connections", "result=\"refused\"", SESSION_REFUSED, "")
COUNTER("smtpserver_messages", "result=\"accepted\"", MESSAGE_ACCEPTED,
    "messages that came to their end of data")
COUNTER("smtpserver_messages", "result=\"refused\"", MESSAGE_REFUSED, "")
COUNTER("smtpserver_messages", "result=\"frozen\"", MESSAGE_FROZEN, "")
COUNTER("smtpserver_messages", "result=\"discarded\"", MESSAGE_DISCARDED, "")
COUNTER("smtpserver_rejects", "stage=\"command\"", COMMAND_REFUSED,
    "commands and messages that were refused")
COUNTER("smtpserver_rejects", "stage=\"content\"", MESSAGE_REFUSED, "")
SUM("smtpserver_bytes", MESSAGE_ACCEPTED, "size",
    "bytes of accepted messages")
COUNTER("milter_failures", "", MILTER_FAILED,
    "messages for which a milter did not do its work")
COUNTER("router_messages_routed", "", MESSAGE_ROUTED, "messages routed")
BY_CHANNEL("router_routed", "", RCPT_ROUTED, "recipients routed")
SUM("router_recipients", MESSAGE_ROUTED, "rcpts",
    "recipients of routed messages, those of large lists too")
COUNTER("router_deferred", "", MESSAGE_DEFERRED,
    "messages that routing had trouble with")
MATCH("router_deferred_why", "why=\"table\"", MESSAGE_DEFERRED, "why",
    "table-", "the same by what had the trouble")
MATCH("router_deferred_why", "why=\"hook\"", MESSAGE_DEFERRED, "why",
    "hook", "")
MATCH("router_deferred_why", "why=\"include\"", MESSAGE_DEFERRED, "why",
    "include", "")
MATCH("router_deferred_why", "why=\"list\"", MESSAGE_DEFERRED, "why",
    "list", "")
MATCH("router_deferred_why", "why=\"passwd\"", MESSAGE_DEFERRED, "why",
    "passwd", "")
COUNTER("router_resubmitted", "", MESSAGE_RESUBMITTED,
    "messages that came back from deferred/ and other places")
MATCH("router_poison", "", MESSAGE_POSTMAN, "keyword", "poison",
    "messages set aside because router workers died of them")
MATCH("router_worker_restarts", "", DAEMON_EXIT, "name", "router worker",
    "router workers that died and were replaced")
TALLY("table_lookups", "result=\"found\"", LOOKUP_FOUND,
    "questions to tables, of all programs")
TALLY("table_lookups", "result=\"none\"", LOOKUP_NONE, "")
TALLY("table_lookups", "result=\"trouble\"", LOOKUP_TROUBLE, "")
BY_CHANNEL("deliveries", "result=\"ok\"", RCPT_OK,
    "outcomes of delivery attempts")
BY_CHANNEL("deliveries", "result=\"deferred\"", RCPT_DEFER, "")
BY_CHANNEL("deliveries", "result=\"failed\"", RCPT_FAIL, "")
HISTOGRAM("delivery_delay_seconds", RCPT_OK, "delay",
    "from acceptance to delivery")
COUNTER("dsn", "class=\"sent\"", DSN_SENT, "delivery status notifications")
COUNTER("dsn", "class=\"dropped\"", DSN_DROPPED, "")
COUNTER("postman_messages", "", MESSAGE_POSTMAN,
    "messages and copies put into postman/")
COUNTER("messages_done", "", MESSAGE_DONE,
    "messages of which every recipient has its outcome")
COUNTER("process_exits", "", DAEMON_EXIT,
    "processes that ended when they should not")
COUNTER("agent_exits", "", AGENT_EXIT,
    "transport agents that ended with work in hand or an error")
COUNTER("recoveries", "", RECOVERED,
    "messages that recovery found between two states")
COUNTER("spool_troubles", "", SPOOL_TROUBLE,
    "file system calls that failed")
COUNTER("config_reloads", "result=\"good\"", CONF_RELOAD,
    "changed configurations")
COUNTER("config_reloads", "result=\"refused\"", CONF_REFUSED, "")

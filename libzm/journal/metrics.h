/* metrics.h - what is counted and measured for monitoring, one row each
 *
 * COUNTER(metric, labels, event, by, by, text)
 *   how often an event happened.  labels: as they are written between braces;
 *   "" none.  by: BY(label, key, set) is a label whose values come from a key
 *   of the event; ONE is none.  Rows of one metric are adjacent; the first has
 *   its text.
 * FILTERED(metric, labels, event, key, front, text)
 *   how often the event happened with a value of key that begins with front
 * SUM(metric, event, key, text)
 *   the sum of a number that the event carries
 * HISTOGRAM(metric, event, key, unit_us, bounds, by, text)
 *   how often such a number, in units of unit_us microseconds, was at most
 *   each of the bounds
 * TALLY(metric, labels, tally, by, text), SPAN(metric, tally, bounds, by,
 * text), LEVEL(metric, tally, text)
 *   a counter, histogram and gauge without an event: counters_tell() gives the
 *   number, and the value of key "label"
 * STATE(metric, event, key, front, what, text)
 *   a gauge that the event sets to a number, or to NOW, the moment.  front:
 *   only if key begins with it, or after a ! if it does not
 * LOOKED(metric, type, labels, text)
 *   what is not counted but looked up when somebody asks
 *
 * Labels are of bounded sets (counters_rows.c): never a domain, an address
 * or a message.  event() counts, so a new metric needs only a row here.
 * `zmailer metrics` prints them as OpenMetrics text, with the prefix "zmailer_"
 * and, for counters, the suffix "_total"; zmailer-metrics(8) has the same rows.
 *
 * SPDX-License-Identifier: ISC
 */
LOOKED("build", "info", "version", "the running version")
LOOKED("up", "gauge", "", "whether the scheduler answers")
LOOKED("process_turn_age_seconds", "gauge", "process",
    "time since a daemon's loop turned: more than 4 and it stands still")
LOOKED("process_work_age_seconds", "gauge", "process",
    "time since a daemon that has work did any, or since the loop of a "
    "process of it that a signal stopped turned; 0: no work waits")
LOOKED("process_turn_longest_seconds", "gauge", "process",
    "the longest time that a loop was busy without listening since its "
    "process began: of the daemon, or of any of its workers")
COUNTER("smtpserver_connections", "result=\"accepted\"", SESSION_OPEN,
    BY("listener", "listener", LISTENER), ONE, "connections of clients")
COUNTER("smtpserver_connections", "result=\"refused\"", SESSION_REFUSED,
    BY("listener", "listener", LISTENER), ONE, "")
LEVEL("smtpserver_sessions", SESSIONS, "open sessions")
COUNTER("smtpserver_messages", "result=\"accepted\"", MESSAGE_ACCEPTED,
    BY("listener", "listener", LISTENER), ONE,
    "messages that came to their end of data")
COUNTER("smtpserver_messages", "result=\"refused\"", MESSAGE_REFUSED,
    BY("listener", "listener", LISTENER), ONE, "")
COUNTER("smtpserver_messages", "result=\"frozen\"", MESSAGE_FROZEN,
    BY("listener", "listener", LISTENER), ONE, "")
COUNTER("smtpserver_messages", "result=\"discarded\"", MESSAGE_DISCARDED,
    BY("listener", "listener", LISTENER), ONE, "")
SUM("smtpserver_bytes", MESSAGE_ACCEPTED, "size",
    "bytes of accepted messages")
COUNTER("smtpserver_rejects", "", COMMAND_REFUSED,
    BY("stage", "command", STAGE), BY("reason", "code", REASON),
    "commands and messages that were refused; the reason is the subject of "
    "the enhanced status (RFC 3463)")
COUNTER("smtpserver_rejects", "stage=\"content\"", MESSAGE_REFUSED,
    BY("reason", "code", REASON), ONE, "")
COUNTER("smtpserver_auth", "result=\"ok\"", AUTH_OK,
    BY("mechanism", "mech", MECHANISM), ONE, "logins")
COUNTER("smtpserver_auth", "result=\"failed\"", AUTH_FAILED,
    BY("mechanism", "mech", MECHANISM), ONE, "")
COUNTER("smtpserver_tls", "", TLS_OPEN, BY("version", "version", TLS), ONE,
    "sessions that were encrypted")
COUNTER("smtpserver_tls_failures", "", TLS_FAILED, ONE, ONE,
    "TLS handshakes that failed")
SPAN("smtpserver_command_duration_seconds", COMMAND, FAST, ONE,
    "from a command, or the end of a message, to its reply")
COUNTER("milter_failures", "", MILTER_FAILED,
    BY("milter", "milter", MILTER), BY("action", "fail", ACTION),
    "messages for which a milter failed, and what was done")
SPAN("milter_duration_seconds", MILTER, FAST, BY("milter", "label", MILTER),
    "how long a milter took for one step of a session")
TALLY("limit_hits", "", LIMIT_HIT, BY("limit", "label", LIMIT),
    "what a limit of the configuration stopped")
LOOKED("router_messages", "gauge", "area", "messages that wait for the router")
LOOKED("router_oldest_seconds", "gauge", "", "age of the oldest of them")
HISTOGRAM("router_duration_seconds", MESSAGE_ROUTED, "ms", 1000, FAST, ONE,
    "how long routing a message took")
COUNTER("router_messages_routed", "", MESSAGE_ROUTED, ONE, ONE,
    "messages routed")
COUNTER("router_routed", "", RCPT_ROUTED, BY("channel", "channel", CHANNEL),
    ONE, "recipients routed")
SUM("router_recipients", MESSAGE_ROUTED, "rcpts",
    "recipients of routed messages, those of large lists too")
COUNTER("router_deferred", "", MESSAGE_DEFERRED, BY("reason", "why", WHY),
    ONE, "messages that routing had trouble with, by its cause")
COUNTER("router_resubmitted", "", MESSAGE_RESUBMITTED, ONE, ONE,
    "messages that came back from deferred/ and other places")
FILTERED("router_poison", "", MESSAGE_POSTMAN, "keyword", "poison",
    "messages set aside because router workers died of them")
FILTERED("router_worker_restarts", "", DAEMON_EXIT, "name", "router worker",
    "router workers that died and were replaced")
TALLY("table_lookups", "result=\"found\"", LOOKUP_FOUND, ONE,
    "table look-ups of all programs")
TALLY("table_lookups", "result=\"none\"", LOOKUP_NONE, ONE, "")
TALLY("table_lookups", "result=\"trouble\"", LOOKUP_TROUBLE, ONE, "")
LOOKED("queue_messages", "gauge", "state",
    "messages that have a recipient in a state")
LOOKED("queue_recipients", "gauge", "channel,state",
    "recipients that the scheduler has")
LOOKED("queue_bytes", "gauge", "", "bytes of the messages in queue/")
LOOKED("queue_oldest_seconds", "gauge", "channel",
    "age of the oldest message for a channel")
LOOKED("queue_age_seconds", "histogram", "", "ages of the messages in queue/")
LOOKED("objective_met", "gauge", "objective",
    "whether an objective of the configuration is met, of the last hour")
LOOKED("objective_recipients", "gauge", "objective,result",
    "recipients of the last hour: in_time, late, or waiting for longer than "
    "the objective says")
LOOKED("transport_agents", "gauge", "channel,state", "transport agents")
LOOKED("scheduler_turn_seconds", "histogram", "",
    "how long the scheduler is busy at a time without listening, since its "
    "start")
LOOKED("scheduler_turn_longest_seconds", "gauge", "", "the longest of them")
COUNTER("deliveries", "result=\"ok\"", RCPT_OK,
    BY("channel", "channel", CHANNEL), ONE, "outcomes of delivery attempts")
COUNTER("deliveries", "result=\"deferred\"", RCPT_DEFER,
    BY("channel", "channel", CHANNEL), ONE, "")
COUNTER("deliveries", "result=\"failed\"", RCPT_FAIL,
    BY("channel", "channel", CHANNEL), ONE, "")
HISTOGRAM("delivery_delay_seconds", RCPT_OK, "delay", 1000000, SLOW,
    BY("channel", "channel", CHANNEL), "from acceptance to delivery")
COUNTER("dsn", "", DSN_SENT, BY("class", "code", CLASS),
    BY("subject", "code", SUBJECT),
    "delivery status notifications, by the status (RFC 3463) of the first "
    "recipient that they report")
COUNTER("dsn_dropped", "", DSN_DROPPED, ONE, ONE,
    "reports without a recipient: kept in postman/")
COUNTER("postman_messages", "", MESSAGE_POSTMAN, ONE, ONE,
    "messages and copies put into postman/")
COUNTER("messages_done", "", MESSAGE_DONE, ONE, ONE,
    "messages whose recipients all have their outcome")
COUNTER("process_exits", "", DAEMON_EXIT, ONE, ONE,
    "processes that ended when they should not")
COUNTER("agent_exits", "", AGENT_EXIT, ONE, ONE,
    "transport agents that ended with work in hand or an error")
COUNTER("recoveries", "", RECOVERED, ONE, ONE,
    "messages that recovery found between two states")
COUNTER("spool_troubles", "", SPOOL_TROUBLE, ONE, ONE,
    "file system calls that failed")
COUNTER("config_reloads", "result=\"good\"", CONF_RELOAD, ONE, ONE,
    "changed configurations")
COUNTER("config_reloads", "result=\"refused\"", CONF_REFUSED, ONE, ONE, "")
STATE("config_reload_success", DAEMON_START, "", "", 1,
    "whether the last configuration that was read was good")
STATE("config_reload_success", CONF_RELOAD, "file", "!tables", 1, "")
STATE("config_reload_success", CONF_REFUSED, "", "", 0, "")
STATE("config_reload_timestamp_seconds", DAEMON_START, "", "", NOW,
    "when a good configuration was last read")
STATE("config_reload_timestamp_seconds", CONF_RELOAD, "file", "!tables", NOW,
    "")
STATE("share_away", SHARE_LOST, "", "", 1,
    "whether this node counts the limits of the cluster alone: its Redis is "
    "away")
STATE("share_away", SHARE_BACK, "", "", 0, "")
STATE("copies_away", COPIES_LOST, "", "", 1,
    "whether accepted mail cannot be copied: the PostgreSQL of the cluster is "
    "away")
STATE("copies_away", COPIES_BACK, "", "", 0, "")
TALLY("copies", "result=\"made\"", COPIES_MADE, ONE,
    "messages that were to be copied to the PostgreSQL of the cluster")
TALLY("copies", "result=\"failed\"", COPIES_FAILED, ONE, "")
TALLY("notify_sent", "", NOTIFY_SENT, ONE,
    "events that receivers (notify) accepted")
LEVEL("notify_behind_seconds", NOTIFY_BEHIND,
    "age of the oldest event that a receiver has not accepted yet")
LEVEL("notify_failed", NOTIFY_FAILED,
    "receivers that do not accept events now, or never again (410)")
LEVEL("config_drift", CONFIG_DRIFT,
    "nodes of the cluster whose configuration is another than that of this "
    "one, which counts itself if its own files cannot be collected; they are "
    "asked once a minute")
SUM("resolver_questions", RESOLVER_COUNTED, "questions",
    "questions about names that the resolver was asked; it tells once a "
    "minute")
SUM("resolver_secure", RESOLVER_COUNTED, "secure",
    "answers with records that were validated")
SUM("resolver_insecure", RESOLVER_COUNTED, "insecure",
    "answers with records of domains that are not signed")
SUM("resolver_none", RESOLVER_COUNTED, "none",
    "answers that there is no such record")
SUM("resolver_no_name", RESOLVER_COUNTED, "no-name",
    "answers that there is no such name")
SUM("resolver_bogus", RESOLVER_COUNTED, "bogus",
    "answers that are not what their owner signed")
SUM("resolver_failed", RESOLVER_COUNTED, "failed",
    "questions that no name server answered")
SUM("resolver_refused", RESOLVER_COUNTED, "refused",
    "packets that were no question, and questions beyond what is taken at a "
    "time")
LOOKED("neighbour_up", "gauge", "kind,name",
    "whether another program that mail depends on (a milter, a policy "
    "service, a content filter, a password checker, an LMTP next hop) worked "
    "when it was last asked")
LOOKED("neighbour_refused", "gauge", "kind,name",
    "commands that were refused since it failed")
LOOKED("certificate_expiry_timestamp_seconds", "gauge", "name",
    "when a configured certificate expires")
LOOKED("area_messages", "gauge", "area", "messages in a directory")
LOOKED("area_oldest_seconds", "gauge", "area",
    "age of the oldest file in a directory")
LOOKED("postman_only_copies", "gauge", "",
    "messages in postman/ that are nowhere else")
LOOKED("spool_free_bytes", "gauge", "", "free bytes on the spool's disk")
LOOKED("spool_free_inodes", "gauge", "", "free inodes on it")

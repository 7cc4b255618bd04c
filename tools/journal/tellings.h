/* tellings.h - events of a message for people, a sentence each
 *
 * TELLING(event, sentence)
 *   event     its name in events.h
 *   sentence  {key} is the value of a key; the text in [ ] is left out if a
 *             key in it has no value (or "-").  {key:form}:
 *             sender   <> when it is empty
 *             moment   seconds since 1970, as local time
 *             span     seconds, as 3h12m
 *             s        nothing for 1, else an "s"
 *             yes, no  nothing; left out with its part if it is not that
 *
 * An event without a row is shown by its sentence in events.h and its values.
 *
 * SPDX-License-Identifier: ISC
 */
TELLING("session.open", "A client connected from {client}[ to {listener}].")
TELLING("session.xclient", "The proxy {peer} says that the client is "
    "{client}[, called {name}][, logged in as {user}].")
TELLING("session.close", "The session ended[: {reason}].")
TELLING("client.early", "The client spoke before it was greeted and was "
    "refused.")
TELLING("tls.open", "The session was encrypted[ with {version}][, {cipher}]"
    "[; the client showed the certificate of {peer}][ ({verified})].")
TELLING("tls.failed", "TLS with the client failed: {reason}")
TELLING("auth.ok", "{user} logged in[ by {mech}].")
TELLING("auth.failed", "A login[ of {user}][ by {mech}] failed: {reason}")
TELLING("command.refused", "\"{command}\" was refused[ with {code}]: {reply}"
    "[ (rule: {rule})]")
TELLING("policy.shadow", "A shadow rule would {would} {to}[: {rule}].")
TELLING("policy.trouble", "The policy could not look something up[, for the "
    "rule {rule}]: {reason}")
TELLING("policy.warning", "A policy service said: {text}")
TELLING("milter.failed", "The milter {milter} did not do its work: {reason}"
    "[; what was done instead: {fail}].")
TELLING("origin.failed", "Whose mail it is could not be judged: {reason} What "
    "came was accepted without that, or its client is to try again.")
TELLING("milter.quarantine", "A filter wants a person to look: {reason}")
TELLING("message.accepted", "The message from {from:sender}[ for {rcpts} "
    "recipient{rcpts:s}] was accepted[ from {client}][, who said {helo}]"
    "[, {size} bytes][, by {with}].[ SPF: {spf}.][ DKIM: {dkim}.]"
    "[ DMARC: {dmarc}.][ ARC: {arc}.][ DKIM2: {dkim2}.][ {sealer}, whose "
    "seals are trusted, saw DMARC pass.]")
TELLING("message.waited", "The client waited for the next hop's word"
    "[, {delay} ms]: {verdict}[, {code}][: {reason}].")
TELLING("message.refused", "The message from {from:sender} was refused[ with "
    "{code}]: {reply}")
TELLING("message.frozen", "It was set aside in freezer/[: {text}].")
TELLING("milter.local", "The milters saw it: {do}[, changed: {changed}]"
    "[: {reason}].")
TELLING("message.discarded", "A milter had it thrown away; the client was "
    "told that it was taken.")
TELLING("message.routed", "The router handed it to the scheduler[: {rcpts} "
    "recipient{rcpts:s}][, {size} bytes][, Message-Id {msgid}].")
TELLING("rcpt.routed", "The router sends {to} by {channel}[ to {host}]"
    "[, as {user}][; rule: {rule}].")
TELLING("message.deferred", "The router could not route it[: {reason}]. It "
    "waits in deferred/ and comes back by itself.")
TELLING("message.postman", "It, or a copy, was put into postman/[ as {file}]"
    "[: {reason}].")
TELLING("message.header", "Its header field {field} is not as RFC 5322 has "
    "it[: {reason}].[ Repaired: {repaired}.]")
TELLING("hook.frozen", "A script set it aside in freezer/[: {reason}].")
TELLING("list.line", "A line of a list is no address: {file}[:{line}]: "
    "{reason}")
TELLING("rcpt.ok", "[Try {tries}: ]{to} has it[, by {channel}][ to {host}]"
    ": [{code} ][{reply}][; TLS: {tls}]")
TELLING("rcpt.defer", "[Try {tries}: ]{to} does not have it yet"
    "[, by {channel}][ to {host}][ ({class})]: [{code} ][{reply}]"
    "[; tried again {next:moment}].")
TELLING("rcpt.fail", "[Try {tries}: ]{to} will not have it[, by {channel}]"
    "[ to {host}][ ({class})]: [{code} ][{reply}]")
TELLING("rcpt.next", "A recipient failed there[ ({channel}][ {host})] and "
    "goes its next way.")
TELLING("rcpt.delayed", "Its sender is told that {to} waits.")
TELLING("dsn.sent", "A report[ ({kind})] was sent[ to {to}]: message "
    "{dsn}.")
TELLING("dsn.told", "The client that sent it heard the refusal while it "
    "waited: no report is sent.")
TELLING("dsn.dropped", "A report that nobody may get was kept in postman/"
    "[: {reason}].")
TELLING("host.down", "{channel}/{host} does not answer: {reason}"
    "[; again {until:moment}].")
TELLING("forward.ignored", "The forward file of {to} was left out, or a part "
    "of it: {reason}")
TELLING("vacation", "{to} is away: {sender} got an answer[, {as}][, or none: "
    "{reason}].")
TELLING("message.converted", "It was converted for {host}, which takes "
    "less[: {lacks}].")
TELLING("message.done", "It is done: every recipient has its outcome"
    "[ ({failed} of {rcpts} failed)][, after {delay:span}].")
TELLING("message.ordered", "{by} ordered: {op}[, {rcpts} recipient{rcpts:s}]"
    "[, until {until:moment}][, as message {as}][. Why: {reason}].")
TELLING("message.resubmitted", "{by} had it routed again[. Why: {reason}].")
TELLING("message.deleted", "{by} deleted it; it is in trash/"
    "[. Why: {reason}].")
TELLING("message.undeleted", "{by} brought it back from trash/"
    "[. Why: {reason}].")
TELLING("message.noted", "{by} noted: {reason}")
TELLING("message.learned", "{by} called it {as}[; {program} took it{ok:yes}]"
    "[; {program} did not take it{ok:no}][: {text}].[ Why: {reason}.]")
TELLING("message.forwarded", "{by} forwarded it to {to}, as message {as}"
    "[. Why: {reason}].")
TELLING("message.restored", "{by} restored it from {archive}.")
TELLING("recovered", "A start found it between two states and moved it from "
    "{from} to {to}[: {reason}].")
TELLING("spool.trouble", "A system call failed and it stayed where it was: "
    "{call} {file}: {reason}")

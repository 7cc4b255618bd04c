/* channels.h - the channels that our agents serve, a row each
 *
 * CHANNEL(channel, program)            the program is below libexec/
 * CHANNEL_MANY(channel, program)       one process carries many agents
 * CHANNEL_UNCOUNTED(channel, program)  "other" in counters: mail of users does
 *                                      not stay there
 *
 * SPDX-License-Identifier: ISC
 */
CHANNEL_MANY("smtp", "smtp")
CHANNEL_MANY("lmtp", "lmtp")
CHANNEL("local", "mailbox")
CHANNEL("pipe", "pipe")
CHANNEL("sm", "sm")
CHANNEL("http", "http")
CHANNEL("error", "error")
CHANNEL("hold", "hold")
CHANNEL("discard", "discard")
CHANNEL_UNCOUNTED("expire", "expirer")
CHANNEL_UNCOUNTED("reroute", "reroute")

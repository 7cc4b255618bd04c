/* verbs.h - every verb of zmailer(8), one row each
 *
 * VERB(name, usage, text): verb_NAME in tools/verb_NAME.c (or the file of
 * its group).  The dispatcher, `zmailer help`, completion and the manual
 * come from these rows.
 *
 * SPDX-License-Identifier: ISC
 */
VERB(help, "[VERB | STATEMENT]", "what a verb or a configuration statement does")
VERB(demo, "[--keep] [DIR]", "six messages with six fates, in ./demo, through the real processes")
VERB(check, "[--syntax] [--quiet] [--json] [FILE]", "read a configuration as the daemons would, and say what is wrong")
VERB(config, "show [--all] [--json]", "the settings in force and where each was written")
VERB(init, "DIR [--port N] [--sink PORT]", "make a private instance that any user can start")

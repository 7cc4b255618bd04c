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

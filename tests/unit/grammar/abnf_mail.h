/* abnf_mail.h - the grammar of headers, addresses, dates, types and aliases
 *
 * As in RFC 5322 (3.2 to 3.6, 4), RFC 6532 (3.1), RFC 3339 (5.6), RFC 2045
 * (5.1) and zmailer-aliases(5), with what is obsolete.  Narrower than these
 * where we are on purpose: no control characters, no "\" before them, no
 * domain literal but an IPv4 or IPv6 address, no blank or empty line inside
 * a value; no tab in a local part, which no RCPT command could name (RFC
 * 5321 section 4.1.2).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_ABNF_MAIL_H
#define ZM_TESTS_ABNF_MAIL_H

#include "abnf.h"

static const struct abnf_rule abnf_mail[] = {
	/* RFC 5234 appendix B.1 */
	{ "ALPHA", "%x41-5A / %x61-7A" }, { "DIGIT", "%x30-39" },
	{ "VCHAR", "%x21-7E" }, { "WSP", "%x20 / %x09" },
	/* RFC 6532 section 3.1 */
	{ "UTF8", "%xC3 %x80-BF / %xE2 %x82 %xAC / %xF0 %x9F %x92 %x8C" },
	/* RFC 5322 section 3.2, 4.1, 4.2; a line ends in LF in our files */
	{ "FWS", "WSP / 1*2WSP / %x0A WSP / WSP %x0A 1*2WSP" },
	{ "quoted-pair", "%x5C (VCHAR / WSP / UTF8)" },
	{ "ctext", "%d33-39 / %d42-91 / %d93-126 / UTF8" },
	{ "comment",
	    "%x28 *2([FWS] (ctext / quoted-pair / comment)) [FWS] "
	    "%x29" },
	{ "CFWS", "FWS / 1*2([FWS] comment) [FWS]" },
	{ "atext",
	    "ALPHA / DIGIT / ALPHA / DIGIT / %d33 / %d35-39 / %d42-43 /"
	    " %d45 / %d47 / %d61 / %d63 / %d94-96 / %d123-126 / UTF8" },
	{ "atom", "1*atext" }, { "qtext", "%d33 / %d35-91 / %d93-126 / UTF8" },
	{ "qcontent", "qtext / quoted-pair" },
	{ "quoted-string", "%d34 *([FWS] qcontent) [FWS] %d34" },
	{ "word", "atom / quoted-string" },
	{ "phrase", "[CFWS] word *([CFWS] (word / \".\") )" },
	/* section 3.4 */
	{ "label", "(ALPHA / DIGIT) [*(ALPHA / DIGIT / \"-\") "
	    "(ALPHA / DIGIT)]" },
	{ "literal", "\"[192.0.2.\" DIGIT \"]\" / \"[IPv6:2001:DB8::\" DIGIT "
	    "\"]\"" },
	{ "domain", "label *([CFWS] \".\" [CFWS] label) / label 1*3(\".\" "
	    "label) / literal" },
	{ "lfws", "%x20 / %x0A %x20" },
	{ "lpair", "%x5C (VCHAR / %x20 / UTF8)" },
	{ "lquoted", "%d34 *([lfws] (qtext / lpair)) [lfws] %d34" },
	{ "lword", "atom / lquoted" },
	{ "local", "atom *(\".\" atom) / lword *([CFWS] \".\" [CFWS] lword)" },
	{ "addr-spec", "local [CFWS] \"@\" [CFWS] domain / local \"@\" "
	    "domain" },
	{ "route", "\"@\" domain *(\",\" \"@\" domain) \":\"" },
	{ "angle-addr", "\"<\" [CFWS] [route] [CFWS] addr-spec [CFWS] \">\"" },
	{ "mailbox", "addr-spec / [phrase] [CFWS] angle-addr [CFWS]" },
	{ "group", "phrase [CFWS] \":\" [mailbox-list] [CFWS] \";\" [CFWS]" },
	{ "mailbox-list", "*([CFWS] \",\") mailbox *(\",\" ([CFWS] mailbox / "
	    "[CFWS]))" },
	{ "address", "[CFWS] mailbox / group" },
	{ "address-list", "*([CFWS] \",\") address *(\",\" ([CFWS] address / "
	    "[CFWS]))" },
	/* section 3.3 and 4.3 */
	{ "day-name", "\"Mon\" / \"Tue\" / \"Wed\" / \"Thu\" / \"Fri\" / "
	    "\"Sat\" / \"Sun\"" },
	{ "month", "\"Jan\" / \"Feb\" / \"Mar\" / \"Apr\" / \"May\" / \"Jun\""
	    " / \"Jul\" / \"Aug\" / \"Sep\" / \"Oct\" / \"Nov\" / \"Dec\"" },
	{ "day", "\"0\" %d49-57 / %d49-57 / %d49-50 DIGIT / \"3\" %d48-49" },
	{ "year", "4DIGIT / 2*3DIGIT" },
	{ "hour", "%d48-49 DIGIT / \"2\" %d48-51" },
	{ "sixty", "%d48-53 DIGIT" },
	{ "zone", "(\"+\" / \"-\") 4DIGIT / \"UT\" / \"GMT\" / \"EST\" / "
	    "\"PDT\" / ALPHA" },
	{ "date-time", "[[CFWS] day-name [CFWS] \",\"] [CFWS] day CFWS month "
	    "CFWS year CFWS hour [CFWS] \":\" [CFWS] sixty [[CFWS] \":\" "
	    "[CFWS] sixty] CFWS zone [CFWS]" },
	/* RFC 3339 section 5.6; every month has 28 days */
	{ "moment", "(\"19\" %d55-57 / \"20\" DIGIT) DIGIT \"-\" (\"0\" "
	    "%d49-57 / \"1\" %d48-50) \"-\" (\"0\" %d49-57 / \"1\" DIGIT / "
	    "\"2\" %d48-56) \"T\" hour \":\" sixty \":\" sixty [\".\" "
	    "1*6DIGIT] (\"Z\" / (\"+\" / \"-\") hour \":\" sixty)" },
	/* RFC 5322 section 2.2, 3.6.8, 4.5.8 */
	{ "ftext", "%d33-57 / %d59-126" },
	{ "text", "WSP / VCHAR / VCHAR / VCHAR / UTF8" },
	{ "line", "(VCHAR / UTF8) *text" },
	{ "field", "1*ftext *WSP \":\" *([*WSP] line %x0A 1*2WSP) [*WSP] "
	    "[line] %x0A" },
	{ "header", "1*6field" },
	/* RFC 2045 section 5.1, RFC 2046 section 5.1.1 */
	{ "token", "1*(ALPHA / DIGIT / %d33 / %d35-39 / %d42-43 / %d45-46 / "
	    "%d94-96 / %d123-126)" },
	{ "bchars", "DIGIT / ALPHA / \"'\" / \"(\" / \")\" / \"+\" / \"_\" /"
	    " \",\" / \"-\" / \".\" / \"/\" / \":\" / \"=\" / \"?\"" },
	{ "boundary", "*10(bchars / %d32) bchars" },
	{ "value", "token / quoted-string" },
	{ "parameter", "\"x-\" token [CFWS] \"=\" [CFWS] value" },
	/* zmailer-aliases(5) */
	{ "pathname", "\"/\" *(ALPHA / DIGIT / \"/\" / \".\" / \"-\" / UTF8)" },
	{ "odd",
	    "ALPHA / DIGIT / %d32 / \",\" / \"#\" / \"<\" / \"(\" / "
	    "%x5C %d34 / %x5C %x5C" },
	{ "program",
	    "\"|\" pathname *(\" \" pathname) / %d34 \"|\" pathname "
	    "*odd %d34 / \"|\" %d34 pathname *odd %d34" },
	{ "file", "pathname / %d34 pathname *odd %d34" },
	{ "include",
	    "\":include:\" pathname / %d34 \":include:\" pathname "
	    "%d34" },
	{ "only", "%x5C ALPHA *(ALPHA / DIGIT / \".\" ALPHA)" },
	{ "item",
	    "addr-plain / only / program / file / include / "
	    "[ALPHA *3atext 1*2WSP] \"<\" addr-plain \">\"" },
	{ "addr-plain",
	    "(ALPHA *5atext / %d34 ALPHA *(qtext / %d32) %d34) "
	    "[\"@\" label *2(\".\" label)]" },
	{ "items", "[item] *((\",\" / %x0A) [*WSP item *WSP])" }, { NULL, NULL }
};

#endif

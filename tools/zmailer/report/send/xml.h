/* xml.h - elements, written one after the other
 *
 * Names of elements are ours, values are untrusted: < > & and quotes are
 * written as references, and characters that XML 1.0 cannot have (controls,
 * U+FFFE and U+FFFF) and bytes that are not UTF-8 become U+FFFD.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_XML_H
#define ZM_TOOLS_REPORT_XML_H

#include "base/str.h"

/* Append "<name>" and "</name>", each on a line. */
void xml_begin(struct str *out, const char *name);
void xml_end(struct str *out, const char *name);
/* Append "<name>value</name>" on a line. */
void xml_text(struct str *out, const char *name, struct slice value);
void xml_number(struct str *out, const char *name, uint64_t value);

#endif

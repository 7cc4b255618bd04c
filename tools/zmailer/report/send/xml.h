/* xml.h - elements, written one after the other
 *
 * Names of elements are ours, values are anybody's: < > & and quotes are
 * written as references, and what XML 1.0 cannot have (controls, U+FFFE and
 * U+FFFF) or is not UTF-8 becomes U+FFFD.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_XML_H
#define ZM_TOOLS_REPORT_XML_H

#include "base/str.h"

/* "<name>" and "</name>", a line each. */
void xml_begin(struct str *out, const char *name);
void xml_end(struct str *out, const char *name);
/* "<name>value</name>", a line. */
void xml_text(struct str *out, const char *name, struct slice value);
void xml_number(struct str *out, const char *name, uint64_t value);

#endif

/* html.h - untrusted bytes as harmless HTML
 *
 * Every function that takes a slice escapes it; only literals of the source are
 * written unchanged.  In text of others markup becomes references; what would
 * move, hide or turn letters (controls, directions, bytes that are not UTF-8)
 * is shown as \xHH or \u{HHHH}; text beyond HTML_TEXT_BYTES_MAX is cut, and the
 * page says so.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_HTML_H
#define ZM_WEB_HTML_H

#include "base/str.h"

enum { HTML_TEXT_BYTES_MAX = 2000, HTML_BLOCK_BYTES_MAX = 64000 };

/* One line of text, in a <bdi>, because its letters may run the other way. */
void html_text(struct str *out, struct slice text);
/* The same without the <bdi>, for places that allow no element. */
void html_bare(struct str *out, struct slice text);
/* The same for our own words. */
void html_words(struct str *out, const char *words);
/* Many lines in a <pre>; at most HTML_BLOCK_BYTES_MAX. */
void html_block(struct str *out, struct slice text);
/* ` name="value"`; a value is cut as a text is. */
void html_attribute(struct str *out, const char *name, struct slice value);
/* ` srcdoc="..."`: HTML of others for a frame without rights.  Elements that
 * make a browser look up names or go elsewhere, whatever a policy says, are
 * renamed; at most HTML_BLOCK_BYTES_MAX. */
void html_srcdoc(struct str *out, struct slice text);
/* ` href="path?key=value"`, percent-encoded; key NULL: only the path.  rest is
 * what follows the path's last slash, or empty. */
void html_link(struct str *out, const char *path, struct slice rest,
    const char *key, struct slice value);
/* A value of a URL: all but letters, digits and -._~ as %HH. */
void html_url(struct str *out, struct slice value);
/* `<element>text</element>`. */
void html_element(struct str *out, const char *element, struct slice text);
/* A hidden field of a form. */
void html_hidden(struct str *out, const char *name, struct slice value);

#endif

/* odd.h - characters that look like others: blanks, quotes and dashes by which
 * word processors, web pages and editors replace ASCII ones
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_ODD_H
#define ZM_BASE_ODD_H

#include "base/str.h"

/* U+FEFF, which editors of Windows put before a text in UTF-8. */
#define ODD_MARK	"\xEF\xBB\xBF"

enum odd_kind { ODD_NONE, ODD_BLANK, ODD_QUOTE, ODD_DASH, ODD_UNSEEN };

struct odd {
	enum odd_kind	 kind;
	size_t		 bytes;		/* in UTF-8 */
	unsigned	 code;		/* U+... */
	const char	*name;		/* "a no-break space" */
	const char	*mend;		/* advice: "put a blank in its place" */
};

/* Is the character at the front of text one of them? */
bool odd_at(struct slice text, struct odd *out);
/* Is there one anywhere?  *out is the first. */
bool odd_find(struct slice text, struct odd *out);

#endif

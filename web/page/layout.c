/* layout.c - what stands around every page
 *
 * In     a title, where one is
 * Out    head, way to the content, navigation, foot
 * Spec   layout.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "web/page/html.h"
#include "web/page/layout.h"

#include "base/banned.h"

/* Where one can go: a row each. */
static const struct {
	const char	*path, *name;
	bool		 is_help;	/* of who helps some domains, too */
} places[] = {
	{ "/", "Overview", false },
	{ "/queue", "Queue", true },
	{ "/destinations", "Destinations", false },
	{ "/review", "Review", false },
	{ "/refused", "Refused", false },
	{ "/limits", "Blocks and limits", false },
	{ "/orders", "Who did what", false },
	{ "/authentication", "Authentication", false },
	{ "/health", "Health", false },
};

static void
layout_places(struct str *out, const char *path, enum layout_reader reader)
{
	str_adds(out, "<nav aria-label=\"Pages\"><ul>");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (reader == LAYOUT_HELPS && !places[i].is_help)
			continue;
		str_addf(out, "<li><a href=\"%s\"%s>%s</a></li>",
		    places[i].path, strcmp(path, places[i].path) == 0 ?
		    " aria-current=\"page\"" : "", places[i].name);
	}
	str_adds(out, "</ul></nav>\n");
}

void
layout_begin(struct str *out, const char *title, const char *path,
    enum layout_reader reader)
{
	str_adds(out, "<!doctype html>\n<html lang=\"en\"><head>"
	    "<meta charset=\"utf-8\"><meta name=\"viewport\" "
	    "content=\"width=device-width, initial-scale=1\">"
	    "<meta name=\"color-scheme\" content=\"light dark\"><title>");
	html_words(out, title);
	str_adds(out, " - zmailer</title>"
	    "<link rel=\"stylesheet\" href=\"/style.css\">"
	    "<script src=\"/script.js\" defer></script></head>\n<body>"
	    "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
	    "<header><p class=\"brand\">zmailer</p>\n");
	if (reader != LAYOUT_NOBODY)
		layout_places(out, path, reader);
	str_adds(out, "</header>\n<main id=\"main\" tabindex=\"-1\"><h1>");
	html_words(out, title);
	str_adds(out, "</h1>\n");
}

void
layout_end(struct str *out, const char *csrf)
{
	char now[CLOCK_TEXT_BYTES];

	clock_local(clock_wall_s(), now);
	str_addf(out, "</main>\n<footer><p>As of <time>%s</time>, zmailer "
	    PACKAGE_VERSION "</p>", now);
	if (csrf != NULL) {
		str_adds(out, "<form method=\"post\" action=\"/leave\">");
		html_hidden(out, "csrf", slice_of(csrf));
		str_adds(out, "<button>End this session</button></form>");
	}
	str_adds(out, "</footer></body></html>\n");
}

void
layout_error(struct str *out, int status, const char *words, bool is_known)
{
	char title[32];

	snprintf(title, sizeof(title), "%d", status);
	layout_begin(out, title, "", is_known ? LAYOUT_KNOWN : LAYOUT_NOBODY);
	str_adds(out, "<p role=\"alert\">");
	html_words(out, words);
	str_adds(out, "</p>\n");
	layout_end(out, NULL);
}

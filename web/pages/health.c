/* health.c - is this machine fit to carry mail, and what was changed on it
 *
 * In     zmailer doctor, cert list, config history and, of one version,
 *        config diff
 * Out    findings, those that are not good first; certificates; versions
 * Spec   pages.h; zmailer-doctor(8), zmailer-cert(8), zmailer-config(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

enum { VERSION_MAX = 99999999 };

/* What needs nobody else's answer; the whole doctor asks the DNS, too, and
 * is asked for (look=all). */
static const char *const doctor_here[] = { "doctor", "--json", "--", "config",
	"processes", "standstill", "spool", "accounts", "certificates",
	"clock", "limits", NULL };
static const char *const doctor_all[] = { "doctor", "--json", "--timeout",
	"5s", NULL };

static bool
health_is_all(const struct visit *visit)
{
	return slice_is(form_get(&visit->form, "look"), "all");
}

static int
health_begin(struct visit *visit)
{
	static const char *const cert[] = { "cert", "list", "--json", NULL };
	static const char *const history[] = { "config", "history", "--json",
	    NULL };
	const char *diff[] = { "config", "diff", "--", NULL, NULL };
	struct slice version = form_get(&visit->form, "version");
	uint64_t number;

	if (version.n > 0 && !slice_number(version, 1, VERSION_MAX, &number))
		return visit_refuse(visit, "version: no number of a version");
	visit_ask_verb(visit, "doctor", health_is_all(visit) ? doctor_all :
	    doctor_here);
	visit_ask_verb(visit, "certificates", cert);
	visit_ask_verb(visit, "versions", history);
	diff[3] = slice_dup(visit->arena, version);
	if (version.n > 0)
		visit_ask_text(visit, "diff", diff);
	return 0;
}

/* ---- the doctor --------------------------------------------------------- */

static bool
finding_is_good(struct slice line)
{
	return json_is(line, "level", "ok");
}

static bool
finding_is_trouble(struct slice line)
{
	return !finding_is_good(line);
}

static void
health_add_doctor(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "Level", "level", LINE_TEXT, NULL },
		{ "Area", "area", LINE_TEXT, NULL },
		{ "Where", "where", LINE_TEXT, NULL },
		{ "What", "what", LINE_TEXT, NULL },
		{ "What to do", "advice", LINE_TEXT, NULL },
	};
	struct lines bad = { .answer = "doctor", .caption = "What is not as it "
	    "should be", .none = "Nothing is wrong that was looked at.",
	    .columns = columns, .count = 5, .fits = finding_is_trouble };
	struct lines good = { .answer = "doctor", .caption = "What is as it "
	    "should be", .none = "", .columns = columns, .count = 4,
	    .fits = finding_is_good };

	str_adds(&visit->out, "<section aria-labelledby=\"doctor\"><h2 "
	    "id=\"doctor\">The machine</h2>\n");
	page_add_lines(visit, &bad);
	str_adds(&visit->out, health_is_all(visit) ? "" :
	    "<p><a href=\"/health?look=all\">Look at ports and the DNS, "
	    "too</a> (some seconds)</p>\n");
	str_adds(&visit->out, "<details><summary>What was looked at and is "
	    "good</summary>\n");
	page_add_lines(visit, &good);
	str_adds(&visit->out, "</details></section>\n");
}

/* ---- certificates ------------------------------------------------------- */

static void
health_add_certificates(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "File", "file", LINE_TEXT, NULL },
		{ "For", "for", LINE_TEXT, NULL },
		{ "State", "state", LINE_TEXT, NULL },
		{ "Names", "names", LINE_TEXT, NULL },
		{ "Issuer", "issuer", LINE_TEXT, NULL },
		{ "Expires", "expires", LINE_MOMENT, NULL },
		{ "Days left", "days", LINE_NUMBER, NULL },
		{ "Words", "words", LINE_TEXT, NULL },
	};
	static const struct lines lines = { .answer = "certificates",
	    .caption = "Certificates that the configuration names",
	    .none = "The configuration names no certificate.",
	    .columns = columns, .count = 8 };

	str_adds(&visit->out, "<section aria-labelledby=\"certificates\"><h2 "
	    "id=\"certificates\">Certificates</h2>\n");
	page_add_lines(visit, &lines);
	str_adds(&visit->out, "</section>\n");
}

/* ---- versions ----------------------------------------------------------- */

static void
version_add_link(struct visit *visit, struct slice line)
{
	int64_t number = json_get_number(line, "version");

	str_addf(&visit->out, "<a href=\"/health?version=%" PRId64
	    "#diff\" aria-label=\"What changed since version %" PRId64
	    "\">%" PRId64 "</a>", number, number, number);
}

static void
version_add_way_back(struct visit *visit, struct slice line)
{
	page_add_change(visit, &visit->out, "undo", "version", page_member(
	    visit->arena, line, "version"), "Go back to it");
}

static void
health_add_versions(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "Version", "version", LINE_TEXT, version_add_link },
		{ "When (UTC)", "time", LINE_CLOCK, NULL },
		{ "By", "by", LINE_TEXT, NULL },
		{ "With", "verb", LINE_TEXT, NULL },
		{ "Reason", "reason", LINE_TEXT, NULL },
		{ "Way back", "version", LINE_TEXT,
		    version_add_way_back },
	};
	static const struct lines lines = { .answer = "versions",
	    .caption = "Versions that verbs replaced, the newest first",
	    .none = "No verb has changed the configuration yet.",
	    .columns = columns, .count = 6, .is_newest_first = true };

	str_adds(&visit->out, "<section aria-labelledby=\"versions\"><h2 "
	    "id=\"versions\">Versions of the configuration</h2>\n");
	page_add_lines(visit, &lines);
	str_adds(&visit->out, "</section>\n");
}

static void
health_add_diff(struct visit *visit)
{
	const struct question_answer *answer;

	if (form_get(&visit->form, "version").n == 0)
		return;
	answer = visit_answer(visit, "diff");
	str_adds(&visit->out, "<section aria-labelledby=\"diff\"><h2 "
	    "id=\"diff\" tabindex=\"-1\">What changed since version ");
	html_text(&visit->out, form_get(&visit->form, "version"));
	str_adds(&visit->out, "</h2>\n");
	page_add_trouble(&visit->out, answer);
	if (answer->text.len > 0)
		html_block(&visit->out, slice_trim(str_slice(&answer->text)));
	str_adds(&visit->out, "</section>\n");
}

static void
health_show(struct visit *visit)
{
	health_add_doctor(visit);
	health_add_certificates(visit);
	health_add_diff(visit);
	health_add_versions(visit);
}

const struct page_row page_health = {
	.path = "/health", .title = "Health",
	.begin = health_begin, .show = health_show,
};

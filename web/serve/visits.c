/* visits.c - pages that are being made
 *
 * In     a request for a page
 * Out    its questions, asked beside each other; when all are answered the
 *        page, or its JSON twin
 * Holds  at most VISITS_AT_WORK_MAX at work; the others wait in line, and are
 *        as many as there are connections
 * Spec   visits.h, web/pages/pages.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/queue.h>

#include <string.h>

#include "base/clock.h"
#include "web/page/layout.h"
#include "web/serve/reply.h"
#include "web/serve/visits.h"

#include "base/banned.h"

struct work {
	STAILQ_ENTRY(work) line;
	struct visit	 visit;
	struct web_session	*session;
	unsigned	 serial;	/* the session's, then */
	char		 secret[SESSION_SECRET_BYTES];
	struct evhttp_request *http;
	size_t		 asked;		/* without an answer */
	char		 csrf[SESSION_SECRET_BYTES];
};
static STAILQ_HEAD(, work) waiting = STAILQ_HEAD_INITIALIZER(waiting);
static unsigned at_work;

static void
work_free(struct work *work)
{
	for (size_t i = 0; i < work->visit.count; i++)
		question_release(&work->visit.questions[i]);
	str_release(&work->visit.out);
	str_release(&work->visit.back);
	arena_free(&work->visit.arena);
	mem_free(&work);
}

static void
work_send_page(struct work *work)
{
	struct visit *visit = &work->visit;
	struct str page = STR_INIT;

	layout_begin(&page, visit->page->title, visit->page->path,
	    visit->is_help ? LAYOUT_HELPS : LAYOUT_KNOWN);
	str_add_slice(&page, str_slice(&visit->out));
	layout_end(&page, visit->csrf);
	reply_send(work->http, visit->status, "text/html; charset=utf-8",
	    str_slice(&page));
	str_release(&page);
}

/* An answer that says it of all of them: nobody answers, or the session has
 * ended meanwhile. */
static bool
work_has(const struct work *work, enum question_answer_kind kind)
{
	for (size_t i = 0; i < work->visit.count; i++)
		if (work->visit.questions[i].answer.kind == kind)
			return true;
	return false;
}

/* What was said of an order waits for the page that shows it, so that a
 * reload orders nothing again. */
static void
work_send(struct work *work)
{
	struct visit *visit = &work->visit;

	if (work_has(work, ANSWER_ABSENT)) {
		reply_error(work->http, 503, ask_down_words, visit->is_json,
		    true);
		return;
	}
	if (work_has(work, ANSWER_OVER)) {
		reply_error(work->http, 403, "The session is over.",
		    visit->is_json, false);
		return;
	}
	if (visit->page->is_data) {
		visit->page->show(visit);
		reply_send(work->http, 200, "application/json",
		    str_slice(&visit->out));
		return;
	}
	if (visit->is_json && !visit->page->is_order) {
		visit_add_json(visit);
		visit_judge(visit);
		reply_send(work->http, visit->status, "application/json",
		    str_slice(&visit->out));
		return;
	}
	visit->page->show(visit);
	visit_judge(visit);
	if (visit->file_name != NULL) {
		reply_send_file(work->http, visit->file_name,
		    str_slice(&visit->out));
		return;
	}
	if (visit->goes_to == NULL) {
		work_send_page(work);
		return;
	}
	if (work->serial == work->session->serial) {
		str_reset(&work->session->said);
		str_add_slice(&work->session->said, str_slice(&visit->out));
		str_reset(&work->session->back);
		str_add_slice(&work->session->back, str_slice(&visit->back));
	}
	reply_go(work->http, visit->goes_to, NULL);
}

static void work_start(struct work *work);

static void
work_end(struct work *work)
{
	struct work *next;

	work_send(work);
	work_free(work);
	at_work--;
	next = STAILQ_FIRST(&waiting);
	if (next != NULL && at_work < VISITS_AT_WORK_MAX) {
		STAILQ_REMOVE_HEAD(&waiting, line);
		work_start(next);
	}
}

static void
work_on_answer(void *context)
{
	struct work *work = context;

	if (--work->asked == 0)
		work_end(work);
}

static void
work_start(struct work *work)
{
	at_work++;
	work->asked = work->visit.count;
	for (size_t i = 0; i < work->visit.count; i++)
		work->visit.questions[i].secret = work->secret;
	for (size_t i = 0; i < work->visit.count; i++)
		ask_begin(&work->visit.questions[i], work_on_answer, work);
	if (work->visit.count == 0)
		work_end(work);
}

static struct work *
work_new(struct web_session *session, const struct web_request *request,
    const struct page_row *page, struct slice rest)
{
	struct work *work = mem_alloc(1, sizeof(*work));
	struct arena *arena = arena_new();

	*work = (struct work){ .session = session,
		.serial = session->serial,
		.http = request->http,
		.visit = { .arena = arena,
		    .page = page,
		    .rest = slice_copy(arena, rest),
		    .is_json = request->wants_json,
		    .may_order = role_may(session->role, ROLE_ACT, true),
		    .is_help = session->role == ROLE_HELP,
		    .may_change = session->role >= ROLE_ADMINISTER,
		    .said = slice_copy(arena, str_slice(&session->said)),
		    .way_back = slice_copy(arena, str_slice(&session->back)),
		    .now_s = clock_wall_s(),
		    .out = STR_INIT,
		    .back = STR_INIT } };
	strlcpy(work->csrf, session->csrf, sizeof(work->csrf));
	work->visit.csrf = work->csrf;
	strlcpy(work->secret, session->cookie, sizeof(work->secret));
	return work;
}

/* An order needs the token of a page of ours. */
static int
work_check(struct work *work, const struct web_request *request)
{
	struct visit *visit = &work->visit;
	bool is_order = strcmp(request->method, "POST") == 0;

	visit->status = 400;
	if (form_read_fields(is_order ? request->body : request->query,
	    visit->arena, &visit->form) < 0) {
		str_adds(&visit->out, "The fields cannot be read.");
		return -1;
	}
	if (is_order && !session_is_ours(work->session, form_get(&visit->form,
	    "csrf"))) {
		visit->status = 403;
		str_adds(&visit->out, "The form is not of this session: "
		    "load its page again.");
		return -1;
	}
	visit->status = 0;
	return visit->page->begin(visit);
}

void
visit_make(struct web_session *session, const struct web_request *request,
    const struct page_row *page, struct slice rest)
{
	struct work *work = work_new(session, request, page, rest);

	if (work_check(work, request) < 0) {
		reply_error(request->http, work->visit.status,
		    work->visit.out.buf, request->wants_json, true);
		work_free(work);
	} else if (at_work < VISITS_AT_WORK_MAX) {
		work_start(work);
	} else {
		STAILQ_INSERT_TAIL(&waiting, work, line);
	}
}

/* routes.h - the paths of the desk, a row each
 *
 * ROUTE(method, path, role, help, page, answer)
 *   method  "GET" (also HEAD) or "POST"
 *   path    one that ends with "/" takes a rest ("/" itself does not)
 *   role    NONE: anybody may; else a session needs this role
 *           (web/session/role.h) or one that may do more
 *   help    HELP: the role help may, too (the process that orders narrows its
 *           questions); ALONE: it may not
 *   page    of pages.h; NULL: answer is a function (serving.h)
 *
 * SPDX-License-Identifier: ISC
 */
ROUTE("GET", "/", LOOK, ALONE, &page_overview, NULL)
ROUTE("GET", "/queue", LOOK, HELP, &page_queue, NULL)
ROUTE("GET", "/message/", LOOK, HELP, &page_message, NULL)
ROUTE("GET", "/raw/", LOOK, HELP, &page_raw, NULL)
ROUTE("GET", "/destinations", LOOK, ALONE, &page_destinations, NULL)
ROUTE("GET", "/destination", LOOK, ALONE, &page_destination, NULL)
ROUTE("GET", "/review", LOOK, ALONE, &page_review, NULL)
ROUTE("GET", "/refused", LOOK, ALONE, &page_refused, NULL)
ROUTE("GET", "/refused/", LOOK, ALONE, &page_refusal, NULL)
ROUTE("GET", "/limits", LOOK, ALONE, &page_limits, NULL)
ROUTE("GET", "/orders", LOOK, ALONE, &page_orders, NULL)
ROUTE("GET", "/authentication", LOOK, ALONE, &page_authentication, NULL)
ROUTE("GET", "/health", LOOK, ALONE, &page_health, NULL)
ROUTE("GET", "/complete", LOOK, HELP, &page_complete, NULL)
ROUTE("POST", "/saved", LOOK, HELP, &page_saved, NULL)
ROUTE("POST", "/order", ACT, HELP, &page_order, NULL)
ROUTE("POST", "/change", ADMINISTER, ALONE, &page_change, NULL)
ROUTE("GET", "/done", LOOK, HELP, &page_done, NULL)
ROUTE("GET", "/live", LOOK, ALONE, NULL, live_begin)
ROUTE("POST", "/leave", LOOK, HELP, NULL, login_leave)
ROUTE("GET", "/open/", NONE, ALONE, NULL, login_open)
ROUTE("GET", "/style.css", NONE, ALONE, NULL, serve_style)
ROUTE("GET", "/script.js", NONE, ALONE, NULL, serve_script)
ROUTE("GET", "/login", NONE, ALONE, NULL, login_form)
ROUTE("POST", "/login", NONE, ALONE, NULL, login_enter)
ROUTE("GET", "/unlock", LOOK, HELP, NULL, login_unlock_form)
ROUTE("POST", "/unlock", LOOK, HELP, NULL, login_unlock)

/* routes.h - which address is what, a row each
 *
 * ROUTE(method, path, role, page, answer)
 *   method  "GET" (HEAD, too) or "POST"
 *   path    one that ends with "/" takes a rest ("/" alone does not)
 *   role    who may: NONE anybody, else who has a session with that role
 *           (web/session/role.h) or one that may more
 *   page    of pages.h; NULL: answer is a function of serve.c
 *
 * SPDX-License-Identifier: ISC
 */
ROUTE("GET", "/", LOOK, &page_overview, NULL)
ROUTE("GET", "/queue", LOOK, &page_queue, NULL)
ROUTE("GET", "/message/", LOOK, &page_message, NULL)
ROUTE("GET", "/raw/", LOOK, &page_raw, NULL)
ROUTE("GET", "/destinations", LOOK, &page_destinations, NULL)
ROUTE("GET", "/destination", LOOK, &page_destination, NULL)
ROUTE("GET", "/review", LOOK, &page_review, NULL)
ROUTE("GET", "/refused", LOOK, &page_refused, NULL)
ROUTE("GET", "/refused/", LOOK, &page_refusal, NULL)
ROUTE("GET", "/limits", LOOK, &page_limits, NULL)
ROUTE("GET", "/orders", LOOK, &page_orders, NULL)
ROUTE("GET", "/authentication", LOOK, &page_authentication, NULL)
ROUTE("GET", "/health", LOOK, &page_health, NULL)
ROUTE("POST", "/order", ACT, &page_order, NULL)
ROUTE("POST", "/change", ADMINISTER, &page_change, NULL)
ROUTE("GET", "/done", LOOK, &page_done, NULL)
ROUTE("GET", "/live", LOOK, NULL, live_begin)
ROUTE("POST", "/leave", LOOK, NULL, serve_leave)
ROUTE("GET", "/open/", NONE, NULL, serve_open)
ROUTE("GET", "/style.css", NONE, NULL, serve_style)
ROUTE("GET", "/script.js", NONE, NULL, serve_script)
ROUTE("GET", "/login", NONE, NULL, login_form)
ROUTE("POST", "/login", NONE, NULL, login_enter)
ROUTE("GET", "/unlock", LOOK, NULL, login_unlock_form)
ROUTE("POST", "/unlock", LOOK, NULL, login_unlock)

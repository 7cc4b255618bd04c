/* routes.h - which address is what, a row each
 *
 * ROUTE(method, path, role, page, answer)
 *   method  "GET" (HEAD, too) or "POST"
 *   path    one that ends with "/" takes a rest ("/" alone does not)
 *   role    ANYBODY, or KNOWN: who has a session
 *   page    of pages.h; NULL: answer is a function of serve.c
 *
 * SPDX-License-Identifier: ISC
 */
ROUTE("GET", "/", KNOWN, &page_overview, NULL)
ROUTE("GET", "/queue", KNOWN, &page_queue, NULL)
ROUTE("GET", "/message/", KNOWN, &page_message, NULL)
ROUTE("GET", "/raw/", KNOWN, &page_raw, NULL)
ROUTE("GET", "/destinations", KNOWN, &page_destinations, NULL)
ROUTE("GET", "/destination", KNOWN, &page_destination, NULL)
ROUTE("GET", "/review", KNOWN, &page_review, NULL)
ROUTE("GET", "/refused", KNOWN, &page_refused, NULL)
ROUTE("GET", "/refused/", KNOWN, &page_refusal, NULL)
ROUTE("GET", "/limits", KNOWN, &page_limits, NULL)
ROUTE("GET", "/orders", KNOWN, &page_orders, NULL)
ROUTE("GET", "/authentication", KNOWN, &page_authentication, NULL)
ROUTE("GET", "/health", KNOWN, &page_health, NULL)
ROUTE("POST", "/order", KNOWN, &page_order, NULL)
ROUTE("POST", "/change", KNOWN, &page_change, NULL)
ROUTE("GET", "/done", KNOWN, &page_done, NULL)
ROUTE("POST", "/leave", KNOWN, NULL, serve_leave)
ROUTE("GET", "/open/", ANYBODY, NULL, serve_open)
ROUTE("GET", "/style.css", ANYBODY, NULL, serve_style)
ROUTE("GET", "/script.js", ANYBODY, NULL, serve_script)

/* test_request.c - what a browser may want, and what is refused before
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "tests/unit/web/made_request.h"
#include "web/serve/request.h"

#define OURS "Host: 127.0.0.1:80\n"
#define FORM "Content-Type: application/x-www-form-urlencoded\n"

/* status 0: it is read, and these are its parts. */
static const struct {
	const char	*in;
	int		 status;
	const char	*path, *query, *body;
	bool		 wants_json;
} rows[] = {
	{ "GET /\n" OURS, 0, "/", "", "", false },
	{ "HEAD /queue?q=a?b\n" OURS, 0, "/queue", "q=a?b", "", false },
	{ "GET /?\nhost: 127.0.0.1:80\n", 0, "/", "", "", false },
	{ "GET /a%2f..\n" OURS "Accept: application/json\n", 0, "/a%2f..", "",
	    "", true },
	{ "GET /\n" OURS "Accept: text/html, application/json\n", 0, "/", "",
	    "", false },
	{ "GET /\n" OURS "Origin: http://evil.test\n", 0, "/", "", "", false },
	{ "PUT /queue\n" OURS, 0, "/queue", "", "", false },
	{ "POST /order\n" OURS FORM "Content-Length: 3\n\na=b", 0, "/order",
	    "", "a=b", false },
	{ "POST /order\n" OURS "content-type: Application/X-WWW-Form-"
	    "Urlencoded; charset=utf-8\nOrigin: http://127.0.0.1:80\n"
	    "Sec-Fetch-Site: same-origin\n\n", 0, "/order", "", "", false },
	{ "POST /order\n" OURS FORM "Origin: null\n", 0, "/order", "", "",
	    false },
	/* where it leads */
	{ "GET \n" OURS, 400, NULL, NULL, NULL, false },
	{ "GET *\n" OURS, 400, NULL, NULL, NULL, false },
	{ "GET http://127.0.0.1:80/\n" OURS, 400, NULL, NULL, NULL, false },
	{ "GET ?q=/\n" OURS, 400, NULL, NULL, NULL, false },
	/* whose host */
	{ "GET /\n", 421, NULL, NULL, NULL, false },
	{ "GET /\n" OURS OURS, 421, NULL, NULL, NULL, false },
	{ "GET /\n" OURS "HOST: evil.test\n", 421, NULL, NULL, NULL, false },
	{ "GET /\nHost: 127.0.0.1\n", 421, NULL, NULL, NULL, false },
	{ "GET /\nHost: 127.0.0.1:800\n", 421, NULL, NULL, NULL, false },
	{ "GET /\nHost:\n", 421, NULL, NULL, NULL, false },
	/* how long */
	{ "GET /\n" OURS "Transfer-Encoding: identity\n", 400, NULL, NULL,
	    NULL, false },
	{ "POST /\n" OURS FORM "Content-Length: 1\ncontent-length: 1\n\nx",
	    400, NULL, NULL, NULL, false },
	{ "POST /\n" OURS FORM "Content-Length: 1,1\n\nx", 400, NULL, NULL,
	    NULL, false },
	{ "POST /\n" OURS FORM "Content-Length: -1\n\nx", 400, NULL, NULL,
	    NULL, false },
	{ "POST /\n" OURS FORM "Content-Length: 0x1\n\nx", 400, NULL, NULL,
	    NULL, false },
	{ "POST /\n" OURS FORM "Content-Length:\n\nx", 400, NULL, NULL, NULL,
	    false },
	{ "POST /\n" OURS FORM "Content-Length: 65537\n\nx", 400, NULL, NULL,
	    NULL, false },
	{ "POST /\n" OURS FORM "Content-Length: 99999999999999999999\n\nx",
	    400, NULL, NULL, NULL, false },
	/* whose form */
	{ "POST /\n" OURS FORM "Origin: http://evil.test\n", 403, NULL, NULL,
	    NULL, false },
	{ "POST /\n" OURS FORM "Origin: https://127.0.0.1:80\n", 403, NULL,
	    NULL, NULL, false },
	{ "POST /\n" OURS FORM "Origin:\n", 403, NULL, NULL, NULL, false },
	{ "POST /\n" OURS FORM "Origin: http://127.0.0.1:80.evil.test\n", 403,
	    NULL, NULL, NULL, false },
	{ "POST /\n" OURS FORM "Sec-Fetch-Site: cross-site\n", 403, NULL,
	    NULL, NULL, false },
	{ "POST /\n" OURS FORM "Sec-Fetch-Site: same-site\n", 403, NULL, NULL,
	    NULL, false },
	{ "POST /\n" OURS, 415, NULL, NULL, NULL, false },
	{ "POST /\n" OURS FORM FORM, 415, NULL, NULL, NULL, false },
	{ "POST /\n" OURS "Content-Type: text/plain\n", 415, NULL, NULL, NULL,
	    false },
	{ "POST /\n" OURS "Content-Type: application/x-www-form-urlencodedx\n",
	    415, NULL, NULL, NULL, false },
	{ "POST /\n" OURS "Content-Type: multipart/form-data\n", 415, NULL,
	    NULL, NULL, false },
	/* more of a field than one */
	{ "POST /\n" OURS FORM "Origin: http://evil.test\n"
	    "Origin: http://127.0.0.1:80\n", 403, NULL, NULL, NULL, false },
	{ "POST /\n" OURS FORM "Sec-Fetch-Site: cross-site\n"
	    "Sec-Fetch-Site: none\n", 403, NULL, NULL, NULL, false },
	{ "GET /\n" OURS "Cookie: a=1\nCookie: b=2\n", 400, NULL, NULL, NULL,
	    false },
};

Test(request, rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct evhttp_request *http = made_request(slice_of(
		    rows[i].in));
		const char *words = NULL;
		struct web_request request;
		int status = request_read(http, "127.0.0.1:80", &request,
		    &words);

		cr_expect_eq(status, rows[i].status, "%s: %d", rows[i].in,
		    status);
		if (status != 0) {
			cr_expect(words != NULL && words[0] != '\0', "%s",
			    rows[i].in);
		} else if (rows[i].status == 0) {
			cr_expect(slice_is(request.path, rows[i].path), "%s",
			    rows[i].in);
			cr_expect(slice_is(request.query, rows[i].query), "%s",
			    rows[i].in);
			cr_expect(slice_is(request.body, rows[i].body), "%s",
			    rows[i].in);
			cr_expect_eq(request.wants_json, rows[i].wants_json,
			    "%s", rows[i].in);
		}
		evhttp_request_free(http);
	}
}

/* With TLS: the host is whatever is asked for, if it can be one. */
static const struct {
	const char	*in;
	int		 status;
} network_rows[] = {
	{ "GET /\nHost: mx.test:8443\n", 0 },
	{ "GET /\nHost: [2001:db8::1]:8443\n", 0 },
	{ "GET /\n", 421 },
	{ "GET /\nHost:\n", 421 },
	{ "GET /\nHost: a\nHost: a\n", 421 },
	{ "GET /\nHost: a b\n", 421 },
	{ "GET /\nHost: a/b\n", 421 },
	{ "GET /\nHost: user@mx.test\n", 421 },
	{ "POST /\nHost: mx.test:8443\n" FORM
	    "Origin: https://mx.test:8443\n", 0 },
	{ "POST /\nHost: mx.test:8443\n" FORM "Origin: null\n", 0 },
	{ "POST /\nHost: mx.test:8443\n" FORM
	    "Origin: http://mx.test:8443\n", 403 },
	{ "POST /\nHost: mx.test:8443\n" FORM "Origin: https://mx.test\n",
	    403 },
	{ "POST /\nHost: mx.test:8443\n" FORM
	    "Origin: https://evil.test:8443\n", 403 },
};

Test(request, on_a_network)
{
	for (size_t i = 0; i < sizeof(network_rows) / sizeof(network_rows[0]);
	    i++) {
		struct evhttp_request *http = made_request(slice_of(
		    network_rows[i].in));
		const char *words = NULL;
		struct web_request request;

		cr_expect_eq(request_read(http, NULL, &request, &words),
		    network_rows[i].status, "%s", network_rows[i].in);
		evhttp_request_free(http);
	}
}

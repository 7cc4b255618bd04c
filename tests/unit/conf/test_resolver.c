/* test_resolver.c - a resolver of our own
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf_case.h"
#include "conf/part/part.h"

#ifdef HAVE_UNBOUND

Test(conf_resolver, unless_more_is_said)
{
	struct conf_case c;

	case_good(&c, "resolver { }\n");
	cr_expect(conf_has_resolver(c.conf));
	cr_expect_str_eq(c.conf->dns_server, "127.0.0.25:53");
	cr_expect_null(c.conf->resolver.anchor);
	cr_expect_eq(c.conf->resolver.cache_bytes, 16 << 20);
	case_close(&c);
	case_good(&c, "dns 192.0.2.1\n");
	cr_expect_not(conf_has_resolver(c.conf));
	case_close(&c);
}

Test(conf_resolver, what_is_shown_is_read_the_same)
{
	struct conf_case c, again;
	struct str first = STR_INIT, second = STR_INIT;

	case_good(&c, "resolver [::1]:5300 { trust-anchor \"/etc/a b\"\n"
	    "forward 192.0.2.1 2001:db8::1 [2001:db8::2]:5353\n"
	    "stub corp.test 192.0.2.2:54; stub . 127.0.0.1; cache 1G }\n");
	cr_expect_str_eq(c.conf->dns_server, "[::1]:5300");
	str_adds(&first, "resolver ");
	conf_resolver_add(&first, &c.conf->resolver);
	cr_expect_str_eq(first.buf, "resolver [::1]:5300 { trust-anchor "
	    "\"/etc/a b\"; forward 192.0.2.1:53 [2001:db8::1]:53 "
	    "[2001:db8::2]:5353; stub corp.test 192.0.2.2:54; "
	    "stub . 127.0.0.1:53; cache 1G }", "%s", first.buf);
	case_good(&again, first.buf);
	str_adds(&second, "resolver ");
	conf_resolver_add(&second, &again.conf->resolver);
	cr_expect_str_eq(first.buf, second.buf);
	str_release(&first);
	str_release(&second);
	case_close(&c);
	case_close(&again);
}

static const struct {
	const char *text, *part;
} bad_rows[] = {
	{ "resolver 192.0.2.1:53 { }\n", "is no loopback address" },
	{ "resolver 0.0.0.0:53 { }\n", "is no loopback address" },
	{ "resolver 127.0.0.1 { }\n", "is no loopback address with a port" },
	{ "resolver { }\nresolver { }\n", "twice" },
	{ "dns 127.0.0.1\nresolver { }\n", "both say who answers" },
	{ "resolver { forward 127.0.0.25 }\n", "ask itself" },
	{ "resolver { stub a..b 192.0.2.1 }\n", "is no zone" },
	{ "resolver { stub corp.test }\n", "address" },
	{ "resolver { forward mx.test }\n", "address" },
	{ "resolver { trust-anchor root.key }\n", "absolute path" },
	{ "resolver { cache 1K }\n", "1K" },
};

Test(conf_resolver, what_is_refused)
{
	for (size_t i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); i++)
		case_refused(bad_rows[i].text, bad_rows[i].part);
}

#else

Test(conf_resolver, a_build_without_it_names_the_package)
{
	struct conf_case c;

	case_open(&c, "resolver { }\n");
	cr_expect_null(c.conf);
	cr_expect(strstr(c.shown.buf, "libunbound-dev") != NULL);
	case_close(&c);
}

#endif

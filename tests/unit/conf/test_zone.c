/* test_zone.c - which mail takes which sending zone
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf_case.h"
#include "conf/part/part.h"

static const char zones[] =
    "zone old { source 127.0.0.9 }\n"
    "zone news { source 127.0.0.2 helo a.example weight 3;"
    " source ::1; helo b.example; sender @list.example news-*@* <>;"
    " agents 5; parallel 2; rate 10/1m; warm-up 2026-11-21 50 100;"
    " overflow old }\n"
    "zone partner { sender @big.example; to .partner.example }\n"
    "zone vip { to vip.example }\n";

Test(conf_zone, the_first_that_fits_or_what_was_asked_for)
{
	static const struct { const char *asked, *channel, *sender, *host,
	    *want; } rows[] = {
		{ "", "smtp", "x@list.example", "a.example", "news" },
		{ "", "smtp", "x@LIST.example", "a.example", "news" },
		{ "", "smtp", "x@sub.list.example", "a.example", "" },
		{ "", "smtp", "news-7@any.example", "a.example", "news" },
		{ "", "smtp", "", "vip.example", "news" },
		{ "", "smtp", "x@big.example", "a.partner.example", "partner" },
		{ "", "smtp", "x@big.example", "partner.example", "" },
		{ "", "smtp", "x@other.example", "a.partner.example", "" },
		{ "", "smtp", "x@other.example", "VIP.example", "vip" },
		{ "old", "smtp", "x@list.example", "a.example", "old" },
		{ "gone", "smtp", "x@list.example", "a.example", "news" },
		{ "old", "local", "x@list.example", "-", "" },
		{ "", "lmtp", "x@list.example", "a.example", "" },
	};
	struct conf_case c;

	case_good(&c, zones);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct conf_zone *zone = conf_zone_for(c.conf,
		    slice_of(rows[i].asked), slice_of(rows[i].channel),
		    slice_of(rows[i].sender), slice_of(rows[i].host));

		cr_expect_str_eq(zone ? zone->name : "", rows[i].want,
		    "row %zu", i);
	}
	case_close(&c);
}

Test(conf_zone, shown_zones_make_the_same_zones)
{
	struct conf_case c, again;
	struct str first = STR_INIT, second = STR_INIT;

	case_good(&c, zones);
	for (size_t i = 0; i < c.conf->zone_count; i++) {
		str_adds(&first, "zone ");
		conf_show_zone(&c.conf->zones[i], &first);
		str_addc(&first, '\n');
	}
	case_good(&again, first.buf);
	for (size_t i = 0; i < again.conf->zone_count; i++) {
		str_adds(&second, "zone ");
		conf_show_zone(&again.conf->zones[i], &second);
		str_addc(&second, '\n');
	}
	cr_expect_str_eq(second.buf, first.buf);
	cr_expect(strstr(first.buf, "warm-up 2026-11-21 50 100; overflow old")
	    != NULL, "%s", first.buf);
	case_close(&c);
	case_close(&again);
	str_release(&first);
	str_release(&second);
}

Test(conf_zone, what_is_wrong_with_a_zone)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "zone A { }", "'A' is no name for a zone" },
		{ "zone a { }\nzone a { }", "there is a zone 'a' already" },
		{ "zone a { source here }", "'here' is not an address" },
		{ "zone a { warm-up tomorrow 5 }", "'tomorrow' is not a day" },
		{ "zone a { warm-up 2026-02-30 5 }",
		    "'2026-02-30' is not a day" },
		{ "zone a { warm-up 2026-02-03 }", "'warm-up' needs" },
		{ "zone a { overflow b }", "no zone is called 'b'" },
		{ "zone a { overflow b }\nzone b { overflow a }",
		    "its overflow comes back to itself" },
		{ "zone a { source 127.0.0.1 weight 0 }", "from 1 to 1000" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		case_refused(rows[i].in, rows[i].want);
}

Test(conf_zone, one_that_never_matches_is_a_warning)
{
	struct conf_case c;

	case_good(&c, "zone a { to * }\nzone b { sender @x.example }\n");
	cr_expect_eq(c.report.warnings, 1);
	cr_expect(strstr(c.shown.buf, "t.conf:2:1: warning: 'sender' and 'to' "
	    "can never match: zone a takes everything") != NULL, "%s",
	    c.shown.buf);
	case_close(&c);
}

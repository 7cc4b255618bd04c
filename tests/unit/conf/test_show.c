/* test_show.c - rows, settings and clauses as text
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf_case.h"
#include "conf/show/show.h"
#include "conf/statements/rows.h"

Test(conf, every_row_has_words_and_an_example_that_parses)
{
	case_directory();
	case_file("local.conf", "");
	case_file("scheduler.conf", "smtp/*\n  ageorder\n");
	for (size_t i = 0; i < conf_row_count; i++) {
		const struct conf_row *row = &conf_rows[i];
		struct conf_case c = { .shown = STR_INIT };
		const char *path;

		cr_expect(strlen(row->text) > 20, "%s: text", row->name);
		cr_expect(strlen(row->usage) > 3, "%s: usage", row->name);
		cr_expect(strlen(row->example) > 3, "%s: example", row->name);
		cr_expect(strstr(row->example, row->name) != NULL, "%s",
		    row->name);
		cr_expect(row->preset[0] != '\0' ||
		    strcmp(row->args, "setting") == 0, "%s: preset",
		    row->name);
		path = case_file("zmailer.conf", row->example);
		c.arena = arena_new();
		c.conf = conf_load(path, c.arena, &c.report);
		conf_report_print(&c.report, path, &c.shown);
		/* an example may name what a library reads */
		if (c.conf == NULL && strstr(c.shown.buf,
		    "this zmailer was built without") != NULL)
			cr_log_warn("%s: not tried: %s", row->name,
			    c.shown.buf);
		else
			cr_expect_not_null(c.conf, "%s: %s", row->name,
			    c.shown.buf);
		case_close(&c);
	}
	case_directory_remove();
}

Test(conf, every_setting_row_belongs_to_a_statement)
{
	for (size_t i = 0; i < conf_setting_count; i++) {
		const struct conf_row *row = conf_row_find(GROUP_TOP,
		    slice_of(conf_settings[i].statement));

		cr_assert_not_null(row, "%s", conf_settings[i].statement);
		cr_expect_str_eq(row->args, "setting");
		cr_expect(conf_settings[i].text[0] != '\0');
	}
}

Test(conf, shown_settings_make_the_same_configuration)
{
	struct conf_case c, again;
	struct str first = STR_INIT, second = STR_INIT;

	case_good(&c,
	    "host h.example\nlisten [::1]:26 submission\n"
	    "table t { a b; 10.0.0.0/8 }\nspool \"/a b\"\n"
	    "domain d.example { users <t>; deliver lmtp unix:/x }\n"
	    "route * via error \"go \\\"away\\\"\"\nroutes <t>\n"
	    "reject from 10.0.0.0/8 sender <> text \"x y\"\n"
	    "schedule a/b { retry 1s 90s stop; retry on greylist,rate 5m 1h; "
	    "retry on block suspend 6h; retry on unknown-user end; jitter 20%;"
	    " warn 1h 2d; rate 600/1m; provider 7; order age; fair no; "
	    "feedback no; queue-only yes; on-exhaust freeze; "
	    "connection-messages 9; channel-agents 8; expire-untried 1d; "
	    "command \"x -y\" }\n"
	    "mailbox maildir {home}/M\nbare-newline accept\nsize 3M\n");
	conf_show(c.conf, true, &first);
	/* presets that the file now says itself are said twice: cut them */
	case_open(&again, first.buf);
	cr_expect_not_null(again.conf, "%s%s", again.shown.buf, first.buf);
	if (again.conf != NULL) {
		cr_expect_str_eq(again.conf->spool_dir, "/a b");
		cr_expect_str_eq(again.conf->routes[0].host, "go \"away\"");
		struct str was = STR_INIT, is = STR_INIT;

		cr_expect_eq(again.conf->schedules[0].retry_s[1], 90);
		conf_show_clause(&c.conf->schedules[0], &was);
		conf_show_clause(&again.conf->schedules[0], &is);
		cr_expect_str_eq(is.buf, was.buf);
		str_release(&was);
		str_release(&is);
		cr_expect_str_eq(again.conf->schedules[0].command, "x -y");
		cr_expect_eq(again.conf->limits.size_bytes, 3u << 20);
		cr_expect(again.conf->bare_lf_ok);
		cr_expect_str_eq(again.conf->rules[0].patterns[
		    PATTERN_SENDER], "<>");
	}
	conf_show(c.conf, false, &second);
	cr_expect(strstr(second.buf, "# preset") == NULL);
	cr_expect(strstr(second.buf, "# t.conf:4") != NULL);
	case_close(&again);
	case_close(&c);
	str_release(&first);
	str_release(&second);
}

Test(conf, items_of_a_clause)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "retry expo(12s,5,5)", "; retry 12s 1m 5m 25m 125m; " },
		{ "retry expo(10s,1.5,3) stop", "; retry 10s 15s 22s stop; " },
		{ "retry expo(1w,100,3)", "; retry 1w 4w 4w; " },
		{ "retry 5m expo(1h,2,2)", "; retry 5m 1h 2h; " },
		{ "jitter 0", "; jitter 0%" },
		{ "warn 4h 1d", "; warn 4h 1d; " },
		{ "warn 0", "; warn 0; " },
		{ "rate 600/1m", "; rate 600/1m; " },
		{ "rate 0", "; rate 0; " },
		{ "retry on rate,greylist 5m",
		    "; retry on greylist,rate 5m; jitter" },
		{ "retry on rate greylist 5m stop",
		    "; retry on greylist,rate 5m stop; jitter" },
		{ "retry on block suspend 6h; retry on dns end",
		    "; retry on block suspend 6h; retry on dns end; jitter" },
		{ "on-exhaust freeze", "; on-exhaust freeze; queue-only no" },
		{ "queue-only yes", "; queue-only yes; order arrival" },
		{ "order age; fair no", "; order age; fair no; " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = STR_INIT, shown = STR_INIT;
		struct conf_case c;

		str_addf(&text, "schedule x/* { %s }\n", rows[i].in);
		case_good(&c, text.buf);
		conf_show_clause(&c.conf->schedules[0], &shown);
		cr_expect(strstr(shown.buf, rows[i].want) != NULL,
		    "row %zu: %s", i, shown.buf);
		case_close(&c);
		str_release(&text);
		str_release(&shown);
	}
}

/* Its own rules come first; of those below only what it does not hide. */
Test(conf, rules_by_class_are_inherited)
{
	struct conf_case c;
	struct str shown = STR_INIT;

	case_good(&c,
	    "schedule smtp/a.example { retry on rate 1h }\n"
	    "schedule smtp/* { retry on rate 5m; retry on rate,block 6h;"
	    " retry on tls end }\n");
	conf_show_clause(&c.conf->schedules[0], &shown);
	cr_expect(strstr(shown.buf, "; retry on rate 1h; "
	    "retry on rate,block 6h; retry on tls end; jitter") != NULL, "%s",
	    shown.buf);
	case_close(&c);
	str_release(&shown);
}

Test(conf, help_and_manual_have_every_statement)
{
	struct str help = STR_INIT, manual = STR_INIT;

	conf_manual(&manual);
	for (size_t i = 0; i < conf_row_count; i++) {
		str_reset(&help);
		conf_help(&help, conf_rows[i].name);
		cr_expect(strstr(help.buf, conf_rows[i].usage) != NULL);
	}
	for (size_t i = 0; i < conf_setting_count; i++)
		if (conf_settings[i].key[0] != '\0') {
			str_reset(&help);
			str_addf(&help, ".It %s\n", conf_settings[i].key);
			cr_expect(strstr(manual.buf, help.buf) != NULL, "%s",
			    help.buf);
		}
	str_reset(&help);
	conf_help(&help, "no such thing");
	cr_expect_str_empty(help.buf);
	str_release(&help);
	str_release(&manual);
}

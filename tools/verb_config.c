/* verb_config.c - zmailer config show: the settings in force
 *
 * In     zmailer config show [--all] [--json]
 * Out    statements and where each was written; all: the presets, too
 * Spec   zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "tools/verb.h"

#include "base/banned.h"

int
verb_config(int argc, char **argv, const char *conf_path)
{
	struct str text = STR_INIT;
	bool all = false, is_json = false;
	struct conf *conf;

	if (argc < 2)
		return verb_usage(argv[0], "say what: show");
	if (strcmp(argv[1], "show") != 0)
		return verb_usage(argv[0], "there is no '%s'", argv[1]);
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--all") == 0)
			all = true;
		else if (strcmp(argv[i], "--json") == 0)
			is_json = true;
		else
			return verb_usage(argv[0], "there is no option %s",
			    argv[i]);
	}
	conf = verb_conf(conf_path);
	if (is_json)
		conf_show_json(conf, all, &text);
	else
		conf_show(conf, all, &text);
	fputs(text.buf, stdout);
	str_release(&text);
	conf_free(&conf);
	return EX_OK;
}

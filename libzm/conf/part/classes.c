/* classes.c - the site's rules about replies
 *
 * In     the file that `classes` names
 * Out    rules in force in mail/classify.c; complaints of `zmailer check`
 * Holds  nothing
 * Spec   mail/classify.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/part/part.h"
#include "mail/classify.h"

#include "base/banned.h"

int
conf_classes_load(const struct conf *conf, struct err *err)
{
	struct str text = STR_INIT;
	int result;

	if (conf->classes_path != NULL &&
	    conf_read_file(conf->classes_path, &text, err) < 0)
		result = -1;
	else
		result = classify_load(str_slice(&text), err);
	str_release(&text);
	return result;
}

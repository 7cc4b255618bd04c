/* conf_manual.c - print zmailer.conf(5) from the rows of conf/statements/
 *
 * In     the rows of conf/statements/
 * Out    mdoc on standard output
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "conf/conf.h"

#include "base/banned.h"

int
main(void)
{
	struct str text = STR_INIT;

	conf_manual(&text);
	fputs(text.buf, stdout);
	str_release(&text);
	return fflush(stdout) == 0 ? 0 : 1;
}

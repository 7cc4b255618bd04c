/* at.c - places in sources
 *
 * In     a token
 * Out    where it stands, as settings and complaints keep it
 * Holds  nothing: below all other rooms of conf/
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/read/read.h"

#include "base/banned.h"

struct conf_at
conf_at(const struct conf_token *token)
{
	return (struct conf_at){ token->source->name, token->line,
		token->column };
}

/* orders.c - the verbs that are a row of tools/selection/orders.h
 *
 * In     argv
 * Out    what desk_order does
 * Spec   tools/selection/orders.h; doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/selection/selection.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

enum {
	DEFERRED = 1 << AREA_DEFERRED, FREEZER = 1 << AREA_FREEZER,
	POSTMAN = 1 << AREA_POSTMAN, TRASH = 1 << AREA_TRASH
};

#define ORDER(verb, op, done, files, act, flags) \
	int \
	verb_##verb(int argc, char **argv, const char *conf_path) \
	{ \
		static const struct desk_order order = \
		    { op, done, files, act, DESK_WRITES | (flags) }; \
		return desk_order(argc, argv, conf_path, &order); \
	}
#include "tools/selection/orders.h"

/* top.h - the mail system at a glance, as data and as a screen
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_TOP_H
#define ZM_TOOLS_TOP_H

#include "conf/conf.h"
#include "mail/spool/spool.h"
#include "tools/run/standstill/standstill.h"
#include "tools/screen/canvas.h"
#include "tools/verb/verb.h"
#include "tools/zmailer/report/tops.h"

enum { TOP_DESTINATIONS_MAX = 1000, TOP_HISTORY = 8 };

struct top_destination {
	char	name[80];		/* "smtp/gmail.com" */
	int64_t	ready, waiting, active, parked, agents, limit;
	bool	is_fine;
	char	state[60], words[120];
};

struct top {
	bool		 is_up;		/* the scheduler answers */
	int64_t		 now_ms;	/* steady, of this look */
	uint64_t	 accepted, delivered;	/* counters */
	double		 in_rate, out_rate;	/* a second; -1 not known */
	double		 in_history[TOP_HISTORY], out_history[TOP_HISTORY];
	uint64_t	 areas[AREA_COUNT];
	uint64_t	 only_copies;
	int		 disk_percent, inode_percent;	/* free; -1 */
	struct top_destination *destinations;	/* the fullest first */
	size_t		 count, room;
	struct arena	*arena;		/* of this look */
	struct standstill standstill;
	int		 page;		/* -1: destinations; enum tops_sort */
	enum tops_by	 by;
	struct str	 tops;		/* the page, or why there is none */
	int64_t		 tops_ms;	/* steady, when it was counted; 0 */
};

/* To be called before the first look, and after the last. */
void top_init(struct top *top);
void top_release(struct top *top);
/* Look again: counters, directories, the scheduler's destinations. */
void top_look(struct top *top, const struct conf *conf);
/* Count the page of today's top names from the journal, at most every half
 * minute, and at once when another page is asked for. */
void top_look_at_journal(struct top *top, const struct conf *conf);
/* nodes.c: the nodes of the cluster that the arguments mean, a line each.
 * returns the exit status; 1: one is silent */
int top_of_nodes(const struct conf *conf, const struct arguments *arguments);
/* now: "20:41:07". */
void top_draw(const struct top *top, const char *host, const char *now,
    struct canvas *canvas);

#endif

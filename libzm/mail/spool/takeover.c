/* takeover.c - messages of a lost node come into this spool
 *
 * In     files of a message as the caller writes them
 * Out    the message in queue/ and transport/, in router/ or in freezer/
 * Holds  both drafts open, with their locks
 * Trusts nothing: a crash at any point leaves rows I1 or I2
 * Spec   takeover.h; doc/INTERNALS.md rows I1 to I3
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "mail/spool/internal.h"
#include "mail/spool/takeover.h"

#include "base/banned.h"

int
takeover_begin(struct spool *spool, const char *key, bool is_frozen,
    bool has_control, struct takeover *out, struct err *err)
{
	char name[SPOOL_NAME_BYTES];

	memset(out, 0, sizeof(*out));
	out->control.fd = out->body.fd = -1;
	strlcpy(out->key, key, sizeof(out->key));
	spool_import_name(key, is_frozen, name);
	if (draft_open_again(spool, name, &out->body, err) != 0)
		return -1;
	if (!has_control)
		return 0;
	spool_import_control_name(key, out->body.inode, name);
	if (draft_open_again(spool, name, &out->control, err) == 0)
		return 0;
	draft_abort(&out->body);
	return -1;
}

/* I2 -> I3 -> P4: a start that finds it in between has the control file's
 * name, which says the inode. */
static int
takeover_publish_pair(struct takeover *takeover, struct err *err)
{
	struct spool *spool = takeover->body.spool;
	struct draft *drafts[] = { &takeover->body, &takeover->control };
	static const enum spool_area areas[] = { AREA_QUEUE, AREA_TRANSPORT };
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(spool, takeover->body.inode, name);
	for (int i = 0; i < 2; i++) {
		char from[SPOOL_NAME_BYTES];

		memcpy(from, drafts[i]->name, sizeof(from));
		draft_hand_over(drafts[i]);	/* not locked when seen */
		if (spool_rename(spool->area_fd[AREA_PUBLIC], from,
		    spool_dir_fd(spool, areas[i], 0), name) != 0)
			return err_sys(err, "rename %s to %s",
			    spool_label(AREA_PUBLIC, 0, from),
			    spool_label(areas[i], 0, name));
	}
	return 0;
}

int
takeover_publish(struct takeover *takeover, const char *freeze_cause,
    struct err *err)
{
	if (takeover->control.fd >= 0)
		return takeover_publish_pair(takeover, err);
	if (*freeze_cause != '\0')
		return draft_publish(&takeover->body, AREA_FREEZER, 0,
		    freeze_cause, err);
	return draft_publish(&takeover->body, AREA_ROUTER, 0, NULL, err);
}

void
takeover_drop(struct takeover *takeover)
{
	/* I1: the cluster's database has it still */
	if (takeover->control.fd >= 0)
		draft_abort(&takeover->control);
	if (takeover->body.fd >= 0)
		draft_abort(&takeover->body);
}

void
takeover_leave(struct takeover *takeover)
{
	if (takeover->control.fd >= 0)
		draft_hand_over(&takeover->control);
	if (takeover->body.fd >= 0)
		draft_hand_over(&takeover->body);
}

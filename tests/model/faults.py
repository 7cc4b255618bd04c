"""Faults that planted.py plants, and who has to find each.

by `trace`: a flow whose calls are traced is refused, and the row is named;
`flow`: a flow fails; `unit`: a test of a unit program fails; `matrix`: a
script of tests/crash finds it.  says is what has to be in the words of who
found it.

SPDX-License-Identifier: ISC
"""
UNIT = "tests/unit/mail/unit-mail"


class Fault:
    """flow: what is run, a flow, a filter of a unit or words of a script."""

    def __init__(self, flow, says, path, *edits, by="trace"):
        self.flow, self.says, self.path, self.by = flow, says, path, by
        self.edits = edits              # (what stands there, what instead)


FAULTS = {
    "no fsync before the rename to router/": Fault(
        "client/relay", "S1: its bytes were not synced",
        "libzm/mail/spool/draft.c",
        ("fsync(draft->fd) == 0 ? 0 : errno;", "0;")),
    "the control file is published before the body": Fault(
        "client/relay", "P3: its message is in CLAIM",
        "libzm/mail/spool/claim.c",
        ("	if (spool_rename(dir_fd, claim->name, spool->area_fd[AREA_QUEUE],\n"
         "		hashed) != 0) {",
         "	if (spool_rename(dir_fd, name, spool->area_fd[AREA_TRANSPORT],\n"
         "		hashed) != 0 || spool_rename(dir_fd, claim->name,\n"
         "		spool->area_fd[AREA_QUEUE], hashed) != 0) {"),
        ("	if (spool_rename(dir_fd, name, spool->area_fd[AREA_TRANSPORT],\n"
         "		hashed) != 0) {\n		err_sys",
         "	if (0) {\n		err_sys")),
    "the control file is unlinked before the body": Fault(
        "client/relay", "F0: its control file went first",
        "libzm/mail/spool/queued.c",
        ("	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)",
         "	if (unlinkat(spool->area_fd[AREA_TRANSPORT], name, 0) == 0)"),
        ("	if (unlinkat(spool->area_fd[AREA_TRANSPORT], name, 0) != 0 &&\n"
         "	    errno != ENOENT)\n		ending",
         "	if (unlinkat(spool->area_fd[AREA_QUEUE], name, 0) != 0 &&\n"
         "	    errno != ENOENT)\n		ending")),
    "no barrier between the two unlinks": Fault(
        "client/relay", "F2: the unlink of its message is not durable",
        "libzm/mail/spool/queued.c",
        ("	error = fsync(fd) == 0 ? 0 : errno;	/* F1 -> F2 */",
         "	error = 0;")),
    "the report is renamed before its record": Fault(
        "report/bounce", "S1: no `reported` record was written",
        "scheduler/report/reporter.c",
        ("	if (control_file_append(job->control_fd, job->id, report->records,\n"
         "	    report->count, &err) < 0) {\n		report_failed",
         "	if (draft_publish(&report->draft, AREA_ROUTER, 0, NULL, &err) < 0 ||\n"
         "	    control_file_append(job->control_fd, job->id, report->records,\n"
         "	    report->count, &err) < 0) {\n		report_failed"),
        ("	if (draft_publish(&report->draft, AREA_ROUTER, 0, NULL, &err) < 0)\n"
         "		event", "	if (0)\n		event")),
    "a shelved body's move is not synced before its control file's": Fault(
        "report/double-bounce", "D4: its message's move is not durable",
        "libzm/mail/spool/queued.c",
        ("	spool_sync_name(spool, AREA_POSTMAN, target);\n", "")),
    "a plan is published and its message's claim stays": Fault(
        "client/relay", "spool m1 expect empty",
        "libzm/mail/spool/claim.c",
        ("	if (spool_rename(dir_fd, claim->name, spool->area_fd[AREA_QUEUE],\n"
         "		hashed) != 0) {",
         "	if (linkat(dir_fd, claim->name, spool->area_fd[AREA_QUEUE],\n"
         "		hashed, 0) != 0) {"),
        by="flow"),
    "outcomes are not appended": Fault(
        "client/relay", "F0: recipient",
        "libzm/mail/control_file/append.c",
        ("		n = write(control_fd, text.buf, text.len);",
         "		n = (ssize_t)text.len;")),
    "a deleted message's control file goes to trash/ first": Fault(
        "queue/delete", "its message is in QUEUE",
        "libzm/mail/spool/delete.c",
        ("	/* P4 -> D7: the body first; recovery lets the control file follow.",
         "	snprintf(control, sizeof(control), \"%ju.queue-deleted.control\",\n"
         "	    (uintmax_t)spool_name_inode(name));\n"
         "	(void)spool_rename(spool->area_fd[AREA_TRANSPORT], name, to_fd,\n"
         "	    control);\n"
         "	/* P4 -> D7: the body first; recovery lets the control file follow."),
        ("	if (spool_rename(spool->area_fd[AREA_TRANSPORT], name, to_fd,\n"
         "		control) != 0)\n		return err_sys(err, \"move %s to trash/%s\"",
         "	if (0)\n		return err_sys(err, \"move %s to trash/%s\"")),
    "the head of a control file is believed": Fault(
        "crash/damaged", "recovered",
        "libzm/mail/control_file/job.c",
        ("	return crc == want ? 0 :", "	return crc != 1 || want != 1 ? 0 :"),
        ("		head - CONTROL_FIRST_LINE_BYTES) != crc)",
         "		head - CONTROL_FIRST_LINE_BYTES) == 1 && crc == 1)"),
        by="flow"),
    "a damaged body is taken for whole": Fault(
        "bit_rot.py --seed 1", "a wrong message",
        "libzm/mail/whole.c",
        ("	if (bytes == line->bytes && crc == line->crc)", "	if (1)"),
        by="matrix"),
    "a record has no checksum": Fault(
        "control_file/*", "test_control_records.c",
        "libzm/mail/control_file/record.c",
        ('	snprintf(sum, sizeof(sum), "d %08" PRIx32 " ", crc32c(id_crc,',
         '	snprintf(sum, sizeof(sum), "d %08" PRIx32 " ", 0 * crc32c(id_crc,'),
        by="unit"),
    "a record's checksum is not looked at": Fault(
        "control_file/*", "test_control_records.c",
        "libzm/mail/control_file/record.c",
        ("	    crc32c(id_crc, rest.p, rest.n) != sum)",
         "	    (crc32c(id_crc, rest.p, rest.n) == 1 && sum == 2))"),
        by="unit"),
    "recovery sweeps drafts that are complete": Fault(
        "recover/*", "test_recover.c",
        "libzm/mail/recover/public.c",
        ("	is_complete = spool_is_complete(fd, &err);",
         "	is_complete = spool_is_complete(fd, &err);\n"
         "	is_complete = is_complete == 1 ? 0 : is_complete;"),
        by="unit"),
    "recovery adopts drafts that are not complete": Fault(
        "recover/*", "test_recover.c",
        "libzm/mail/recover/public.c",
        ("	is_complete = spool_is_complete(fd, &err);",
         "	is_complete = spool_is_complete(fd, &err);\n"
         "	is_complete = is_complete == 0 ? 1 : is_complete;"),
        by="unit"),
    "a Maildir's message is reported without its fsync": Fault(
        "boxes.py --work maildir --kind power --all",
        "reported, and not there",
        "transports/mailbox/maildir.c",
        ("		    fsync(pending->file_fd) != 0) {", "		    0) {"),
        by="matrix"),
    "what was written half into an mbox is not cut off": Fault(
        "boxes.py --work mbox --kind fault --all", "torn 0 twice 1",
        "transports/mailbox/mbox.c",
        ("	if (ftruncate(fd, st->st_size) != 0)", "	if (0)"),
        by="matrix"),
    "an import does not note what it has taken": Fault(
        "queues.py --sample 4", "the plain run fails",
        "tools/zmailer/import/queue/take.c",
        ("	if (spool_imports_add(imports, it->row->key, id, err) != 0) {",
         "	if (0) {"),
        by="matrix"),
}

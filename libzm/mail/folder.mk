# libzm/mail - the contracts: what lies on disk, what came of a message
# order: . < spool table < control_file < recover words
libzm_a_SOURCES += \
	libzm/mail/envelope.c libzm/mail/envelope_parse.c libzm/mail/envelope.h \
	libzm/mail/forward_file.c libzm/mail/forward_file.h \
	libzm/mail/spool_id.c libzm/mail/spool_id.h \
	libzm/mail/first_line.c libzm/mail/first_line.h \
	libzm/mail/whole.c libzm/mail/whole.h \
	libzm/mail/verdict.c libzm/mail/verdict.h \
	libzm/mail/cause.c libzm/mail/cause.h \
	libzm/mail/words/selector_words.c libzm/mail/words/selector_words.h \
	libzm/mail/state.c libzm/mail/state.h \
	libzm/mail/classify.c libzm/mail/classify.h \
	libzm/mail/terms.c libzm/mail/terms.h \
	libzm/mail/form.c libzm/mail/form.h \
	libzm/mail/control_file/format.c libzm/mail/control_file/parse.c libzm/mail/control_file/record.c libzm/mail/control_file/replay.c \
	libzm/mail/control_file/steps.c libzm/mail/control_file/append.c libzm/mail/control_file/job.c \
	libzm/mail/control_file/rewrite.c libzm/mail/control_file/queue_count.c libzm/mail/control_file/queue_count.h libzm/mail/control_file/undelete.c \
	libzm/mail/control_file/window.c libzm/mail/control_file/window.h \
	libzm/mail/control_file/window_check.c libzm/mail/control_file/window_internal.h \
	libzm/mail/control_file/undelete.h libzm/mail/control_file/internal.h libzm/mail/control_file/control_file.h \
	libzm/mail/spool/names.c libzm/mail/spool/rename.c libzm/mail/spool/return.c libzm/mail/spool/takeover.c libzm/mail/spool/takeover.h libzm/mail/spool/imports.h libzm/mail/spool/open.c \
	libzm/mail/spool/lock.c libzm/mail/spool/file.c libzm/mail/spool/draft.c libzm/mail/spool/claim.c \
	libzm/mail/spool/moves.c libzm/mail/spool/moves.h \
	libzm/mail/spool/aside.c libzm/mail/spool/queued.c libzm/mail/spool/scan.c \
	libzm/mail/spool/keep.c libzm/mail/spool/keep.h libzm/mail/spool/rewrite.h \
	libzm/mail/spool/reason.c \
	libzm/mail/spool/spread.c libzm/mail/spool/trash.c libzm/mail/spool/delete.c \
	libzm/mail/spool/copy.c libzm/mail/spool/imports.c libzm/mail/spool/seen.c libzm/mail/spool/encode.c libzm/mail/spool/encode.h \
	libzm/mail/recover/recover.c libzm/mail/recover/base.c \
	libzm/mail/recover/imported.c libzm/mail/recover/public.c libzm/mail/recover/router.c \
	libzm/mail/recover/queued.c libzm/mail/recover/queued.h \
	libzm/mail/recover/lone.c libzm/mail/recover/twin.c \
	libzm/mail/recover/follow.c libzm/mail/recover/pair.c \
	libzm/mail/recover/recover.h \
	libzm/mail/recover/internal.h libzm/mail/spool/internal.h libzm/mail/spool/spool.h
libzm_a_SOURCES += \
	libzm/mail/table/table.c libzm/mail/table/table.h \
	libzm/mail/table/types.c libzm/mail/table/type.h \
	libzm/mail/table/text.c libzm/mail/table/read.c libzm/mail/table/parse.c \
	libzm/mail/table/side.c libzm/mail/table/side.h \
	libzm/mail/table/build.c libzm/mail/table/build.h \
	libzm/mail/table/net.c libzm/mail/table/internal.h \
	libzm/mail/table/cidr.c libzm/mail/table/faults.c \
	libzm/mail/table/pcre.c \
	libzm/mail/table/asked.c \
	libzm/mail/table/asked_link.c libzm/mail/table/asked_link.h \
	libzm/mail/table/definition.c libzm/mail/table/definition.h \
	libzm/mail/table/preset.c libzm/mail/table/preset.h \
	libzm/mail/table/cdb.c libzm/mail/table/lmdb.c \
	libzm/mail/table/alias_check.c libzm/mail/table/alias_check.h \
	libzm/mail/table/passwd.c libzm/mail/users.c libzm/mail/users.h

# the shipped classes as a C string
EXTRA_DIST += libzm/mail/classes
BUILT_SOURCES += libzm/mail/classes.inc
CLEANFILES += libzm/mail/classes.inc libzm/mail/classes.inc.new
libzm/mail/classes.inc: libzm/mail/classes
	@$(MKDIR_P) libzm/mail
	$(AM_V_GEN)(echo 'static const char shipped[] ='; \
	    sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' \
	    $(srcdir)/libzm/mail/classes; echo ';') > $@.new && mv $@.new $@
libzm/mail/classify.$(OBJEXT): libzm/mail/classes.inc
pkgdata_DATA = libzm/mail/classes

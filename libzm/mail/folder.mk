libzm_a_SOURCES += \
	libzm/mail/envelope.c libzm/mail/envelope_parse.c libzm/mail/envelope.h \
	libzm/mail/verdict.c libzm/mail/verdict.h \
	libzm/mail/classify.c libzm/mail/classify.h \
	libzm/mail/terms.c libzm/mail/terms.h \
	libzm/mail/form.c libzm/mail/form.h \
	libzm/mail/queue.c libzm/mail/queue_list.c libzm/mail/queue.h \
	libzm/mail/work_format.c libzm/mail/work_parse.c libzm/mail/work_record.c libzm/mail/work_replay.c \
	libzm/mail/work_steps.c libzm/mail/work_append.c libzm/mail/work_job.c \
	libzm/mail/work_internal.h libzm/mail/work.h \
	libzm/mail/spool_names.c libzm/mail/spool_rename.c libzm/mail/spool_open.c \
	libzm/mail/spool_lock.c libzm/mail/spool_draft.c libzm/mail/spool_claim.c \
	libzm/mail/spool_aside.c libzm/mail/spool_work.c libzm/mail/spool_scan.c \
	libzm/mail/spool_spread.c libzm/mail/spool_trash.c libzm/mail/spool_delete.c \
	libzm/mail/spool_copy.c libzm/mail/spool_recover.c \
	libzm/mail/spool_recover_public.c libzm/mail/spool_recover_router.c \
	libzm/mail/spool_recover_work.c libzm/mail/spool_recover_twin.c \
	libzm/mail/spool_recover.h libzm/mail/spool_internal.h libzm/mail/spool.h
libzm_a_SOURCES += \
	libzm/mail/table.c libzm/mail/table.h \
	libzm/mail/table_types.c libzm/mail/table_type.h \
	libzm/mail/table_text.c libzm/mail/table_parse.c \
	libzm/mail/table_side.c libzm/mail/table_side.h \
	libzm/mail/table_build.c libzm/mail/table_build.h \
	libzm/mail/table_net.c libzm/mail/table_internal.h \
	libzm/mail/table_cidr.c libzm/mail/table_pcre.c \
	libzm/mail/table_cdb.c libzm/mail/table_lmdb.c \
	libzm/mail/alias_check.c libzm/mail/alias_check.h \
	libzm/mail/table_passwd.c libzm/mail/users.c libzm/mail/users.h

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

# tools - zmailer and the classic names
sbin_PROGRAMS += tools/zmailer
tools_zmailer_SOURCES = tools/zmailer.c tools/verb.h tools/verbs.h tools/verb_pages.h tools/verb_help.c
tools_zmailer_SOURCES += tools/verb_demo.c
tools_zmailer_SOURCES += tools/verb_check.c tools/verb_config.c tools/verb_init.c
tools_zmailer_SOURCES += tools/verb_run.c tools/verb_status.c \
	tools/verb_trace.c tools/verb_events.c
tools_zmailer_SOURCES += tools/verb_list.c tools/verb_show.c
tools_zmailer_SOURCES += tools/verb_sink.c tools/verb_classify.c
tools_zmailer_SOURCES += tools/verb_orders.c tools/verb_test.c tools/verb_logrotate.c
tools_zmailer_SOURCES += tools/verb_table.c tools/verb_route.c
tools_zmailer_SOURCES += tools/verb_review.c tools/verb_top.c tools/verb_report.c tools/verb_completion.c tools/verb_metrics.c tools/metrics/spool.c tools/metrics/queue.c tools/metrics/certificates.c tools/metrics/metrics.h tools/verb_why.c tools/verb_zones.c tools/verb_count.c tools/verb_queue.c
tools_zmailer_SOURCES += tools/verb_destinations.c
tools_zmailer_SOURCES += tools/verb_doctor.c tools/verb_domain.c \
	tools/verb_block.c tools/verb_limit.c tools/verb_log.c tools/verb_alias.c \
	tools/verb_cert.c \
	tools/verb_hello.c tools/verb_setup.c tools/submit.c tools/submit.h \
	tools/change/carry_out.c
tools_zmailer_SOURCES += tools/verb_dkim.c tools/dkim/dkim.h \
	tools/dkim/edit.c tools/dkim/look.c
tools_zmailer_SOURCES += tools/verb_smarthost.c \
	tools/smarthost/smarthost.h tools/smarthost/edit.c \
	tools/smarthost/try.c
tools_zmailer_SOURCES += tools/verb_fsck.c tools/verb_resubmit.c \
	tools/verb_backup.c tools/verb_restore.c
tools_zmailer_LDADD = tools/libtools.a $(ZM_LIBS) $(NCURSES_LIBS) $(ZSTD_LIBS)

# what the verbs share, and what the unit tests link
noinst_LIBRARIES += tools/libtools.a
tools_libtools_a_SOURCES = \
	tools/run/supervisor.c tools/run/supervisor.h \
	tools/run/supervised.c tools/run/supervised.h tools/run/state.c \
	tools/run/dirs.c tools/run/manager.c tools/run/libexec.c \
	tools/queue/view.c tools/queue/view.h tools/queue/live.c tools/queue/asked.c \
	tools/queue/print.c \
	tools/backup/backup.h tools/backup/archive.c tools/backup/key.c \
	tools/backup/take.c tools/backup/settings.c \
	tools/backup/index.c tools/backup/put.c tools/backup/mark.c \
	tools/backup/files.c \
	tools/change/change.h tools/change/change.c tools/change/write.c \
	tools/change/diff.c tools/change/versions.c \
	tools/doctor/doctor.h tools/doctor/areas.h tools/doctor/report.c \
	tools/doctor/ask.c tools/doctor/names.c \
	tools/doctor/certificates.c tools/doctor/ports.c \
	tools/doctor/spool.c tools/doctor/machine.c \
	tools/report/count.c tools/report/print.c tools/report/report.h \
	tools/report/capacity.c tools/report/capacity.h \
	tools/top/look.c tools/top/draw.c tools/top/top.h \
	tools/screen/canvas.c tools/screen/canvas.h \
	tools/screen/question.c tools/screen/question.h \
	tools/screen/terminal.c tools/screen/terminal.h \
	tools/review/review.c tools/review/message.c tools/review/review.h \
	tools/classic.c tools/desk/choose.c tools/desk/meant.c tools/desk/aside.c tools/desk/args.c tools/desk/confirm.c tools/desk/act.c tools/desk/away.c tools/desk/allow.c tools/review/notes.c tools/desk/order.c \
	tools/desk/orders.h tools/desk/desk.h tools/queue/control.c tools/queue/control.h \
	tools/queue/words.c tools/queue/words.h \
	tools/queue/turns.c tools/queue/turns.h \
	tools/queue/mailq_flags.c tools/queue/mailq_flags.h \
	tools/queue/mailq_sums.c tools/queue/mailq_local.c tools/queue/mailq_local.h \
	tools/sink/sink.c tools/sink/sink.h tools/sink/session.c \
	tools/sink/faults.h \
	tools/journal/journal.c tools/journal/journal.h tools/journal/line.c \
	tools/journal/names.c tools/journal/names.h \
	tools/journal/frame.c tools/journal/frame.h \
	tools/journal/keep.c tools/journal/keep.h \
	tools/journal/life.c tools/journal/life_print.c \
	tools/journal/ask.c tools/journal/ask.h \
	tools/journal/facts.c tools/journal/facts.h

# the installed layout in the build tree: zmailer, demo and tests run from it
.PHONY: libexec-tree
all-local: libexec-tree
libexec-tree: $(pkglibexec_PROGRAMS) $(agent_PROGRAMS)
	@$(MKDIR_P) libexec/zmailer/ta
	@for p in $(pkglibexec_PROGRAMS); do \
	    $(LN_S) -f ../../$$p libexec/zmailer/; done
	@for p in $(agent_PROGRAMS); do \
	    $(LN_S) -f ../../../$$p libexec/zmailer/ta/; done
clean-local:
	rm -rf libexec

sbin_PROGRAMS += tools/sendmail
tools_sendmail_SOURCES = tools/sendmail.c tools/sendmail_flags.h \
	tools/sendmail.h tools/sendmail_modes.c \
	tools/sendmail_errors.c tools/sendmail_errors.h \
	tools/sendmail_wait.c tools/sendmail_wait.h tools/submit.c tools/submit.h \
	tools/bsmtp.c tools/bsmtp_report.c tools/bsmtp.h
tools_sendmail_LDADD = tools/libtools.a $(ZM_LIBS)

bin_PROGRAMS += tools/newaliases
tools_newaliases_SOURCES = tools/newaliases.c
tools_newaliases_LDADD = $(ZM_LIBS)

bin_PROGRAMS += tools/mailq
tools_mailq_SOURCES = tools/mailq.c tools/queue/mailq_remote.c tools/queue/mailq_remote.h
tools_mailq_LDADD = tools/libtools.a $(ZM_LIBS)

EXTRA_DIST += tools/setup .ci/run

# the house rules that a compiler does not know
EXTRA_DIST += tools/lint/lint.py tools/lint/documents.py tools/lint/test_lint.py
if HAVE_PYTHON3
TESTS += tools/lint/test_lint.py
lint:
	@$(PYTHON3) $(srcdir)/tools/lint/lint.py $(srcdir) $(CC) \
		$(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS)
else
lint:
	@echo "make lint needs python3: apt-get install python3" >&2
	@exit 1
endif
.PHONY: lint

# tools - zmailer(8), sendmail(1), newaliases(1), mailq(1)
# order: reports < verb < screen < journal < queue < copies < versions < answers < nodes < forward < run < change < publish < selection <
#   submit < mailq < sendmail < zmailer
sbin_PROGRAMS += bin/zmailer bin/sendmail
bin_PROGRAMS += bin/newaliases bin/mailq

# a verb is a row of zmailer/verbs/verbs.h, and a file or a folder of its name
bin_zmailer_SOURCES = tools/zmailer/alias/alias.c tools/zmailer/alias/alias.h \
	tools/zmailer/block/block.c tools/zmailer/block/shared.c tools/zmailer/block/shared.h \
	tools/zmailer/block/target.c tools/zmailer/block/target.h \
	tools/zmailer/block/user.c tools/zmailer/block/user.h \
	tools/zmailer/cert.c tools/zmailer/check.c tools/zmailer/verbs/classic.c \
	tools/zmailer/classify.c \
	tools/zmailer/completion.c tools/zmailer/config.c \
	tools/zmailer/count.c tools/zmailer/demo/cluster.c \
	tools/zmailer/demo/demo.c tools/zmailer/demo/demo.h tools/zmailer/demo/stage.c \
	tools/zmailer/orders/move.c tools/zmailer/orders/move.h \
	tools/zmailer/orders/destinations.c tools/zmailer/domain.c \
	tools/zmailer/events.c tools/zmailer/fsck.c tools/zmailer/hello.c \
	tools/zmailer/help/help.c tools/zmailer/init.c tools/zmailer/limit.c \
	tools/zmailer/list.c tools/zmailer/log.c tools/zmailer/logrotate.c \
	tools/zmailer/help/groups.h tools/zmailer/orders/orders.c tools/zmailer/help/pages.h \
	tools/zmailer/resubmit.c tools/zmailer/route.c tools/zmailer/run.c tools/zmailer/search.c \
	tools/zmailer/setup/setup.c tools/zmailer/setup/text.c \
	tools/zmailer/setup/text.h tools/zmailer/show.c tools/zmailer/status.c \
	tools/zmailer/table.c tools/zmailer/test.c tools/zmailer/trace.c tools/zmailer/upgrade.c \
	tools/zmailer/verbs/verb.h tools/zmailer/verbs/verbs.h tools/zmailer/watch.c tools/zmailer/web/send.c tools/zmailer/web/send.h tools/zmailer/web/web.c tools/zmailer/why.c \
	tools/zmailer/verbs/zmailer.c tools/zmailer/zones.c
bin_zmailer_SOURCES += tools/zmailer/auth/auth.c tools/zmailer/auth/auth.h \
	tools/zmailer/auth/look.c tools/zmailer/auth/show.c tools/zmailer/auth/spool.c
bin_zmailer_SOURCES += tools/nodes/nodes.c tools/nodes/look.c tools/nodes/merge.c tools/nodes/story.c
bin_zmailer_SOURCES += tools/zmailer/cluster/cluster.c tools/zmailer/cluster/cluster.h \
	tools/zmailer/cluster/reach.c tools/zmailer/cluster/init.c tools/zmailer/cluster/keys.c tools/zmailer/cluster/status.c \
	tools/zmailer/cluster/takeover.c tools/zmailer/cluster/held.c \
	tools/zmailer/top/nodes.c
bin_zmailer_SOURCES += tools/zmailer/dns/dns.c
bin_zmailer_SOURCES += tools/zmailer/user/user.c tools/zmailer/user/user.h \
	tools/zmailer/user/base.c tools/zmailer/user/list.c \
	tools/zmailer/user/places.c tools/zmailer/user/rows.c
bin_zmailer_SOURCES += tools/zmailer/sts/sts.c tools/zmailer/sts/sts.h \
	tools/zmailer/sts/publish.c
bin_zmailer_SOURCES += tools/zmailer/dkim/dkim.c tools/zmailer/dkim/dkim.h \
	tools/zmailer/dkim/edit.c tools/zmailer/dkim/look.c \
	tools/zmailer/dkim/in_table.c tools/zmailer/dkim/rotate.c
bin_zmailer_SOURCES += tools/zmailer/smarthost/edit.c \
	tools/zmailer/smarthost/smarthost.c \
	tools/zmailer/smarthost/smarthost.h tools/zmailer/smarthost/try.c
bin_zmailer_SOURCES += tools/zmailer/metrics/certificates.c \
	tools/zmailer/metrics/metrics.c tools/zmailer/metrics/metrics.h \
	tools/zmailer/metrics/listen.c tools/zmailer/metrics/neighbours.c \
	tools/zmailer/metrics/queue.c tools/zmailer/metrics/spool.c \
	tools/zmailer/metrics/processes.c
bin_zmailer_SOURCES += tools/zmailer/doctor/doctor.c
bin_zmailer_SOURCES += tools/zmailer/queue/connections.c tools/zmailer/queue/by.c tools/zmailer/queue/queue.c \
	tools/zmailer/queue/queue.h
bin_zmailer_SOURCES += tools/zmailer/report/report.c \
	tools/zmailer/report/send/mail.c tools/zmailer/report/send/mail.h \
	tools/zmailer/report/send/dmarc.c \
	tools/zmailer/report/send/send.c tools/zmailer/report/send/send.h \
	tools/zmailer/report/send/sending.h tools/zmailer/report/send/tls.c
bin_zmailer_SOURCES += tools/zmailer/report/received.c \
	tools/zmailer/report/received.h
bin_zmailer_SOURCES += tools/zmailer/replay/replay.c
bin_zmailer_SOURCES += tools/zmailer/whynot/whynot.c
bin_zmailer_SOURCES += tools/zmailer/audit/audit.c
bin_zmailer_SOURCES += tools/zmailer/learn/learn.c \
	tools/zmailer/learn/program.c tools/zmailer/learn/program.h
bin_zmailer_SOURCES += tools/zmailer/import/import.c
bin_zmailer_SOURCES += tools/zmailer/top/top.c
bin_zmailer_SOURCES += tools/zmailer/review/review.c
bin_zmailer_SOURCES += tools/zmailer/sink/sink.c
bin_zmailer_SOURCES += tools/zmailer/backup/backup.c \
	tools/zmailer/backup/restore.c
bin_zmailer_LDADD = tools/libtools.a $(ZM_LIBS) $(NCURSES_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS)

bin_sendmail_SOURCES = tools/sendmail/bsmtp.c tools/sendmail/bsmtp.h \
	tools/sendmail/bsmtp_report.c tools/sendmail/errors.c \
	tools/sendmail/errors.h tools/sendmail/flags.h tools/sendmail/modes.c \
	tools/sendmail/sendmail.c tools/sendmail/sendmail.h \
	tools/sendmail/wait.c tools/sendmail/wait.h tools/sendmail/without.c
# the archives alone, and first what a program of one message needs
bin_sendmail_LDADD = tools/libtools.a libzm.a $(SMALL_LIBS) $(ZM_LIBS)

# programs of another package stay; with DESTDIR nothing of the system is met
EXTRA_DIST += tools/install-guard
.PHONY: install-guard
install-sbinPROGRAMS install-binPROGRAMS: install-guard
install-guard:
	@test -n "$(DESTDIR)" || OVERWRITE="$(OVERWRITE)" \
	  sh $(srcdir)/tools/install-guard $(SENDMAIL_PLACES)

# programs look for sendmail in one of two places
.PHONY: sendmail-link sendmail-unlink
install-exec-hook: sendmail-link
sendmail-link:
	@$(MKDIR_P) "$(DESTDIR)$(exec_prefix)/lib"
	@link="$(DESTDIR)$(exec_prefix)/lib/sendmail"; \
	if test -e "$$link" && ! test -L "$$link"; then \
	  echo "$$link is not a link and stays as it is" >&2; exit 0; fi; \
	echo " $(LN_S) $(sbindir)/sendmail $$link"; \
	rm -f "$$link" && $(LN_S) "$(sbindir)/sendmail" "$$link"
uninstall-hook: sendmail-unlink
sendmail-unlink:
	-@link="$(DESTDIR)$(exec_prefix)/lib/sendmail"; \
	test "`readlink "$$link"`" != "$(sbindir)/sendmail" || rm -f "$$link"

# until the restart; not where the package of a distribution is made
.PHONY: restart-say
install-exec-hook: restart-say
restart-say: sendmail-link
	@if test -z "$(DESTDIR)" && "$(sbindir)/zmailer" status 2>/dev/null | \
	    grep -q 'what runs is version'; then \
	  echo "*** zmailer runs, and older than this; now: zmailer upgrade"; fi

EXTRA_DIST += tools/uninstall-rest
UNINSTALL_REST = DESTDIR="$(DESTDIR)" NOTE="`pwd`/tools/uninstall.note" \
	SBINDIR="$(sbindir)" UNIT="$(unitdir)/zmailer.service" \
	UNITDIR="$(unitdir)" CONFDIR="$(sysconfdir)/zmailer" \
	SYSUSERS="$(prefix)/lib/sysusers.d/zmailer.conf" \
	SPOOL="$(localstatedir)/spool/zmailer" RUN="$(runstatedir)/zmailer" \
	LOG="$(localstatedir)/log/zmailer" DIRS="$(agentdir) $(pkglibexecdir) \
	$(pkgdatadir)/forms $(pkgdatadir) $(docdir)/examples $(docdir)" \
	sh $(srcdir)/tools/uninstall-rest
SENDMAIL_PLACES = "$(sbindir)/sendmail" "$(bindir)/mailq" \
	"$(bindir)/newaliases" "$(exec_prefix)/lib/sendmail"
.PHONY: uninstall-guard uninstall-rest
uninstall-agentPROGRAMS uninstall-binPROGRAMS uninstall-sbinPROGRAMS: \
	uninstall-guard
uninstall-pkglibexecPROGRAMS uninstall-unitDATA: uninstall-guard
uninstall-local uninstall-man: uninstall-guard
uninstall-guard:
	@$(MKDIR_P) tools && $(UNINSTALL_REST) before
uninstall-hook: uninstall-rest
uninstall-rest: sendmail-unlink
	@$(UNINSTALL_REST) after $(SENDMAIL_PLACES)

bin_newaliases_SOURCES = tools/sendmail/newaliases.c
bin_newaliases_LDADD = $(ZM_LIBS)

bin_mailq_SOURCES = tools/mailq/mailq.c tools/mailq/remote.c tools/mailq/remote.h
bin_mailq_LDADD = tools/libtools.a $(ZM_LIBS)

# what the programs share, and what the unit tests link
noinst_LIBRARIES += tools/libtools.a
tools_libtools_a_SOURCES = tools/verb/arguments.c tools/verb/options.h \
	tools/verb/usage.c tools/verb/usage.h tools/verb/verb.c \
	tools/verb/verb.h
tools_libtools_a_SOURCES += tools/screen/canvas.c tools/screen/canvas.h \
	tools/screen/hidden.c tools/screen/hidden.h tools/screen/question.c tools/screen/question.h \
	tools/screen/terminal.c tools/screen/terminal.h
tools_libtools_a_SOURCES += tools/journal/ask.c tools/journal/ask.h \
	tools/journal/facts.c tools/journal/facts.h \
	tools/journal/journal.c tools/journal/journal.h \
	tools/journal/keep.c tools/journal/keep.h tools/journal/life.c \
	tools/journal/life_print.c tools/journal/tell.c \
	tools/journal/tellings.h tools/journal/line.c \
	tools/journal/record_bodies.c \
	tools/journal/record_bodies.h tools/journal/record_files.c \
	tools/journal/record_files.h tools/journal/seal.c tools/journal/seal.h \
	tools/journal/seal_internal.h tools/journal/seal_read.c
tools_libtools_a_SOURCES += tools/queue/area.c tools/queue/area.h tools/queue/asked.c \
	tools/queue/control.c \
	tools/queue/process.c tools/queue/process.h \
	tools/queue/control.h tools/queue/live.c tools/queue/print.c \
	tools/queue/named.c tools/queue/turns.c tools/queue/turns.h tools/queue/view.c \
	tools/queue/view.h tools/queue/words.c tools/queue/words.h
tools_libtools_a_SOURCES += tools/change/change.c tools/change/change.h \
	tools/change/carry_out.c tools/change/diff.c
tools_libtools_a_SOURCES += tools/versions/versions.c \
	tools/versions/versions.h tools/versions/write.c \
	tools/versions/write.h
tools_libtools_a_SOURCES += tools/nodes/collect.c tools/nodes/gather.c \
	tools/nodes/internal.h tools/nodes/nodes.h tools/nodes/remote.c
tools_libtools_a_SOURCES += tools/publish/ask.c tools/publish/ask.h \
	tools/publish/drift.c tools/publish/drift.h tools/publish/figures.c \
	tools/publish/figures.h tools/publish/install.c tools/publish/install.h \
	tools/publish/offer.c tools/publish/order.c tools/publish/order.h \
	tools/publish/place.c tools/publish/place.h \
	tools/publish/publish.c tools/publish/publish.h tools/publish/record.c \
	tools/publish/record.h tools/publish/serve.c tools/publish/serve.h \
	tools/publish/set.c tools/publish/set.h tools/publish/steps.h \
	tools/publish/result.c tools/publish/trials.c tools/publish/trials.h tools/publish/undo.c
tools_libtools_a_SOURCES += tools/selection/act.c tools/selection/allow.c \
	tools/selection/args.c tools/selection/aside.c tools/selection/away.c \
	tools/selection/choose.c tools/selection/confirm.c \
	tools/selection/meant.c tools/selection/order.c \
	tools/selection/orders.h tools/selection/progress.c \
	tools/selection/progress.h tools/selection/selection.h
tools_libtools_a_SOURCES += tools/run/supervised.c tools/run/supervised.h \
	tools/run/ask_router.c tools/run/ask_router.h \
	tools/run/beside/beside.c tools/run/beside/beside.h \
	tools/run/dirs.c tools/run/listeners.c tools/run/listeners.h \
	tools/run/beside/consulted.c tools/run/beside/consulted.h \
	tools/copies/sweep.c tools/copies/sweep.h \
	tools/copies/take.c tools/copies/take.h \
	tools/copies/lost.c tools/copies/lost.h \
	tools/copies/moved.c tools/copies/moved.h \
	tools/copies/held.c tools/copies/held.h \
	tools/copies/vet.c tools/copies/vet.h \
	tools/run/beside/mover.c tools/run/beside/mover.h \
	tools/run/beside/taker.c tools/run/beside/taker.h \
	tools/run/beside/keeper.c tools/run/beside/keeper.h tools/run/left.c tools/run/left.h \
	tools/run/watchdog.c tools/run/watchdog.h \
	tools/run/libexec.c tools/run/manager.c tools/run/names.c tools/run/names.h \
	tools/run/running.c tools/run/standstill/standstill.c tools/run/standstill/standstill.h \
	tools/run/standstill/files.c tools/run/standstill/parts.h \
	tools/run/standstill/processes.c tools/run/standstill/objectives.c \
	tools/run/standstill/cluster.c tools/run/standstill/notify.c tools/run/standstill/resolver.c \
	tools/run/standstill/rows.c \
	tools/run/standstill/progress.c \
	tools/run/state.c tools/run/supervisor.c \
	tools/run/program.c tools/run/program.h \
	tools/run/taking.c tools/run/taking.h \
	tools/run/adopting.c tools/run/handover/handover.c tools/run/handover/handover.h \
	tools/run/handover/fds.c tools/run/handover/table.h \
	tools/run/running.h tools/run/upgrade_order.c \
	tools/run/upgrading.c tools/run/upgrading.h \
	tools/run/supervisor.h tools/run/unit.c tools/run/unit.h
tools_libtools_a_SOURCES += tools/answers/answers.c tools/answers/answers.h \
	tools/answers/ask.c tools/answers/internal.h \
	tools/answers/question.c tools/answers/serve.c
tools_libtools_a_SOURCES += tools/forward/forward.c tools/forward/forward.h \
	tools/forward/line.c tools/forward/run.c
tools_libtools_a_SOURCES += tools/submit/caller.c \
	tools/submit/submit.c tools/submit/submit.h
tools_libtools_a_SOURCES += tools/mailq/flags.c tools/mailq/flags.h \
	tools/mailq/local.c tools/mailq/local.h tools/mailq/sums.c
tools_libtools_a_SOURCES += tools/zmailer/doctor/areas.h \
	tools/zmailer/doctor/ask.c tools/zmailer/doctor/auth.c \
	tools/zmailer/doctor/auth.h tools/zmailer/doctor/auth_keys.c \
	tools/zmailer/doctor/certificates.c \
	tools/zmailer/doctor/doctor.h tools/zmailer/doctor/machine.c \
	tools/zmailer/doctor/names.c tools/zmailer/doctor/ports.c tools/zmailer/doctor/published.c \
	tools/zmailer/doctor/postmaster.c \
	tools/zmailer/doctor/report.c tools/zmailer/doctor/spool.c
if HAVE_RECEIVED_REPORTS
# what unpacks archives loads twenty libraries: a program of its own, which
# zmailer report dmarc|tls becomes
noinst_LIBRARIES += tools/reports/libreports.a
tools_reports_libreports_a_SOURCES = tools/reports/dmarc.c \
	tools/reports/jail.c tools/reports/received.h \
	tools/reports/table.c tools/reports/tls.c tools/reports/unpack.c
pkglibexec_PROGRAMS += tools/reports/zm-reports
tools_reports_zm_reports_SOURCES = tools/reports/reports.c
tools_reports_zm_reports_LDADD = tools/reports/libreports.a $(ZM_LIBS) \
	$(RECEIVED_REPORTS_LIBS)
endif
tools_libtools_a_SOURCES += tools/zmailer/replay/bytes.c \
	tools/zmailer/replay/delays.c \
	tools/zmailer/replay/delays.h tools/zmailer/replay/partner.c \
	tools/zmailer/replay/partner.h tools/zmailer/replay/print.c \
	tools/zmailer/replay/replay.h tools/zmailer/replay/routed.c \
	tools/zmailer/replay/routed.h tools/zmailer/replay/routes.c \
	tools/zmailer/replay/sessions.c tools/zmailer/replay/shape.c
tools_libtools_a_SOURCES += tools/zmailer/whynot/decide.c \
	tools/zmailer/whynot/delay.c tools/zmailer/whynot/find.c tools/zmailer/whynot/try.c \
	tools/zmailer/whynot/way.c \
	tools/zmailer/whynot/whynot.h
tools_libtools_a_SOURCES += tools/zmailer/audit/audit.h \
	tools/zmailer/audit/books.c tools/zmailer/audit/books.h \
	tools/zmailer/audit/books_internal.h tools/zmailer/audit/files.c \
	tools/zmailer/audit/print.c tools/zmailer/audit/sum.c
tools_libtools_a_SOURCES += tools/zmailer/report/arrivals.c \
	tools/zmailer/report/arrivals.h \
	tools/zmailer/report/capacity.c \
	tools/zmailer/report/capacity.h tools/zmailer/report/count.c \
	tools/zmailer/report/past.c tools/zmailer/report/past.h \
	tools/zmailer/report/print.c tools/zmailer/report/report.h \
	tools/zmailer/report/send/authors.c \
	tools/zmailer/report/send/authors.h \
	tools/zmailer/report/send/authors_xml.c \
	tools/zmailer/report/send/elsewhere.c \
	tools/zmailer/report/send/elsewhere.h \
	tools/zmailer/report/send/sessions.c \
	tools/zmailer/report/send/sessions.h \
	tools/zmailer/report/send/sessions_json.c \
	tools/zmailer/report/send/xml.c tools/zmailer/report/send/xml.h \
	tools/zmailer/report/tops.c tools/zmailer/report/tops.h \
	tools/zmailer/report/tops_print.c
tools_libtools_a_SOURCES += tools/zmailer/metrics/scrape.c \
	tools/zmailer/metrics/scrape.h
tools_libtools_a_SOURCES += tools/zmailer/top/draw.c tools/zmailer/top/look.c \
	tools/zmailer/top/top.h
tools_libtools_a_SOURCES += tools/zmailer/review/message.c \
	tools/zmailer/review/notes.c tools/zmailer/review/review.h \
	tools/zmailer/review/screen.c
tools_libtools_a_SOURCES += tools/zmailer/import/file.c \
	tools/zmailer/import/names.c \
	tools/zmailer/import/note.c \
	tools/zmailer/import/put.c \
	tools/zmailer/import/read.c \
	tools/zmailer/import/run.c \
	tools/zmailer/import/tables.c \
	tools/zmailer/import/verify.c \
	tools/zmailer/import/import.h \
	tools/zmailer/import/read.h
tools_libtools_a_SOURCES += tools/zmailer/import/postfix/delivery.c \
	tools/zmailer/import/postfix/domains.c \
	tools/zmailer/import/postfix/expand.c \
	tools/zmailer/import/postfix/hops.c \
	tools/zmailer/import/postfix/maps.c \
	tools/zmailer/import/postfix/postmap.c \
	tools/zmailer/import/postfix/presets.c \
	tools/zmailer/import/postfix/relay.c \
	tools/zmailer/import/postfix/rules.c \
	tools/zmailer/import/postfix/run.c \
	tools/zmailer/import/postfix/services.c \
	tools/zmailer/import/postfix/site.c \
	tools/zmailer/import/postfix/sql.c \
	tools/zmailer/import/postfix/value.c \
	tools/zmailer/import/postfix/visit.c \
	tools/zmailer/import/postfix/postfix.h \
	tools/zmailer/import/postfix/rows.h
tools_libtools_a_SOURCES += tools/zmailer/import/sendmail/access.c \
	tools/zmailer/import/sendmail/calls.c \
	tools/zmailer/import/sendmail/domains.c \
	tools/zmailer/import/sendmail/features.c \
	tools/zmailer/import/sendmail/files.c \
	tools/zmailer/import/sendmail/hops.c \
	tools/zmailer/import/sendmail/listen.c \
	tools/zmailer/import/sendmail/maps.c \
	tools/zmailer/import/sendmail/masquerade.c \
	tools/zmailer/import/sendmail/options.c \
	tools/zmailer/import/sendmail/passwords.c \
	tools/zmailer/import/sendmail/read.c \
	tools/zmailer/import/sendmail/rows.c \
	tools/zmailer/import/sendmail/rules.c \
	tools/zmailer/import/sendmail/run.c \
	tools/zmailer/import/sendmail/read.h \
	tools/zmailer/import/sendmail/sendmail.h
tools_libtools_a_SOURCES += tools/zmailer/import/opensmtpd/databases.c \
	tools/zmailer/import/opensmtpd/filters.c \
	tools/zmailer/import/opensmtpd/listen.c \
	tools/zmailer/import/opensmtpd/local.c \
	tools/zmailer/import/opensmtpd/matches.c \
	tools/zmailer/import/opensmtpd/read.c \
	tools/zmailer/import/opensmtpd/relay.c \
	tools/zmailer/import/opensmtpd/rows.c \
	tools/zmailer/import/opensmtpd/run.c \
	tools/zmailer/import/opensmtpd/tables.c \
	tools/zmailer/import/opensmtpd/opensmtpd.h \
	tools/zmailer/import/opensmtpd/read.h
tools_libtools_a_SOURCES += tools/zmailer/import/compare/addresses.c \
	tools/zmailer/import/compare/answer.c \
	tools/zmailer/import/compare/old.c \
	tools/zmailer/import/compare/ours.c \
	tools/zmailer/import/compare/postfix.c \
	tools/zmailer/import/compare/program.c \
	tools/zmailer/import/compare/run.c \
	tools/zmailer/import/compare/compare.h
tools_libtools_a_SOURCES += tools/zmailer/import/ancestor/databases.c \
	tools/zmailer/import/ancestor/policy.c \
	tools/zmailer/import/ancestor/read.c \
	tools/zmailer/import/ancestor/run.c \
	tools/zmailer/import/ancestor/scheduler.c \
	tools/zmailer/import/ancestor/smtpserver.c \
	tools/zmailer/import/ancestor/variables.c \
	tools/zmailer/import/ancestor/ancestor.h \
	tools/zmailer/import/ancestor/read.h
tools_libtools_a_SOURCES += tools/zmailer/import/exim/acl.c \
	tools/zmailer/import/exim/debian.c \
	tools/zmailer/import/exim/local.c \
	tools/zmailer/import/exim/logins.c \
	tools/zmailer/import/exim/options.c \
	tools/zmailer/import/exim/read.c \
	tools/zmailer/import/exim/redirect.c \
	tools/zmailer/import/exim/refuse.c \
	tools/zmailer/import/exim/remote.c \
	tools/zmailer/import/exim/retry.c \
	tools/zmailer/import/exim/rewrite.c \
	tools/zmailer/import/exim/rows.c \
	tools/zmailer/import/exim/run.c \
	tools/zmailer/import/exim/sets.c \
	tools/zmailer/import/exim/sql.c \
	tools/zmailer/import/exim/tables.c \
	tools/zmailer/import/exim/tell.c \
	tools/zmailer/import/exim/text.c \
	tools/zmailer/import/exim/transports.c \
	tools/zmailer/import/exim/acl.h \
	tools/zmailer/import/exim/exim4.h \
	tools/zmailer/import/exim/read.h \
	tools/zmailer/import/exim/text.h
tools_libtools_a_SOURCES += tools/zmailer/import/queue/address.c \
	tools/zmailer/import/queue/exim.c \
	tools/zmailer/import/queue/files.c \
	tools/zmailer/import/queue/find.c \
	tools/zmailer/import/queue/look.c \
	tools/zmailer/import/queue/postfix.c \
	tools/zmailer/import/queue/queue.c \
	tools/zmailer/import/queue/running.c \
	tools/zmailer/import/queue/sendmail.c \
	tools/zmailer/import/queue/show.c \
	tools/zmailer/import/queue/take.c \
	tools/zmailer/import/queue/words.c \
	tools/zmailer/import/queue/old.h \
	tools/zmailer/import/queue/queue.h
tools_libtools_a_SOURCES += tools/zmailer/sink/faults.h \
	tools/zmailer/sink/memory.c tools/zmailer/sink/session.c \
	tools/zmailer/sink/sink.h
tools_libtools_a_SOURCES += tools/zmailer/backup/archive.c \
	tools/zmailer/backup/backup.h tools/zmailer/backup/files.c \
	tools/zmailer/backup/index.c tools/zmailer/backup/key.c \
	tools/zmailer/backup/mark.c tools/zmailer/backup/put.c \
	tools/zmailer/backup/settings.c tools/zmailer/backup/take.c

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

EXTRA_DIST += tools/setup .ci/run

include tools/lint/folder.mk

# Debian's packages, from what make dist packs, in deb/ of the build directory
EXTRA_DIST += tools/make-deb
EXTRA_DIST += tools/make-image tools/make-spdx
.PHONY: deb image clean-deb
deb: dist
	sh $(srcdir)/tools/make-deb $(distdir).tar.xz $(VERSION) deb
# and from these an image for containers
image:
	sh $(srcdir)/tools/make-image deb zmailer-image.tar
clean-local: clean-deb
clean-deb:
	rm -rf deb zmailer-image.tar zmailer.spdx
# which libraries the programs were linked with
.PHONY: spdx
spdx: $(sbin_PROGRAMS) $(bin_PROGRAMS) $(pkglibexec_PROGRAMS) $(agent_PROGRAMS)
	EMULATOR="$(EMULATOR)" sh $(srcdir)/tools/make-spdx $(VERSION) $(sort $^) >zmailer.spdx.new
	mv zmailer.spdx.new zmailer.spdx

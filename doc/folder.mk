# doc
EXTRA_DIST += README COPYING NEWS doc/AGENT.md doc/AUTH.md doc/BENCH.md \
	doc/CLUSTER.md \
	doc/DEPENDENCIES.md doc/FEEDBACK.md doc/FILTERS.md doc/GLOSSARY.md \
	doc/HOOKS.md doc/INTERNALS.md doc/OVERVIEW.md doc/PIC.bounce.md \
	doc/PIC.deferred.md doc/PIC.local.md doc/PIC.relay.md doc/POLICY.md doc/POSTFIX.md \
	doc/PROMISES.md doc/SECURITY.md doc/TESTING.md doc/TLS.md doc/WEB.md doc/protocol/agent.md \
	doc/protocol/control.md doc/protocol/mailq.md \
	doc/NOTIFY.md doc/protocol/nodes.md doc/protocol/share.md doc/protocol/sts.md doc/protocol/tables.md doc/examples/hooks.lua \
	doc/examples/zmailer-alerts.yml doc/examples/rules.conf \
	doc/examples/accounts.sql doc/examples/rules.test doc/examples/zmailer-mta.equivs \
	doc/examples/zmailer-audit.service doc/examples/zmailer-audit.timer \
	doc/examples/zmailer-audit.cron \
	doc/examples/zmailer-reports.service \
	doc/examples/zmailer-reports.timer doc/examples/zmailer-reports.cron \
	doc/examples/fail2ban/filter.conf doc/examples/fail2ban/jail.conf \
	doc/examples/openrc/zmailer doc/examples/runit/run \
	doc/examples/zmailer-relay.conf doc/examples/apparmor/zmailer \
	doc/examples/ansible doc/examples/container \
	doc/INSTALL.md
dist_man_MANS += \
	doc/man/mailq.1 doc/man/newaliases.1 doc/man/router.8 \
	doc/man/scheduler.8 doc/man/smtpserver.8 doc/man/zmailer-aliases.5 \
	doc/man/zmailer-control.5 doc/man/zmailer-expirer.8 \
	doc/man/zmailer-forms.5 doc/man/zmailer-hello.8 \
	doc/man/zmailer-http.8 doc/man/zmailer-lmtp.8 \
	doc/man/zmailer-mailbox.8 doc/man/zmailer-message.5 \
	doc/man/zmailer-pipe.8 doc/man/zmailer-quickstart.7 \
	doc/man/zmailer-reroute.8 \
	doc/man/zmailer-restore.8 doc/man/zmailer-selector.7 \
	doc/man/zmailer-sm.8 doc/man/zmailer-smtp.8 \
	doc/man/zmailer-unblock.8

# pages of verbs: what stands in the tables of tools/ is put into them
VERB_PAGES = \
	doc/man/zmailer-alias.8 doc/man/zmailer-audit.8 \
	doc/man/zmailer-auth.8 \
	doc/man/zmailer-backup.8 doc/man/zmailer-block.8 \
	doc/man/zmailer-cert.8 doc/man/zmailer-classify.8 \
	doc/man/zmailer-cluster.8 \
	doc/man/zmailer-config.8 doc/man/zmailer-dkim.8 \
	doc/man/zmailer-dns.8 \
	doc/man/zmailer-doctor.8 doc/man/zmailer-domain.8 \
	doc/man/zmailer-fsck.8 doc/man/zmailer-import.8 doc/man/zmailer-limit.8 \
	doc/man/zmailer-list.8 doc/man/zmailer-log.8 doc/man/zmailer-order.8 \
	doc/man/zmailer-queue.8 doc/man/zmailer-replay.8 doc/man/zmailer-report.8 \
	doc/man/zmailer-upgrade.8 doc/man/zmailer-watch.8 \
	doc/man/zmailer-resubmit.8 doc/man/zmailer-review.8 \
	doc/man/zmailer-route.8 doc/man/zmailer-setup.8 \
	doc/man/zmailer-show.8 doc/man/zmailer-sink.8 \
	doc/man/zmailer-smarthost.8 doc/man/zmailer-sts.8 doc/man/zmailer-table.8 \
	doc/man/zmailer-test.8 doc/man/zmailer-top.8 \
	doc/man/zmailer-trace.8 doc/man/zmailer-user.8 \
	doc/man/zmailer-web.8 doc/man/zmailer-whynot.8
man_MANS += $(VERB_PAGES)
EXTRA_DIST += $(VERB_PAGES:=.in)
CLEANFILES += $(VERB_PAGES)
$(VERB_PAGES): $(VERB_PAGES:=.in) doc/verbs-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)name=$(@F); $(EMULATOR) ./doc/verbs-manual$(EXEEXT) --page $${name%.8} \
	    < $(srcdir)/$@.in > $@.new && mv $@.new $@

noinst_PROGRAMS += doc/events-manual
doc_events_manual_SOURCES = doc/events_manual.c
doc_events_manual_LDADD = $(ZM_LIBS)
man_MANS += doc/man/zmailer-events.5
CLEANFILES += doc/man/zmailer-events.5
doc/man/zmailer-events.5: doc/events-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)$(EMULATOR) ./doc/events-manual$(EXEEXT) > $@.new && mv $@.new $@

noinst_PROGRAMS += doc/metrics-manual
doc_metrics_manual_SOURCES = doc/metrics_manual.c
doc_metrics_manual_LDADD = $(ZM_LIBS)
man_MANS += doc/man/zmailer-metrics.8
EXTRA_DIST += doc/man/zmailer-metrics.8.in
CLEANFILES += doc/man/zmailer-metrics.8 doc/man/zmailer-metrics.8.rows
doc/man/zmailer-metrics.8: doc/man/zmailer-metrics.8.in doc/metrics-manual$(EXEEXT) doc/verbs-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)$(EMULATOR) ./doc/metrics-manual$(EXEEXT) > $@.rows && \
	  sed -e '/^@METRICS@$$/{' -e 'r $@.rows' -e d -e '}' \
	    $(srcdir)/doc/man/zmailer-metrics.8.in | \
	  $(EMULATOR) ./doc/verbs-manual$(EXEEXT) --page zmailer-metrics > $@.new && \
	  mv $@.new $@ && rm -f $@.rows

noinst_PROGRAMS += doc/conf-manual
doc_conf_manual_SOURCES = doc/conf_manual.c
doc_conf_manual_LDADD = $(ZM_LIBS)
man_MANS += doc/man/zmailer.conf.5
CLEANFILES += doc/man/zmailer.conf.5 doc/man/zmailer.conf.5.new
doc/man/zmailer.conf.5: doc/conf-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)$(EMULATOR) ./doc/conf-manual$(EXEEXT) > $@.new && \
	  sed 's|SYSCONFDIR|$(sysconfdir)|g' $@.new > $@ && rm -f $@.new

# a configuration that is there is never touched
EXTRA_DIST += doc/zmailer.conf.example
confdir = $(sysconfdir)/zmailer
install-data-local:
	@$(MKDIR_P) "$(DESTDIR)$(confdir)"
	@if cmp -s $(srcdir)/doc/zmailer.conf.example \
	    "$(DESTDIR)$(confdir)/zmailer.conf"; then exit 0; fi; \
	if test -f "$(DESTDIR)$(confdir)/zmailer.conf"; then \
	  to=zmailer.conf.new; else to=zmailer.conf; fi; \
	echo " $(INSTALL_DATA) doc/zmailer.conf.example $(DESTDIR)$(confdir)/$$to"; \
	$(INSTALL_DATA) $(srcdir)/doc/zmailer.conf.example \
	  "$(DESTDIR)$(confdir)/$$to"
uninstall-local:
	-@cmp -s $(srcdir)/doc/zmailer.conf.example \
	  "$(DESTDIR)$(confdir)/zmailer.conf" && \
	  rm -f "$(DESTDIR)$(confdir)/zmailer.conf"
	-@rm -f "$(DESTDIR)$(confdir)/zmailer.conf.new"

noinst_PROGRAMS += doc/verbs-manual
doc_verbs_manual_SOURCES = doc/verbs_manual.c
doc_verbs_manual_LDADD = tools/libtools.a $(ZM_LIBS)
# man zmailer-hold shows the page that has hold
VERB_LINKS = doc/man/zmailer-help.8 doc/man/zmailer-demo.8 \
	doc/man/zmailer-check.8 doc/man/zmailer-init.8 doc/man/zmailer-run.8 \
	doc/man/zmailer-start.8 doc/man/zmailer-stop.8 doc/man/zmailer-restart.8 \
	doc/man/zmailer-reload.8 doc/man/zmailer-status.8 \
	doc/man/zmailer-completion.8 doc/man/zmailer-events.8 \
	doc/man/zmailer-logrotate.8 doc/man/zmailer-hold.8 \
	doc/man/zmailer-move.8 doc/man/zmailer-release.8 doc/man/zmailer-freeze.8 doc/man/zmailer-thaw.8 \
	doc/man/zmailer-retry.8 doc/man/zmailer-bounce.8 doc/man/zmailer-schedule.8 \
	doc/man/zmailer-delete.8 doc/man/zmailer-undelete.8 \
	doc/man/zmailer-forward.8 doc/man/zmailer-note.8 doc/man/zmailer-why.8 \
	doc/man/zmailer-connections.8 doc/man/zmailer-count.8 \
	doc/man/zmailer-zones.8 doc/man/zmailer-suspend.8 \
	doc/man/zmailer-resume.8 doc/man/zmailer-pin.8 doc/man/zmailer-etrn.8 \
	doc/man/zmailer-drain.8 doc/man/zmailer-undrain.8 doc/man/zmailer-orders.8 \
	doc/man/zmailer-search.8 doc/man/zmailer-learn.8
man_MANS += $(VERB_LINKS)
CLEANFILES += $(VERB_LINKS)
$(VERB_LINKS): doc/verbs-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)$(EMULATOR) ./doc/verbs-manual$(EXEEXT) $@ > $@.new && mv $@.new $@
noinst_PROGRAMS += doc/sendmail-manual
doc_sendmail_manual_SOURCES = doc/sendmail_manual.c
doc_sendmail_manual_LDADD =
man_MANS += doc/man/sendmail.1
EXTRA_DIST += doc/man/sendmail.1.in
CLEANFILES += doc/man/sendmail.1
doc/man/sendmail.1: doc/man/sendmail.1.in doc/sendmail-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)$(EMULATOR) ./doc/sendmail-manual$(EXEEXT) \
	    < $(srcdir)/doc/man/sendmail.1.in > $@.new && mv $@.new $@
man_MANS += doc/man/zmailer.8
EXTRA_DIST += doc/man/zmailer.8.in
CLEANFILES += doc/man/zmailer.8 doc/man/zmailer.8.verbs
doc/man/zmailer.8: doc/man/zmailer.8.in doc/verbs-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)$(EMULATOR) ./doc/verbs-manual$(EXEEXT) > $@.verbs && \
	  $(EMULATOR) ./doc/verbs-manual$(EXEEXT) --options > $@.options && \
	  sed -e '/^@VERBS@$$/{' -e 'r $@.verbs' -e d -e '}' \
	    -e '/^@OPTIONS@$$/{' -e 'r $@.options' -e d -e '}' \
	    -e 's|SYSCONFDIR|$(sysconfdir)|g' \
	    $(srcdir)/doc/man/zmailer.8.in > $@.new && mv $@.new $@ && \
	  rm -f $@.verbs $@.options

# accounts, by systemd-sysusers where it is, else by hand; once, as root
EXTRA_DIST += doc/zmailer.sysusers doc/zmailer.service doc/zmailer.socket
unit_DATA = doc/unit/zmailer.service doc/unit/zmailer.socket
CLEANFILES += doc/unit/zmailer.service doc/unit/zmailer.socket
doc/unit/zmailer.socket: doc/zmailer.socket Makefile
	@$(MKDIR_P) doc/unit
	$(AM_V_GEN)sed -e '1{/^# An example/d' -e '}' \
	    -e 's|=/run/|=$(runstatedir)/|' \
	    $(srcdir)/doc/zmailer.socket > $@.new && mv $@.new $@
doc/unit/zmailer.service: doc/zmailer.service Makefile
	@$(MKDIR_P) doc/unit
	$(AM_V_GEN)sed -e '1{/^# An example/d' -e '}' \
	    -e 's|/usr/sbin/|$(sbindir)/|' -e 's|^ProtectSystem=.*|&\
	ReadWritePaths=-$(localstatedir) -$(runstatedir)|' \
	    $(srcdir)/doc/zmailer.service | sed 's|^	Read|Read|' > $@.new && \
	  mv $@.new $@
.PHONY: install-users
install-users:
	@$(MKDIR_P) "$(DESTDIR)$(prefix)/lib/sysusers.d"
	@$(INSTALL_DATA) $(srcdir)/doc/zmailer.sysusers \
	  "$(DESTDIR)$(prefix)/lib/sysusers.d/zmailer.conf"
	@if test -n "$(DESTDIR)"; then exit 0; fi; \
	if command -v systemd-sysusers >/dev/null; then \
	  systemd-sysusers "$(prefix)/lib/sysusers.d/zmailer.conf"; \
	else \
	  getent group zmsubmit >/dev/null || groupadd -r zmsubmit; \
	  getent passwd zmsmtp >/dev/null || \
	    useradd -r -g zmsubmit -d /nonexistent -s /usr/sbin/nologin zmsmtp; \
	  for u in $$(sed -n 's/^u *\(zm[a-z]*\) .*/\1/p' \
	      $(srcdir)/doc/zmailer.sysusers); do \
	    getent passwd $$u >/dev/null || \
	      useradd -r -U -d /nonexistent -s /usr/sbin/nologin $$u; \
	  done; \
	fi

# doc
EXTRA_DIST += README COPYING NEWS doc/OVERVIEW.md doc/INTERNALS.md doc/BENCH.md doc/protocol/agent.md \
	doc/PIC.local.md doc/PIC.relay.md doc/PIC.bounce.md doc/PIC.deferred.md
dist_man_MANS += doc/man/sendmail.1 doc/man/newaliases.1

noinst_PROGRAMS += doc/events-manual
doc_events_manual_SOURCES = doc/events_manual.c
doc_events_manual_LDADD = $(ZM_LIBS)
man_MANS += doc/man/zmailer-events.5
CLEANFILES += doc/man/zmailer-events.5
doc/man/zmailer-events.5: doc/events-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)./doc/events-manual$(EXEEXT) > $@.new && mv $@.new $@

noinst_PROGRAMS += doc/conf-manual
doc_conf_manual_SOURCES = doc/conf_manual.c
doc_conf_manual_LDADD = $(ZM_LIBS)
man_MANS += doc/man/zmailer.conf.5
CLEANFILES += doc/man/zmailer.conf.5 doc/man/zmailer.conf.5.new
doc/man/zmailer.conf.5: doc/conf-manual$(EXEEXT)
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)./doc/conf-manual$(EXEEXT) > $@.new && \
	  sed 's|SYSCONFDIR|$(sysconfdir)|g' $@.new > $@ && rm -f $@.new

# a configuration that is there is never touched
EXTRA_DIST += doc/zmailer.conf.example
confdir = $(sysconfdir)/zmailer
install-data-local:
	@$(MKDIR_P) "$(DESTDIR)$(confdir)"
	@if test -f "$(DESTDIR)$(confdir)/zmailer.conf"; then \
	  to=zmailer.conf.new; else to=zmailer.conf; fi; \
	echo " $(INSTALL_DATA) doc/zmailer.conf.example $(DESTDIR)$(confdir)/$$to"; \
	$(INSTALL_DATA) $(srcdir)/doc/zmailer.conf.example \
	  "$(DESTDIR)$(confdir)/$$to"
uninstall-local:
	-@cmp -s $(srcdir)/doc/zmailer.conf.example \
	  "$(DESTDIR)$(confdir)/zmailer.conf" && \
	  rm -f "$(DESTDIR)$(confdir)/zmailer.conf"
	-@rm -f "$(DESTDIR)$(confdir)/zmailer.conf.new"

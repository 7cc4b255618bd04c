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

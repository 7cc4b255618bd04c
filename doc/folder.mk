# doc
EXTRA_DIST += README COPYING doc/OVERVIEW.md doc/INTERNALS.md doc/BENCH.md doc/protocol/agent.md \
	doc/PIC.local.md doc/PIC.relay.md doc/PIC.bounce.md doc/PIC.deferred.md
dist_man_MANS += doc/man/sendmail.1 doc/man/newaliases.1

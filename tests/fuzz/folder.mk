# fuzz targets: with --enable-fuzz libFuzzer programs; else each replays its
# seed corpus tests/fuzz/corpus/NAME in make check
include tests/fuzz/grammar.mk
include tests/fuzz/mail.mk
include tests/fuzz/daemon.mk
include tests/fuzz/smtpserver.mk
include tests/fuzz/router.mk
include tests/fuzz/scheduler.mk
include tests/fuzz/transports.mk

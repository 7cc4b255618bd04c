# fuzz targets of scheduler
fuzz_targets += tests/fuzz/fuzz-answer \
	tests/fuzz/fuzz-bounce \
	tests/fuzz/fuzz-operator
tests_fuzz_fuzz_answer_SOURCES = tests/fuzz/scheduler/fuzz_answer.c $(FUZZ_MAIN)
tests_fuzz_fuzz_answer_LDADD = scheduler/libscheduler.a $(FUZZ_LIBS)
tests_fuzz_fuzz_bounce_SOURCES = tests/fuzz/scheduler/fuzz_bounce.c $(FUZZ_MAIN)
tests_fuzz_fuzz_bounce_LDADD = scheduler/libscheduler.a $(FUZZ_LIBS)
tests_fuzz_fuzz_operator_SOURCES = tests/fuzz/scheduler/fuzz_operator.c $(FUZZ_MAIN)
tests_fuzz_fuzz_operator_LDADD = scheduler/libscheduler.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-shape tests/fuzz/fuzz-classify
tests_fuzz_fuzz_shape_SOURCES = tests/fuzz/scheduler/fuzz_shape.c $(FUZZ_MAIN)
tests_fuzz_fuzz_shape_LDADD = scheduler/libscheduler.a $(FUZZ_LIBS)
tests_fuzz_fuzz_classify_SOURCES = tests/fuzz/scheduler/fuzz_classify.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-show
tests_fuzz_fuzz_show_SOURCES = tests/fuzz/scheduler/fuzz_show.c $(FUZZ_MAIN)
tests_fuzz_fuzz_show_LDADD = scheduler/libscheduler.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-orders
tests_fuzz_fuzz_orders_SOURCES = tests/fuzz/scheduler/fuzz_orders.c $(FUZZ_MAIN)
tests_fuzz_fuzz_orders_LDADD = scheduler/libscheduler.a $(FUZZ_LIBS)

# unit tests of scheduler
if HAVE_CRITERION
check_PROGRAMS += tests/unit/scheduler/unit-scheduler
SHORT_TESTS += tests/unit/scheduler/unit-scheduler
tests_unit_scheduler_unit_scheduler_SOURCES = \
	tests/unit/scheduler/yard.c tests/unit/scheduler/yard.h \
	tests/unit/scheduler/yard_agent.c tests/unit/scheduler/yard_agent.h \
	tests/unit/scheduler/test_retry.c tests/unit/scheduler/test_plan.c \
	tests/unit/scheduler/test_answer.c tests/unit/scheduler/test_bounce.c \
	tests/unit/scheduler/test_control.c tests/unit/scheduler/test_states.c tests/unit/scheduler/control/test_count.c \
	tests/unit/scheduler/test_act_sync.c \
	tests/unit/scheduler/test_request.c \
	tests/unit/scheduler/asker.c tests/unit/scheduler/asker.h \
	tests/unit/scheduler/test_zone.c \
	tests/unit/scheduler/test_starve.c \
	tests/unit/scheduler/test_slot.c \
	tests/unit/scheduler/test_flat.c \
	tests/unit/scheduler/test_pace.c \
	tests/unit/scheduler/test_table.c tests/unit/scheduler/test_fair.c \
	tests/unit/scheduler/plan_model.c tests/unit/scheduler/plan_model.h \
	tests/unit/scheduler/test_agents.c tests/unit/scheduler/test_arrive.c \
	tests/unit/scheduler/test_objectives.c \
	tests/unit/scheduler/test_flood.c \
	tests/unit/scheduler/test_group.c \
	tests/unit/scheduler/control/test_past.c \
	tests/unit/scheduler/test_capacity.c \
	tests/unit/scheduler/agents/test_carried.c \
	tests/unit/scheduler/agents/test_notice.c \
	tests/unit/scheduler/agents/test_optional.c \
	tests/unit/scheduler/sharing/test_sharing.c \
	tests/unit/scheduler/sharing/test_moves.c \
	tests/unit/scheduler/sharing/test_allowance.c \
	tests/unit/scheduler/sharing/a_share.c tests/unit/scheduler/sharing/a_share.h \
	tests/unit/scheduler/intake/test_cold.c \
	tests/unit/scheduler/intake/test_large.c tests/unit/scheduler/intake/test_windows.c tests/unit/scheduler/test_limits.c \
	tests/unit/scheduler/test_restart.c \
	tests/unit/scheduler/test_cause.c tests/unit/scheduler/test_huge.c \
	tests/unit/scheduler/control/test_pieces.c tests/unit/scheduler/control/test_own.c tests/unit/scheduler/control/test_etrn.c \
	tests/unit/scheduler/test_kick.c tests/unit/scheduler/test_verdicts.c \
	tests/unit/scheduler/test_keep.c tests/unit/scheduler/test_standby.c \
	tests/unit/scheduler/test_suppose.c \
	tests/unit/scheduler/test_unfed.c \
	tests/unit/scheduler/test_core.c
tests_unit_scheduler_unit_scheduler_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_scheduler_unit_scheduler_LDADD = scheduler/libscheduler.a \
	$(ZM_LIBS) $(CRITERION_LIBS)
endif

# the plan against its model, a million events in each of 32 worlds
.PHONY: model
model: tests/unit/scheduler/unit-scheduler
	PLAN_EVENTS=1000000 tests/unit/scheduler/unit-scheduler \
	    --filter '*/agrees*'

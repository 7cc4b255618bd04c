# unit tests of scheduler

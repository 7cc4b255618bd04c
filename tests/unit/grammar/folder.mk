# unit tests of grammar

# unit tests of router

"""Use cases: what a command does, without a command line. Clock, environment and disk are handed in here."""

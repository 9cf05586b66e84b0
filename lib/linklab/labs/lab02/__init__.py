"""Lab 02, simpleperf: what its notebook runs; its checks are `linklab.grade.simpleperf`."""

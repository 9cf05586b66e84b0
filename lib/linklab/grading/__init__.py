"""``linklab grade``: the submissions of a class, run from scratch in the sandbox and judged out of their reach.

docs/development/how-it-works.md says which module has which part. `model` is what stands between the two sides: `run`
gives a judge a `model.Task`, and gets a `model.Judged`.
"""

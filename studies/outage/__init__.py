"""A film over a ring in which a cable fails: what the video study's future work asks of routing protocols."""

"""From one student to a class: what an instructor gives out, and proof that it can be solved.

``linklab release`` writes what students get (:mod:`linklab.classroom.release`), each with a network of their own where
a list of students is given (:mod:`linklab.classroom.roster`, `linklab.network.variants`), or a course for nbgrader
(:mod:`linklab.classroom.nbgrader_course`). ``linklab validate`` runs all solutions (:mod:`linklab.classroom.validate`).

For who collects and grades: :func:`linklab.classroom.roster.read_students` and ``read_secret`` give what
`linklab.network.variants.variants` needs; `linklab.course` says how a notebook is told its network, and how to know
whether a submission was made for the right one.
"""

"""`make test-vagrant`: the project's own Vagrantfile, brought up for real in a box made from Debian's packages."""

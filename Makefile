# `make lab` opens the labs, `make test` tests everything; both install first what is missing. See README.md.

# The Python environment. In the virtual machine LINKLAB_VENV points to the user's home (Vagrantfile).
LINKLAB_VENV ?= .venv
export LINKLAB_VENV
BIN := $(LINKLAB_VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help lab hub test test-quick test-vagrant box docs bench studies networks soak doctor notebooks check release-check kernels widgets clean install install-dev install-tests

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: ## install what is missing and open the labs in JupyterLab
	@bash vagrant/provision.sh --image # the lab image comes beside; labs wait for it
	@$(BIN)/linklab up

hub: ## open JupyterHub for a class on this machine (root; HUB="..." are words for JupyterHub)
	@bash vagrant/provision.sh --hub
	@XDG_CACHE_HOME=/var/lib/linklab/cache $(BIN)/python -m tools.image
	@$(BIN)/jupyterhub -f hub/jupyterhub_config.py $(HUB)

test: install-tests ## install what is missing and run the checks and tests (seven minutes on two cores; CI adds large ones)
	@bash .ci/parts $(BIN) image ruff format mypy shellcheck $(if $(LINKLAB_TESTS),docs) pytest

test-quick: install-tests ## the linters, the types and the tests that start no process (about a minute)
	@LINKLAB_TESTS=quick bash .ci/parts $(BIN) ruff format mypy shellcheck pytest

# The box's processor, here and in the next target: amd64 or arm64.
ARCH ?= amd64

test-vagrant: ## make the box for libvirt and try `vagrant up` without a network (root; half an hour without KVM; ARCH=arm64)
	@bash vagrant/provision.sh $(if $(filter arm64,$(ARCH)),--vagrant-arm64,--vagrant)
	@$(BIN)/python -m tools.image
	@$(BIN)/python -m tools.box try --arch $(ARCH)

box: ## make a release's Vagrant boxes into dist/ (root; a quarter of an hour; ARCH=arm64 on arm64)
	@bash vagrant/provision.sh --vagrant
	@$(BIN)/python -m tools.image
	@$(BIN)/python -m tools.box make --arch $(ARCH)

docs: install-dev ## build the documentation site, its examples run anew, and check its links (about a minute)
	@bash .ci/parts $(BIN) image docs
	@echo "open file://$(CURDIR)/build/site/index.html"

# Which benchmarks, and words for them: make bench BENCH="fidelity speed" WORDS=--short
BENCH ?= fidelity starts switches speed

bench: install-dev ## measure fidelity, starts and speed; pages in study-results/pages (about 20 minutes)
	@$(BIN)/python -m tools.image
	@for name in $(BENCH); do \
	  $(BIN)/linklab study run tools/bench/$$name.py:STUDY $(WORDS) && \
	  $(BIN)/linklab study page tools/bench/$${name}_page.py $(WORDS) || exit 1; done

studies: install ## carry out the published studies in full, keep their tables, and make their pages in docs/studies
	@$(BIN)/python -m tools.image
	@for name in $$($(BIN)/linklab study list | cut -d ' ' -f 1); do $(BIN)/linklab study run "$$name" || exit 1; done
	@$(BIN)/linklab study keep
	@$(BIN)/linklab study page --from docs/studies/data

networks: install-dev ## run every solution on 200 students' networks and 20 seeds (hours; NETWORKS="05 --networks 10")
	@$(BIN)/python -m tools.image
	@$(BIN)/python -m tools.networks $(NETWORKS)

soak: install-dev ## kill, stop and interrupt labs at random moments for an hour; nothing may be left (SOAK="--minutes 5 --seed 1")
	@$(BIN)/python -m tools.image
	@$(BIN)/python -m tools.soak $(SOAK)

check: install-tests ## the linters and the type checker alone
	@bash .ci/parts $(BIN) ruff format mypy shellcheck

doctor: install ## try what works on this machine and what does not
	@$(BIN)/linklab doctor

notebooks: install-dev ## make the notebooks of labs/ and solutions/ anew from their source
	@$(BIN)/linklab notebooks build

release-check: install-tests ## all that must hold before a release gets its tag (about an hour)
	@bash .ci/parts $(BIN) tree version words generated kernels image licences wheels widgets install docs

kernels: install ## compile the lab's two kernels anew and compare them with the committed ones (half an hour)
	@$(BIN)/python -m tools.kernels

widgets: ## build the script of the widgets anew from lib/linklab/show/widgets/src (needs Node.js)
	@cd lib/linklab/show/widgets/src && npm ci --no-audit --no-fund --silent && npm run --silent build

clean: ## remove what make has made in this folder (the lab image: linklab image clean)
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .ipynb_checkpoints build dist lib/*.egg-info
	find lib studies tools tests solutions labs -name __pycache__ -prune -exec rm -rf {} +

install:
	@bash vagrant/provision.sh
install-dev: ## install what is missing, for instructors too: to prove, release and grade labs
	@bash vagrant/provision.sh --dev
install-tests:
	@bash vagrant/provision.sh --tests

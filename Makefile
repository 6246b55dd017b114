# loopstream: its targets. `make` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup run stop reset check test test-all test-unit test-system test-e2e test-attack ffmpeg sender release fuzz-media test-cluster test-kind lint format generate build screenshots bench bench-engine bench-operator bench-api bench-auth bench-pages bench-money bench-events bench-fairness bench-prepare bench-watch chaos-money clean

# Node 24 comes from the lock file, so the machine's own Node only has to run npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# A failed lane ends no other. A failed lane prints its output; WIREIT_LOGGER=simple prints the output of all.
export WIREIT_FAILURES ?= continue
export WIREIT_LOGGER ?= $(shell [ -t 2 ] && echo quiet || echo quiet-ci)
export WIREIT_PARALLEL ?= 6
NODE := node_modules/.bin/node
LOCAL := $(NODE) tools/local/main.ts
ARGS ?=

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

node_modules/.installed: package-lock.json
	@scripts/install-dependencies

# The page shares pure code with the servers.
DASHBOARD := $(shell find src/dashboard src/service/client src/service/lib src/core/lib src/core/resources -type f 2>/dev/null)
dist/dashboard/index.html: node_modules/.installed scripts/notices.ts docs/schema.graphql $(DASHBOARD)
	@scripts/step 'building the dashboard' vite build src/dashboard --logLevel warn

SOURCES := $(shell find src -name '*.ts' -not -path 'src/dashboard/*' 2>/dev/null)
dist/app/main.js: node_modules/.installed scripts/build-app.ts $(SOURCES)
	@scripts/step 'bundling the roles' $(NODE) scripts/build-app.ts

dist/tools/local.js: node_modules/.installed scripts/build-tools.ts $(SOURCES) $(shell find tools -name '*.ts' 2>/dev/null)
	@scripts/step 'bundling the local system' $(NODE) scripts/build-tools.ts

dist/kubectl/kubectl-loop: node_modules/.installed scripts/build-kubectl.ts $(SOURCES)
	@scripts/step 'bundling the kubectl plugin' $(NODE) scripts/build-kubectl.ts

# Without a C compiler, ffmpeg runs without the launcher, and the script prints a warning.
dist/confine: native/confine.c scripts/build-launcher
	@scripts/build-launcher

setup: node_modules/.installed dist/dashboard/index.html dist/app/main.js dist/tools/local.js dist/confine ## install the locked dependencies, build the dashboard and the roles

run: setup ## start the whole product on this machine, with a stream on air (ARGS="--help" lists the options)
	@exec $(NODE) dist/tools/local.js $(ARGS)

stop: node_modules/.installed ## stop the product that `make run` started
	@exec $(LOCAL) stop

reset: node_modules/.installed ## stop it and delete its state (.loopstream/)
	@exec $(LOCAL) reset

# A lane is skipped while nothing that it can reach has changed since it passed (scripts/lanes/); `make clean` forgets that.
# The files that failed in a lane run once more, alone, where they are few: what passes then is named, and is a bug all the same.
define run-lanes
	@mkdir -p test-reports; rm -f test-reports/*.status test-reports/*.again.* test-reports/lint
	@npm run --silent test || npm run --silent test:again || true
	@exec $(NODE) scripts/test-report.ts
endef

check: node_modules/.installed ## check the code, and run the unit tests that your change can reach (SINCE=commit)
	@npm run --silent check

test: setup ## run the checks and tests that a change must pass, as CI does; the last line is "N passed, N failed"
	$(run-lanes)

test-all: setup ## run every check and test, an hour on two cores
	@mkdir -p test-reports; rm -f test-reports/core
	@npm run --silent test:core || true
	$(run-lanes)

test: export LOOPSTREAM_TEST_SCOPE = gate

test-unit: node_modules/.installed ## run the tests that need no servers
	@vitest run --project unit

test-system: setup ## run the tests on real servers (PostgreSQL, kube-apiserver, nginx-rtmp)
	@vitest run --project system

test-e2e: setup ## test the whole product, as a user sees it
	@vitest run --project e2e

test-attack: setup ## run attacks by ordinary accounts, which must all fail (docs/threat-model.md)
	@vitest run --project attack

ffmpeg: ## build the media programs of the image into dist/ffmpeg (Debian bookworm, root where build packages are missing)
	@scripts/build-ffmpeg dist/ffmpeg
	@scripts/build-draw-text dist/ffmpeg
	@scripts/build-sender dist/ffmpeg

sender: node_modules/.installed ## build the small ffmpeg that sends into the cache, for make run (Debian bookworm, root as above)
	@$(NODE) scripts/sender.ts

release: node_modules/.installed ## make the release of this commit into dist/release: image, chart, SBOM, notices, sums (docs/release.md)
	@exec $(NODE) scripts/release.ts $(ARGS)

fuzz-media: node_modules/.installed ## prepare 10,000 media files with crafted headers, ten minutes (ARGS=1000 for fewer)
	@$(NODE) test/attack/fuzz-media.ts $(ARGS)

test-cluster: setup ## test the product on a real Kubernetes with two nodes, and measure gaps (Linux, root)
	@LOOPSTREAM_WRITE_RESULTS=true scripts/test-cluster

test-kind: setup ## test make run ARGS="--kind" on a cluster of kind (Linux, root; not in make test: ten minutes and more)
	@scripts/test-cluster run --project kind

lint: node_modules/.installed ## check format, types, imports, dead code, expressions and English
	@npm run --silent lint

format: node_modules/.installed ## format the code
	@npm run --silent format

generate: node_modules/.installed ## generate crds/, docs/, alerts, dashboards, and the values and CRDs of the chart
	@$(NODE) tools/generate/main.ts

screenshots: setup ## compare pictures of every page with the kept ones (ARGS="--keep stream" renews those of streams, and shows what it renews)
	@$(NODE) scripts/screenshots.ts $(ARGS)

build: node_modules/.installed dist/dashboard/index.html dist/confine ## bundle the roles for the image, the client library and the kubectl plugin into dist/
	@$(NODE) scripts/build.ts

.PHONY: kubectl-loop
kubectl-loop: dist/kubectl/kubectl-loop ## bundle the kubectl plugin into dist/kubectl/kubectl-loop (docs/kubectl.md)

bench: bench-engine bench-operator bench-api bench-auth bench-pages bench-money bench-events bench-fairness bench-prepare bench-watch ## measure performance against named peers, into test/bench/RESULTS.md

bench-engine: node_modules/.installed ## measure the loop engine alone, ten minutes
	@$(NODE) test/bench/engine.ts $(ARGS)

bench-operator: node_modules/.installed ## measure the operator at scale, half an hour
	@$(NODE) test/bench/operator.ts $(ARGS)

bench-auth: node_modules/.installed ## measure the cost of authentication, three minutes
	@$(NODE) test/bench/auth.ts $(ARGS)

bench-pages: setup ## measure the delay until pages show a change, the first page after sign-in, and 10,000 streams; ten minutes
	@$(NODE) test/bench/pages.ts $(ARGS)

bench-money: node_modules/.installed ## measure the meter at 10,000 live streams, a minute
	@$(NODE) test/bench/money.ts $(ARGS)

bench-events: node_modules/.installed ## measure how soon an event reaches a webhook, and what events cost reads, three minutes
	@$(NODE) test/bench/events.ts $(ARGS)

bench-fairness: setup ## measure how far one account slows another's import and start, five minutes
	@$(NODE) test/bench/fairness.ts $(ARGS)

bench-prepare: setup ## how soon a file is on air, from a link and an upload, twenty minutes (ARGS="--only export")
	@$(NODE) test/bench/prepare.ts $(ARGS)

chaos-money: node_modules/.installed ## kill parts while streams and deposits run, and compare charges and credits; six minutes
	@$(NODE) test/chaos/money.ts $(ARGS)

bench-watch: node_modules/.installed ## cost and false alarms of watching what viewers see, twenty minutes (ARGS="--only cost")
	@$(NODE) test/bench/watch.ts $(ARGS)

bench-api: node_modules/.installed ## measure the API server at 10,000 streams, six minutes
	@$(NODE) test/bench/api.ts $(ARGS)

clean: ## remove build output and installed packages (not .loopstream/: that is `make reset`)
	rm -rf dist node_modules test-reports .wireit

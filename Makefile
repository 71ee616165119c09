# ml-operator: `make` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# npm installs Node 24, so a machine with an older Node works too.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
NODE := node
KUBECTL ?= kubectl
IMG ?= ml-operator:0.1.0
# docker or podman
CONTAINER_TOOL ?= docker
PLATFORMS ?= linux/amd64,linux/arm64

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-18s %s\n", $$1, $$2}'

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

.PHONY: install-deps
install-deps: node_modules/.package-lock.json
	@node -e 'if (+process.versions.node.split(".")[0] < 24) { console.error("Node 24 is needed; npm has no build of it for this platform, please install it."); process.exit(1) }'

.PHONY: setup
setup: install-deps ## Install npm packages, system packages and Kubernetes binaries for tests and clusters
	$(NODE) testenv/main.ts setup

.PHONY: verify
verify: install-deps ## Check format, lint, import rules, types and generated files
	oxfmt --check
	oxlint
	$(NODE) scripts/generate.ts --check
	$(NODE) --test --test-reporter=dot test/unit/variant-names.test.ts
	tsc

.PHONY: generate
generate: install-deps ## Generate CRDs, roles, the API reference, editor schemas, and schema and README of the chart
	$(NODE) scripts/generate.ts

.PHONY: fmt
fmt: install-deps ## Format the code
	oxfmt

.PHONY: lint
lint: install-deps ## Check format, lint and import rules
	oxfmt --check
	oxlint

.PHONY: build
build: generate ## Generate all derived files and check the types; the operator runs from its source without a compiler
	tsc

.PHONY: test
test: setup verify ## Run all checks and tests: unit, control plane, node, RBAC
	$(NODE) scripts/test.ts

.PHONY: test-unit
test-unit: install-deps ## Run the unit tests
	$(NODE) scripts/test.ts unit

.PHONY: test-controlplane
test-controlplane: setup ## Run the tests with a real API server
	$(NODE) scripts/test.ts controlplane

.PHONY: test-node
test-node: setup ## Run the tests with a real kubelet (root, Linux)
	$(NODE) scripts/test.ts machine node

.PHONY: test-e2e
test-e2e: setup ## Run the tests with a real kubelet, also those that take long and are not part of `make test`
	$(NODE) scripts/test.ts machine node e2e

.PHONY: cleanup-test-e2e
cleanup-test-e2e: install-deps ## Remove clusters that interrupted test runs have left; keeps those of running tests and of `make cluster`
	$(NODE) testenv/main.ts clean

.PHONY: test-faults
test-faults: setup ## Run or continue the fault campaign and print its report (long; FAULTS_FLAGS='--help')
	$(NODE) scripts/faults.ts $(FAULTS_FLAGS)

.PHONY: bench
bench: setup ## Count the writes of 1,000 training jobs and 500 models, and compare their time with the same writes without an operator
	$(NODE) scripts/bench.ts
	$(NODE) scripts/bench-serving.ts

.PHONY: manifests
manifests: generate ## The same as generate

.PHONY: install
install: ## Install the CRDs into the cluster of your kubeconfig
	$(KUBECTL) apply --server-side -k config/crd

.PHONY: uninstall
uninstall: ## Remove the CRDs and all their objects from the cluster of your kubeconfig
	$(KUBECTL) delete --ignore-not-found -k config/crd

.PHONY: deploy
deploy: install-deps ## Install the operator in the cluster of your kubeconfig (IMG= an image that the cluster can pull)
	$(NODE) scripts/install/overlay.ts $(IMG)
	$(KUBECTL) apply --server-side -k config/local
	$(KUBECTL) -n ml-operator-system rollout status deployment/ml-operator --timeout=5m

.PHONY: undeploy
undeploy: ## Remove the operator from the cluster of your kubeconfig; keeps CRDs, jobs, models and their data
	$(KUBECTL) delete --ignore-not-found -k config/manager
	$(KUBECTL) delete --ignore-not-found -k config/rbac

.PHONY: docker-build
docker-build: ## Build the operator's image with Docker (IMG=registry.example.com/ml-operator:0.1.0)
	$(CONTAINER_TOOL) build --tag $(IMG) .

.PHONY: docker-push
docker-push: ## Push the image that docker-build has built (IMG=registry.example.com/ml-operator:0.1.0)
	$(CONTAINER_TOOL) push $(IMG)

.PHONY: docker-buildx
docker-buildx: ## Build the image for all PLATFORMS and push it (IMG=registry.example.com/ml-operator:0.1.0)
	docker buildx build --platform $(PLATFORMS) --push --tag $(IMG) .

.PHONY: image
image: install-deps ## Build our images with buildah into dist/images (IMAGES='operator trainer model-server', IMAGE_FLAGS=--published-bases)
	$(NODE) scripts/image.ts $(IMAGE_FLAGS) $(IMAGES)

.PHONY: list-images
list-images: install-deps ## Print the images that the operator may start (IMAGES_FLAGS='--config FILE')
	@$(NODE) src/main.ts images --describe $(IMAGES_FLAGS)

.PHONY: release
release: install-deps ## Write everything for a release page into dist/release
	$(NODE) scripts/release.ts $(RELEASE_FLAGS)

.PHONY: run
run: install-deps ## Run the operator on this machine for the cluster of your kubeconfig (RUN_FLAGS='--help')
	$(NODE) src/main.ts operator $(RUN_FLAGS)

.PHONY: cluster
cluster: install-deps ## Start a local Kubernetes and print how to use it (CLUSTER_FLAGS='--gpus 2 --metrics-server')
	$(NODE) testenv/main.ts up $(CLUSTER_FLAGS)

.PHONY: cluster-down
cluster-down: install-deps ## Remove the local Kubernetes
	$(NODE) testenv/main.ts down

.PHONY: demo
demo: install-deps ## Train a model, kill a worker, serve the model and split its traffic on a local Kubernetes (DEMO_FAST=1)
	$(NODE) scripts/demo/main.ts up

.PHONY: demo-down
demo-down: install-deps ## Remove what the demo started
	$(NODE) scripts/demo/main.ts down

.PHONY: bench-client
bench-client: setup ## Compare the client with @kubernetes/client-node, and measure the memory of the cache
	$(NODE) scripts/bench-client.ts
	$(NODE) scripts/bench-cache.ts

.PHONY: bench-size
bench-size: setup ## Measure memory and CPU of the operator with up to 10,000 jobs and 2,000 models (at most 10 minutes)
	$(NODE) scripts/bench-size.ts

.PHONY: bench-health
bench-health: setup ## Measure the CPU time of health checks of 5,000 pods every 30 s
	$(NODE) scripts/bench-health.ts

.PHONY: bench-reports
bench-reports: setup ## Measure progress reports of 1,000 running jobs: reports a second, delay of the event loop, writes of the status
	$(NODE) scripts/bench-reports.ts

.PHONY: clean
clean: ## Remove npm packages (keeps the cache of binaries)
	rm -rf node_modules coverage dist

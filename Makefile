# What one does with a checkout; `make` lists it. The gate that runs all of it is .ci/run.

SWIFT ?= swift
SERVERS := Tests/Servers/servers
FORMATTED := Sources Tests Package.swift Fuzz/Sources Fuzz/Package.swift $(addprefix Benchmarks/, Sources Package.swift \
  Micro/Benchmarks Micro/Package.swift peers/AsyncHTTPClient/Sources peers/URLSession/Sources)

# The same flags everywhere, since other flags mean another build. But a warning of a newer compiler is our concern, not
# that of somebody who tries the demo: that goes without, unless the gate sets DEMO_FLAGS.
STRICT := -Xswiftc -warnings-as-errors -Xcc -Werror --explicit-target-dependency-import-check error

# Swift's backtracer can hang for minutes on a crash of a sanitized program. XCTest, which no test here uses, leaks.
# Three tests at a time: a sanitized program is many times slower, and all at once would run into their own time limits;
# one by one, three quarters of the time would be spent in waiting.
# What tests repeat to find more is repeated a tenth as often for the same reason.
SANITIZED := env LUPINE_TESTS_DIVISOR=10 \
  $(SWIFT) test $(STRICT) --disable-xctest --experimental-maximum-parallelization-width 3
# The compiler that belongs to Swift, whatever else is on the PATH.
CLANG = $(dir $(shell readlink -f "$$(command -v $(SWIFT))"))clang

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps demo build release test servers-install servers-up servers-down mutants simulate replay namespaces soak lint \
  format tsan asan fuzz linkage bench counts micro example docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install what the build needs and is missing
	@sh .ci/bootstrap

demo: deps ## build the demo and run it
	$(SWIFT) build $(DEMO_FLAGS) --product lupine-demo
	$(SWIFT) run --skip-build lupine-demo

build: deps ## build everything, for debugging
	$(SWIFT) build $(STRICT)

release: deps ## build everything, optimised
	$(SWIFT) build -c release $(STRICT)

# All of them at once would keep each other from what they wait for, up to their time limits on a busy machine.
test: deps servers-install ## run the tests, with their servers
	$(SERVERS) run $(SWIFT) test $(STRICT) --experimental-maximum-parallelization-width 24

servers-install: ## install what the test servers need and is missing
	@$(SERVERS) install

servers-up: servers-install ## start the test servers
	@$(SERVERS) up

servers-down: ## stop the test servers
	@$(SERVERS) down

# Builds a mutated copy in .build/mutants, so the first run takes minutes longer; not a part of the gate.
MUTANTS ?=
mutants: deps servers-install ## break each promise of Security.md, or MUTANTS="name…", and check that its test fails
	SWIFT=$(SWIFT) $(SERVERS) run Tests/Mutants/run $(MUTANTS)

# Optimised, and with the same order in hash tables every time, so that a seed means the same each time it is run.
SEEDS ?= 100000
FIRST ?= 1
SIMULATED_SEED := .build/simulated-seed
simulate: deps ## run SEEDS=100000 simulated schedules of the engine, from FIRST=1 on
	@rm -f $(SIMULATED_SEED)
	SWIFT_DETERMINISTIC_HASHING=1 LUPINE_SIMULATION_SEEDS=$(SEEDS) LUPINE_SIMULATION_FIRST=$(FIRST) \
	  LUPINE_SIMULATION_FILE=$(SIMULATED_SEED) $(SWIFT) test -c release -Xswiftc -enable-testing $(STRICT) \
	  --disable-xctest --filter SimulationTests || \
	  { echo "simulate: failed at the seed $$(cat $(SIMULATED_SEED)); make replay SEED=… runs it alone" >&2; exit 1; }

replay: deps ## run one simulated schedule, SEED=…, and write what happens in it
	SWIFT_DETERMINISTIC_HASHING=1 LUPINE_SIMULATION_SEED=$(SEED) $(SWIFT) test -c release -Xswiftc -enable-testing \
	  $(STRICT) --disable-xctest --filter SimulationTests

lint: ## check the format and the style
	$(SWIFT) format lint --strict --recursive --parallel --configuration .swift-format $(FORMATTED)

format: ## format the sources in place
	$(SWIFT) format --in-place --recursive --parallel --configuration .swift-format $(FORMATTED)

# Where sanitizers write what they find, since nobody sees what the processes that tests start write to standard error.
REPORTS := $(CURDIR)/.build/sanitizer-report
SHOW_REPORTS = { status=$$?; grep -ash -A 30 'Sanitizer:' $(REPORTS).* >&2; exit $$status; }

TSAN_MUTEX := .build/tsan-mutex.so
$(TSAN_MUTEX): .ci/tsan-mutex.c
	@mkdir -p .build
	$(CLANG) -Wall -Werror -shared -fPIC -O1 -o $@ $<

# Not those of parts that have no threads: races have no place in them. The command and the faults are a process for
# each of their tests, with little in it that others haven't tried already.
UNTHREADED := LupineWireTests|LupineCodingTests|TidyTests|PoolModelTests|PoolLoadTests|PropertyListCheckTests
tsan: deps servers-install $(TSAN_MUTEX) ## run the tests of what has threads under ThreadSanitizer
	@rm -f $(REPORTS).*
	$(SERVERS) run env SWIFT_BACKTRACE=enable=no LD_PRELOAD=$(CURDIR)/$(TSAN_MUTEX) TSAN_OPTIONS=log_path=$(REPORTS) \
	  $(SANITIZED) --sanitize=thread --scratch-path .build/tsan --skip '$(UNTHREADED)|LupineCommandTests|FaultTests' \
	  || $(SHOW_REPORTS)

# Freed memory is kept back for a while; less of it than usual, since a test looks at how much is in use.
asan: deps servers-install ## run the tests under AddressSanitizer
	@rm -f $(REPORTS).*
	$(SERVERS) run env SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=quarantine_size_mb=16:log_path=$(REPORTS) \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan-suppressions \
	  $(SANITIZED) --sanitize=address --scratch-path .build/asan || $(SHOW_REPORTS)

# Seconds, for fuzz and soak.
TIME ?= 60
fuzz: deps ## fuzz TARGET=… for TIME=60 seconds, or TARGET=all; without a target, list them
	SWIFT=$(SWIFT) Fuzz/run $(if $(TARGET),$(TARGET) $(TIME))

linkage: deps ## check that the command lupine loads neither Foundation nor libcurl
	$(SWIFT) build -c release $(STRICT) --product lupine
	@libraries=$$(ldd "$$($(SWIFT) build -c release $(STRICT) --show-bin-path)/lupine") || exit 1; \
	echo "$$libraries"; \
	if echo "$$libraries" | grep -E 'Foundation|libcurl' >&2; then \
	  echo "linkage: lupine must not load the libraries above; which target imports Foundation?" >&2; exit 1; \
	fi

bench: deps ## compare with other clients in all workloads, and write Benchmarks/README.md
	Benchmarks/run --all --readme

# Counts don't depend on how fast or busy the machine is; times do, so that CI checks none.
counts: deps ## check what a request costs, in instructions and allocations, against Benchmarks/limits.tsv
	sh .ci/packages valgrind libc6-dbg nginx binutils
	Benchmarks/counts

# With -enable-testing the benchmarks reach what is internal, such as the pool.
micro: deps ## time the parts of a request that need no network, the parser beside Debian's http-parser
	sh .ci/packages libhttp-parser-dev
	$(SWIFT) package --package-path Benchmarks/Micro -Xswiftc -enable-testing benchmark --no-progress --grouping metric

namespaces: deps ## try networks that lose, delay, reset and swallow packets (as root or by sudo)
	sh .ci/packages iproute2 python3 openssl
	$(SWIFT) build $(STRICT) --product lupine
	$$([ "$$(id -u)" = 0 ] || echo sudo) Tests/Namespaces/run
	$$([ "$$(id -u)" = 0 ] || echo sudo) Tests/Namespaces/trouble

# Optimised, as it is used, or with SANITIZE=thread or address. The picture says more than the numbers: whether a curve
# still rises at the end.
PICTURE ?= .build/soak.svg
SOAK_BUILD = $(STRICT) --product LupineSoak \
  $(if $(SANITIZE),--sanitize=$(SANITIZE) --scratch-path .build/soak-$(SANITIZE),-c release)
SOAK_ENVIRONMENT = SWIFT_BACKTRACE=enable=no LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan-suppressions \
  $(if $(filter thread,$(SANITIZE)),LD_PRELOAD=$(CURDIR)/$(TSAN_MUTEX))
soak: deps $(if $(filter thread,$(SANITIZE)),$(TSAN_MUTEX)) ## send mixed requests for TIME=60 seconds: nothing is lost, nothing grows; draws PICTURE=.build/soak.svg
	$(SWIFT) build $(SOAK_BUILD)
	env $(SOAK_ENVIRONMENT) "$$($(SWIFT) build $(SOAK_BUILD) --show-bin-path)/LupineSoak" $(TIME) $(PICTURE)

example: deps ## build the code of README and articles, run the README's
	Tests/Examples/run

# The symbols of the API alone: those of the engine are documented for who imports it, in their own comments.
DOCS := .build/docs
docs: deps ## build the documentation into .build/docs; warnings are errors
	$(SWIFT) package dump-symbol-graph --minimum-access-level public >/dev/null
	@rm -rf $(DOCS)-symbols && mkdir -p $(DOCS)-symbols
	cp .build/*/symbolgraph/Lupine.symbols.json .build/*/symbolgraph/Lupine@*.symbols.json $(DOCS)-symbols
	$(dir $(CLANG))docc convert Sources/Lupine/Lupine.docc --additional-symbol-graph-dir $(DOCS)-symbols \
	  --output-path $(DOCS) --warnings-as-errors

clean: ## remove everything that was built
	rm -rf .build

# The tasks of development; `make` lists them. The gate, .ci/run, runs all checks.

SWIFT ?= swift
SERVERS := Tests/Servers/servers
FORMATTED := Sources Tests Package.swift Fuzz/Sources Fuzz/Package.swift $(addprefix Benchmarks/, Sources Package.swift \
  Micro/Benchmarks Micro/Package.swift peers/AsyncHTTPClient/Sources peers/URLSession/Sources)

# All builds use the same flags, because other flags would require another build. They enable the trait Zstd. The demo doesn't
# use these flags, except in the gate (DEMO_FLAGS): a user who tries it shouldn't see warnings of a newer compiler as
# errors, and needs no libraries of traits. --warn-error is clang's other spelling of -Werror, which SwiftPM would take for an option
# of the Swift compiler when it builds dependencies.
TRAITS := Zstd
FLAGS := -Xswiftc -warnings-as-errors -Xcc --warn-error --explicit-target-dependency-import-check error
STRICT := --traits $(TRAITS) $(FLAGS)

# For builds that are made once, and not after each edit, in four fifths of the processor time: each module is compiled as a whole,
# because the compiler otherwise expands a test's macros several times, and line numbers are the only debugging information.
WHOLE := -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -gline-tables-only

# The gate, in which nobody edits, sets LUPINE_WHOLE_MODULES.
DEBUG := $(STRICT) $(if $(LUPINE_WHOLE_MODULES),$(WHOLE))

# Swift's backtracer can hang for minutes after a crash of a sanitized program. XCTest, which the tests don't use,
# leaks. A few tests run in parallel: a sanitized program is many times slower, so that all tests together would exceed
# their time limits, and single tests would wait three quarters of the time. More of them run under AddressSanitizer, where two wait
# for real servers most of the time. For the same reason, randomized tests run a tenth of their repetitions.
SANITIZED := $(STRICT) $(WHOLE) --disable-xctest
SANITIZED_TEST := env LUPINE_TESTS_DIVISOR=10 $(SWIFT) test $(SANITIZED) --experimental-maximum-parallelization-width
# The compiler that is installed with Swift, even if another one is on the PATH.
CLANG = $(dir $(shell readlink -f "$$(command -v $(SWIFT))"))clang

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps demo build release test test-only servers-install servers-up servers-down mutants simulate replay namespaces soak \
  cache-soak background-soak traits tables lint cycles format exclusivity tsan asan ahead fuzz linkage bench counts paths flags micro \
  example docs api command install uninstall deb packaging clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install missing packages for the build
	@sh .ci/bootstrap $(TRAITS)

demo: ## build the demo and run it
	@sh .ci/bootstrap
	$(SWIFT) build $(DEMO_FLAGS) --product lupine-demo
	$(SWIFT) run --skip-build lupine-demo

build: deps ## build everything, without optimization
	$(SWIFT) build $(DEBUG)

release: deps ## build everything, optimized
	$(SWIFT) build -c release $(STRICT)

TEST_TARGETS := $(notdir $(wildcard Tests/*Tests))

# Limits the parallelism: on a busy machine, all tests at once would exceed their time limits.
test: deps servers-install ## run the tests, with the test servers
	LUPINE_TARGETS='$(TEST_TARGETS)' $(SERVERS) run $(SWIFT) test $(DEBUG) --experimental-maximum-parallelization-width 24

# Without the test servers: `Tests/Servers/servers run make test-only TEST=…` runs tests that need them. Builds only the test
# targets that the pattern can match, and what they need.
test-only: deps ## run the tests whose names match TEST=…, without the test servers
	LUPINE_TARGETS="$$(.ci/test-targets '$(TEST)')" $(SWIFT) test $(DEBUG) --disable-xctest --filter '$(TEST)'

servers-install: ## install missing packages for the test servers
	@$(SERVERS) install

servers-up: servers-install ## start the test servers
	@$(SERVERS) up

servers-down: ## stop the test servers
	@$(SERVERS) down

# Builds a mutated copy in .build/mutants, so the first run takes minutes longer; not a part of the gate.
MUTANTS ?=
mutants: deps servers-install ## break each promise of Security.md and rule of the cache, or MUTANTS="name…", and check that its test fails
	SWIFT=$(SWIFT) $(SERVERS) run Tests/Mutants/run $(MUTANTS)

# Optimized, and with a fixed order in hash tables, so that each run of a seed is the same.
SEEDS ?= 100000
FIRST ?= 1
SIMULATED_SEED := .build/simulated-seed
simulate: deps ## run SEEDS=100000 simulated schedules of the engine, from FIRST=1 on
	@rm -f $(SIMULATED_SEED)
	SWIFT_DETERMINISTIC_HASHING=1 LUPINE_TARGETS=LupineEngineTests \
	  LUPINE_SIMULATION_SEEDS=$(SEEDS) LUPINE_SIMULATION_FIRST=$(FIRST) LUPINE_SIMULATION_FILE=$(SIMULATED_SEED) \
	  $(SWIFT) test -c release -Xswiftc -enable-testing $(STRICT) --disable-xctest --filter SimulationTests || \
	  { echo "simulate: failed at the seed $$(cat $(SIMULATED_SEED)); make replay SEED=… runs it alone" >&2; exit 1; }

replay: deps ## run one simulated schedule, SEED=…, and print its events
	SWIFT_DETERMINISTIC_HASHING=1 LUPINE_TARGETS=LupineEngineTests LUPINE_SIMULATION_SEED=$(SEED) \
	  $(SWIFT) test -c release -Xswiftc -enable-testing $(STRICT) --disable-xctest --filter SimulationTests

# The variables of a loop aren't checked for exclusive access, for speed. In this copy they are.
CHECKED := .build/exclusivity
exclusivity: deps ## run the engine's tests and the simulation with checks of exclusive access to the loops' variables
	@mkdir -p $(CHECKED) && rm -rf $(CHECKED)/Sources $(CHECKED)/Tests
	@cp -a Package.swift Sources Tests $(CHECKED)
	@grep -rl '@exclusivity(unchecked) ' $(CHECKED)/Sources | xargs sed -i 's/@exclusivity(unchecked) //'
	LUPINE_TARGETS=LupineEngineTests $(SWIFT) test $(STRICT) --package-path $(CHECKED) --disable-xctest

# The traits that download packages. The trait NAME has the target LupineNAME and the tests LupineNAMETests, and possibly others.
PACKAGE_TRAITS := Bench Services HTTPTypes Observability
empty :=
comma := ,
TRAITS_TARGETS := LUPINE_TARGETS='LupineCommandTests $(PACKAGE_TRAITS:%=Lupine%Tests)'
TRAITS_BUILD := --traits $(subst $(empty) $(empty),$(comma),$(PACKAGE_TRAITS)) $(FLAGS) $(WHOLE) --scratch-path .build/traits \
  --disable-xctest
# What builds further packages, with the argument `build` only that. Each set of traits is another build of all targets.
PACKAGES := Tests/Packages/run Tests/Examples/openapi/run Tests/Examples/httpapis/run Tests/Examples/hummingbird/run
# Tests with all traits together; `make build` builds the targets without them. Tests/Packages/alone shows that with each trait
# alone, all targets are compiled like in one of these two builds. That SwiftPM finds and plans what a single trait needs is checked
# by building one leaf.
traits: deps ## build and test the parts whose traits download packages, with each trait and with all, and in other packages
	sh .ci/packages curl python3
	SWIFT=$(SWIFT) Tests/Packages/alone $(PACKAGE_TRAITS)
	@for trait in $(PACKAGE_TRAITS); do \
	  echo "the trait $$trait alone" && LUPINE_TARGETS="Lupine$$trait" $(SWIFT) build --traits $$trait --target LupineRandom \
	    --scratch-path .build/trait || exit 1; \
	done
	$(TRAITS_TARGETS) $(SWIFT) test $(TRAITS_BUILD) --filter '$(call any_of,Bench $(PACKAGE_TRAITS:%=Lupine%Tests))'
	Tests/Packages/snippets .build/traits
	@for packages in $(PACKAGES); do echo "$$packages" && SWIFT_FLAGS='$(WHOLE)' $$packages || exit 1; done

tables: deps ## write the generated table of Errors.md from the errors in the code
	LUPINE_WRITE_TABLES=1 $(MAKE) test-only TEST=ErrorTableTests

# The largest cycles between types, and why they exist. 12 files of LupineURLSession: as in Foundation, sessions create tasks, tasks and
# delegates name their session, and a URLProtocol names its task. 5 of these files are URLSession and URLSessionTask; the others are
# the other kinds of tasks, the delegates, and what asks a URLProtocol or a session's delegate. 12 of Lupine: as in Alamofire,
# sessions, requests, interceptors and monitors name each other; 6 of these files are Request and its subclasses. 11 and 9 of
# LupineJSON: as in Codable, a coder and its containers create each other. 7 of the engine's pool: its records contain parts of
# PoolState. 7 of the cache: an exchange leads its session's other requests for the same URL. Lower the limit when the largest one
# shrinks.
lint: ## check the format, the style, the wording and the README's picture
	$(SWIFT) format lint --strict --recursive --parallel --configuration .swift-format $(FORMATTED)
	@.ci/cycles --max 12 >/dev/null
	@.ci/phrases
	@Benchmarks/picture --check

cycles: ## show the cycles of references between files; CYCLES="-v LupineWire" says why, and for one target
	@.ci/cycles $(CYCLES)

format: ## format the sources in place
	$(SWIFT) format --in-place --recursive --parallel --configuration .swift-format $(FORMATTED)

# Sanitizers write their reports to files, because the standard error of processes that tests start isn't shown.
REPORTS := $(CURDIR)/.build/sanitizer-report
SHOW_REPORTS = { status=$$?; grep -ash -A 30 'Sanitizer:' $(REPORTS).* >&2; exit $$status; }

TSAN_MUTEX := .build/tsan-mutex.so
$(TSAN_MUTEX): .ci/tsan-mutex.c
	@mkdir -p .build
	$(CLANG) -Wall -Werror -shared -fPIC -O1 -o $@ $<

# Joins the words of a list to one pattern for --skip.
any_of = $(subst $(empty) $(empty),|,$(strip $(1)))

# Leaves out what can't find a race that the other tests don't find:
# - targets and suites without threads: in LupineTLSTests, all but those of the stores that loops share;
# - the tests' own server, and LupineServerTests, which tests how the client and real servers agree, and runs under AddressSanitizer;
# - suites that start a process per test, or a loop for each of 500 misbehaviors of a server, which differ only in its bytes;
# - suites of LupineTests about rules that LupineURLSession implements and that its own tests run with threads, too.
UNTHREADED := LupineWireTests LupineJSONTests LupineWebSocketTests LupineCodingTests LupineCacheTests LupineAuthenticationTests \
  LupineLoginTests LupineOriginTests LupineServerTests LupineCommandTests $(PACKAGE_TRAITS:%=Lupine%Tests) TidyTests
UNTHREADED_SUITES := PoolModelTests PoolLoadTests SimulationTests TransferStateTests ShardFloodTests/codedFlood NetlinkMessageTests \
  RecordFormatTests TransferFormatTests SetCookieTests CookieJarTests PropertyListCheckTests DescriptionTests AdaptTests/many \
  InterceptorTests/longChain MultipartFormDataTests URLEncoded \
  LupineTLSTests.(?!SessionStore|Resumption|Reverification|VerifiedChains|Settings) \
  FaultTests FailedCallTests KilledWriterTests ProcessEventTests ProcessLimitTests MisbehaviourTests/direct \
  LupineTests.(ConnectionAuth|DigestAuth|ProxyAuth|DataURL|FileURL|LocalRedirect|ServerTrust|Revocation)
TSAN := LUPINE_TARGETS='$(filter-out $(UNTHREADED),$(TEST_TARGETS))'
TSAN_BUILD := --sanitize=thread --scratch-path .build/tsan
tsan: deps servers-install $(TSAN_MUTEX) ## run the tests with threads under ThreadSanitizer
	@rm -f $(REPORTS).*
	$(SERVERS) run env SWIFT_BACKTRACE=enable=no LD_PRELOAD=$(CURDIR)/$(TSAN_MUTEX) TSAN_OPTIONS=log_path=$(REPORTS) \
	  $(TSAN) $(SANITIZED_TEST) 6 $(TSAN_BUILD) --skip '$(call any_of,$(UNTHREADED_SUITES))' || $(SHOW_REPORTS)

# Leaves out the tests of targets without unsafe code, of the tests' own server, and of the command; with SAFE= runs them too, to
# find leaks. The API's layers have unsafe code only in PieceMemory, which LupinePieceTests test, and in ResponseInputStream. Leaves
# out the suites that run only the pool and the simulation, which the fuzzer runs under AddressSanitizer. Uses a smaller quarantine
# of freed memory than by default, because a test measures the memory in use.
SAFE := LupineAuthenticationTests LupineLoginTests LupineCookiesTests LupineCacheTests LupineCacheStoreTests \
  LupineTransferStoreTests LupineOriginTests LupineURLSessionTests LupineTests Alamofire4Tests LupineCommandTests \
  $(PACKAGE_TRAITS:%=Lupine%Tests) TidyTests
SAFE_SUITES := PoolModelTests PoolLoadTests SimulationTests
ASAN := LUPINE_TARGETS='$(filter-out $(SAFE),$(TEST_TARGETS))'
ASAN_BUILD := --sanitize=address --scratch-path .build/asan
asan: deps servers-install ## run the tests of code that uses unsafe memory under AddressSanitizer
	@rm -f $(REPORTS).*
	$(SERVERS) run env SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=quarantine_size_mb=16:log_path=$(REPORTS) \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan-suppressions \
	  $(ASAN) $(SANITIZED_TEST) 8 $(ASAN_BUILD) --skip '$(call any_of,$(SAFE_SUITES))' || $(SHOW_REPORTS)

# What stages of the gate need, except for what shares a build with `make build` or `make release`. Continues after a failure, which
# the stage reports when it builds again.
ahead: deps
	-LUPINE_TARGETS=LupineCommand $(SWIFT) build $(COMMAND_BUILD)
	-$(TSAN) $(SWIFT) build --build-tests $(SANITIZED) $(TSAN_BUILD)
	-$(ASAN) $(SWIFT) build --build-tests $(SANITIZED) $(ASAN_BUILD)
	-SWIFT=$(SWIFT) Fuzz/run
	-$(TRAITS_TARGETS) $(SWIFT) build --build-tests $(TRAITS_BUILD)
	-for packages in $(PACKAGES); do SWIFT_FLAGS='$(WHOLE)' $$packages build; done
	-Tests/Examples/run build

# The duration of fuzz and soak in seconds.
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

# The command for users, with Swift's libraries in it: without the flags of development, like the demo. `lupine bench` is in it only
# with BENCH=1, because it needs a package from the network.
PREFIX ?= /usr/local
COMMAND_BUILD := --configuration release --static-swift-stdlib --product lupine --scratch-path .build/install \
  $(if $(BENCH),--traits Bench) $(COMMAND_FLAGS)
COMMAND := .build/install/release/lupine
SHARE = $(DESTDIR)$(PREFIX)/share
command: ## build the command lupine for installation
	@sh .ci/bootstrap
	LUPINE_TARGETS=LupineCommand $(SWIFT) build $(COMMAND_BUILD)

# Writes one file of --generate, which $(COMMAND) prints, to a folder. Parameters: the kind, the folder, the name.
generated = install -d "$(2)" && $(COMMAND) --generate $(1) >"$(2)/$(3)" && chmod 644 "$(2)/$(3)"
install: command ## install the command lupine, its manual page and its completions in PREFIX=/usr/local; BENCH=1 adds lupine bench
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -s -m 755 $(COMMAND) "$(DESTDIR)$(PREFIX)/bin/lupine"
	$(call generated,man,$(SHARE)/man/man1,lupine.1)
	$(call generated,bash,$(SHARE)/bash-completion/completions,lupine)
	$(call generated,zsh,$(SHARE)/zsh/site-functions,_lupine)
	$(call generated,fish,$(SHARE)/fish/vendor_completions.d,lupine.fish)

uninstall: ## remove what `make install` has installed in PREFIX=/usr/local
	rm -f "$(DESTDIR)$(PREFIX)/bin/lupine" "$(SHARE)/man/man1/lupine.1" "$(SHARE)/bash-completion/completions/lupine" \
	  "$(SHARE)/zsh/site-functions/_lupine" "$(SHARE)/fish/vendor_completions.d/lupine.fish"

deb: ## build a Debian package with the command lupine into .build
	@sh .ci/packages dpkg-dev
	.ci/deb .build

packaging: ## install the command and its Debian package in clean folders, and try them there (as root or with sudo)
	sh .ci/packages dpkg-dev debootstrap zsh fish groff python3
	Tests/Packaging/run

bench: deps ## compare Lupine with other clients in all workloads, and write Benchmarks/README.md and the README's picture
	Benchmarks/run --all --readme
	Benchmarks/picture

# Counts don't depend on the speed or load of the machine, but times do. CI therefore checks only counts.
counts: deps ## compare the instructions and allocations per request with Benchmarks/limits.tsv
	sh .ci/packages valgrind libc6-dbg nginx binutils
	Benchmarks/counts

paths: deps ## count the functions, locks and hand-overs of one request, and write their table in Benchmarks/README.md
	sh .ci/packages valgrind libc6-dbg binutils
	Benchmarks/paths

# Benchmarks/counts builds another package, which has no traits, with these flags.
flags:
	@echo '$(FLAGS)'

# -enable-testing gives the benchmarks access to internal types, such as the pool.
micro: deps ## measure the parts of a request without the network, and compare the parser with Debian's http-parser
	sh .ci/packages libhttp-parser-dev
	$(SWIFT) package --package-path Benchmarks/Micro -Xswiftc -enable-testing benchmark --no-progress --grouping metric

namespaces: deps ## test on networks that lose, delay, reset and drop packets (as root or with sudo)
	sh .ci/packages iproute2 python3 openssl dnsmasq-base
	$(SWIFT) build $(DEBUG) --product lupine
	$(SWIFT) build $(DEBUG) --product LupineReachability
	$$([ "$$(id -u)" = 0 ] || echo sudo) Tests/Namespaces/run
	$$([ "$$(id -u)" = 0 ] || echo sudo) Tests/Namespaces/reachability
	$$([ "$$(id -u)" = 0 ] || echo sudo) Tests/Namespaces/waiting
	$$([ "$$(id -u)" = 0 ] || echo sudo) Tests/Namespaces/rebinding
	$$([ "$$(id -u)" = 0 ] || echo sudo) Tests/Namespaces/addresses
	$$([ "$$(id -u)" = 0 ] || echo sudo) Tests/Namespaces/trouble

# Optimized, as in production, or with SANITIZE=thread or address. The picture shows whether a curve still rises at the
# end, which the numbers don't.
PICTURE ?= .build/soak.svg
SOAK_BUILD = $(STRICT) --product LupineSoak \
  $(if $(SANITIZE),--sanitize=$(SANITIZE) --scratch-path .build/soak-$(SANITIZE),-c release)
SOAK_ENVIRONMENT = SWIFT_BACKTRACE=enable=no LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan-suppressions \
  $(if $(filter thread,$(SANITIZE)),LD_PRELOAD=$(CURDIR)/$(TSAN_MUTEX))
soak: deps $(if $(filter thread,$(SANITIZE)),$(TSAN_MUTEX)) ## send mixed requests for TIME=60 seconds, check that none is lost and the process doesn't grow, and draw PICTURE=.build/soak.svg
	$(SWIFT) build $(SOAK_BUILD)
	env $(SOAK_ENVIRONMENT) "$$($(SWIFT) build $(SOAK_BUILD) --show-bin-path)/LupineSoak" $(TIME) $(PICTURE)

autobahn: build ## run the Autobahn test suite against the WebSocket client: sections 1 to 7 and 10, or CASES='9.* 12.*', or CASES=--all
	Tests/Autobahn/run $(CASES)

# The second run is on a disk of 3 MB, which is full before the capacity is reached; it needs root or user namespaces.
CACHE_SOAK := LupineCacheSoak
cache-soak: deps ## let eight processes share a cache for TIME=60 seconds while they are killed, then again on a full disk
	$(SWIFT) build -c release $(STRICT) --product $(CACHE_SOAK)
	@program="$$($(SWIFT) build -c release $(STRICT) --show-bin-path)/$(CACHE_SOAK)" folder=$$(mktemp -d) && \
	trap 'rm -rf "$$folder"' EXIT && "$$program" $(TIME) "$$folder/cache" 6000000 && \
	unshare $$([ "$$(id -u)" = 0 ] || echo --map-root-user) --mount sh -c 'mount -t tmpfs -o size=3m,mode=700 tmpfs /mnt && \
	  exec "$$1" $(TIME) /mnt/cache 6000000' sh "$$program"

TRANSFERS ?= 50
background-soak: deps ## kill a process with TRANSFERS=50 background transfers again and again for TIME=60 seconds, and check what arrives
	$(SWIFT) build -c release $(STRICT) --product LupineBackgroundSoak
	"$$($(SWIFT) build -c release --show-bin-path)/LupineBackgroundSoak" $(TIME) $(TRANSFERS)

example: deps ## build the code of the README and the articles, and run the README's
	Tests/Examples/run

# The symbols of the libraries that users import, and of the targets that these re-export. They are read from the modules of a debug
# build, because `swift package dump-symbol-graph` compiles all sources once more, with other flags.
PUBLIC := Alamofire4 Lupine LupineCoding LupineCookies LupineEngine LupineFormats LupineJSON LupineReactor LupineTLS LupineTesting \
  LupineURLSession LupineWire
GRAPHS := .build/graphs
DUMP_SYMBOLS = LUPINE_TARGETS='Lupine Alamofire4 LupineTesting' $(SWIFT) build $(DEBUG) && \
  SWIFT=$(SWIFT) .ci/graphs "$$($(SWIFT) build $(DEBUG) --show-bin-path)" $(GRAPHS) $(PUBLIC)

# The symbols of Lupine's API, and of the targets that it re-exports: programs see all of them as one module. The engine, for
# its own users, is documented in its comments.
DOCS := .build/docs
docs: deps ## build the documentation into .build/docs, and compare the API with .ci/api.txt; warnings are errors
	@rm -rf $(DOCS)-symbols && mkdir -p $(DOCS)-symbols
	$(DUMP_SYMBOLS)
	.ci/api $(GRAPHS)
	.ci/symbols $(GRAPHS) $(DOCS)-symbols
	$(dir $(CLANG))docc convert Sources/Lupine/Lupine.docc --additional-symbol-graph-dir $(DOCS)-symbols \
	  --output-path $(DOCS) --warnings-as-errors

api: deps ## write the baseline of the public API, .ci/api.txt (see .github/RELEASING.md)
	$(DUMP_SYMBOLS)
	.ci/api $(GRAPHS) --write

clean: ## remove all build products
	rm -rf .build

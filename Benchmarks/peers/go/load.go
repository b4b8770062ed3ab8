// The command line options that all load generators have, and the line of results that each prints.

package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

type load struct {
	requests, inFlight, warmUp, origins int
	bodyBytes                           int64
	upload, download, authorities, url  string
	decode                              string
}

func loadFromCommandLine() load {
	var l load
	flag.IntVar(&l.requests, "requests", 100000, "the number of measured requests")
	flag.IntVar(&l.inFlight, "in-flight", 64, "the number of concurrent requests")
	flag.IntVar(&l.warmUp, "warm-up", 0, "the number of requests before the measurement")
	flag.IntVar(&l.origins, "origins", 1, "the number of hosts 127.0.x.y that are requested in turn")
	flag.Int64Var(&l.bodyBytes, "body-bytes", -1, "the expected length of each body, whose content isn't checked")
	flag.StringVar(&l.upload, "upload", "", "a file to send in each request")
	flag.StringVar(&l.download, "download", "", "a file to which each response is written")
	flag.StringVar(&l.authorities, "ca", "", "a PEM file with the authorities to trust")
	flag.StringVar(&l.decode, "decode", "", "the kind of JSON to decode: page or wide")
	flag.Parse()
	l.url = flag.Arg(0)
	if l.url == "" || l.requests < 1 || l.inFlight < 1 || l.warmUp < 0 || l.origins < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return l
}

// Returns the URLs to request in turn, one per origin. server.py listens on the same addresses.
func (l load) urls() []string {
	if l.origins == 1 {
		return []string{l.url}
	}
	var urls []string
	for index := 0; index < l.origins; index++ {
		host := fmt.Sprintf("127.0.%d.%d", 1+index/250, 1+index%250)
		urls = append(urls, strings.Replace(l.url, "127.0.0.1", host, 1))
	}
	return urls
}

func fail(what string, why interface{}) {
	fmt.Fprintf(os.Stderr, "go: %s: %v\n", what, why)
	os.Exit(1)
}

// The requests that are left to send, which goroutines share, and the latency of each in units of 0.1 µs.
type tickets struct {
	next      int64
	latencies []uint32
}

func newTickets(count int) *tickets { return &tickets{latencies: make([]uint32, count)} }

// Returns the index of the next request to send, or -1 if none is left.
func (t *tickets) take() int {
	index := int(atomic.AddInt64(&t.next, 1)) - 1
	if index >= len(t.latencies) {
		return -1
	}
	return index
}

func (t *tickets) finish(index int, begin time.Time) {
	t.latencies[index] = uint32(math.Min(float64(time.Since(begin).Nanoseconds()/100), math.MaxUint32))
}

func (t *tickets) percentile(share float64) float64 {
	index := int(math.Ceil(share*float64(len(t.latencies)))) - 1
	return float64(t.latencies[index]) / 10
}

type costs struct {
	wall         time.Time
	user, system float64
}

func costsNow() costs {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("getrusage", err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return costs{time.Now(), seconds(usage.Utime), seconds(usage.Stime)}
}

func report(before costs, t *tickets) {
	after := costsNow()
	resident := residentKiBMax() // before the latencies are sorted
	sort.Slice(t.latencies, func(a, b int) bool { return t.latencies[a] < t.latencies[b] })
	count := len(t.latencies)
	elapsed := after.wall.Sub(before.wall).Seconds()
	user, system := after.user-before.user, after.system-before.system
	fmt.Printf("requests=%d seconds=%.6f requests_per_second=%.6f user_seconds=%.6f system_seconds=%.6f "+
		"cpu_us_per_request=%.6f p50_us=%.1f p99_us=%.1f p999_us=%.1f peak_rss_kib=%d\n",
		count, elapsed, float64(count)/elapsed, user, system, (user+system)/float64(count)*1e6,
		t.percentile(0.5), t.percentile(0.99), t.percentile(0.999), resident)
}

// Reads VmHWM instead of ru_maxrss, which a process inherits from its parent.
func residentKiBMax() int {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == "VmHWM:" {
			kib, _ := strconv.Atoi(words[1])
			return kib
		}
	}
	return 0
}

//! The command line options that all load generators have, and the line of results that each prints.

use std::fmt::Display;
use std::process::exit;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;

/// The work of this load generator: the URL, the number of requests, their concurrency, the data to send, and the responses.
pub struct Load {
    pub requests: usize,
    pub in_flight: usize,
    pub warm_up: usize,
    pub origins: usize,
    pub body_bytes: Option<usize>,
    pub upload_bytes: Option<u64>,
    pub download: Option<String>,
    pub decode: Option<String>,
    pub url: String,
}

pub fn fail(what: &str, why: impl Display) -> ! {
    eprintln!("hyper: {what}: {why}");
    exit(1)
}

impl Load {
    pub fn from_command_line() -> Load {
        let mut load = Load {
            requests: 100_000,
            in_flight: 64,
            warm_up: 0,
            origins: 1,
            body_bytes: None,
            upload_bytes: None,
            download: None,
            decode: None,
            url: String::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| fail(&argument, "a value is missing"));
            match argument.as_str() {
                "--requests" => load.requests = count(&value()),
                "--in-flight" => load.in_flight = count(&value()),
                "--warm-up" => load.warm_up = count(&value()),
                "--origins" => load.origins = count(&value()),
                "--body-bytes" => load.body_bytes = Some(count(&value())),
                "--upload" => load.upload_bytes = Some(size(&value())),
                "--download" => load.download = Some(value()),
                "--decode" => load.decode = Some(value()),
                _ => load.url = argument,
            }
        }
        if !load.url.starts_with("http://") || load.requests < 1 || load.in_flight < 1 || load.origins < 1 {
            eprintln!(
                "usage: load-hyper [--requests N] [--in-flight N] [--warm-up N] [--origins N] [--body-bytes N] \
                 [--upload FILE] [--download FILE] [--decode page|wide] http://HOST:PORT/PATH"
            );
            exit(2);
        }
        load
    }

    /// Returns the URLs to request in turn, one per origin. server.py listens on the same addresses.
    pub fn urls(&self) -> Vec<String> {
        if self.origins == 1 {
            return vec![self.url.clone()];
        }
        let host = |index| format!("127.0.{}.{}", 1 + index / 250, 1 + index % 250);
        (0..self.origins).map(|index| self.url.replacen("127.0.0.1", &host(index), 1)).collect()
    }
}

fn count(text: &str) -> usize {
    text.parse().unwrap_or_else(|_| fail(text, "is no count"))
}

fn size(path: &str) -> u64 {
    std::fs::metadata(path).unwrap_or_else(|error| fail(path, error)).len()
}

pub struct Ticket {
    pub index: usize,
    begin: Instant,
}

/// The requests that are left to send, which tasks share, and the latency of each in units of 0.1 µs.
pub struct Tickets {
    next: AtomicUsize,
    latencies: Vec<AtomicU32>,
}

impl Tickets {
    pub fn new(count: usize) -> Arc<Tickets> {
        let latencies = (0..count).map(|_| AtomicU32::new(0)).collect();
        Arc::new(Tickets { next: AtomicUsize::new(0), latencies })
    }

    pub fn take(&self) -> Option<Ticket> {
        let index = self.next.fetch_add(1, Relaxed);
        (index < self.latencies.len()).then(|| Ticket { index, begin: Instant::now() })
    }

    pub fn finish(&self, ticket: Ticket) {
        let tenths = (ticket.begin.elapsed().as_nanos() / 100).min(u32::MAX.into());
        self.latencies[ticket.index].store(tenths as u32, Relaxed);
    }

    /// Prints the line that `Benchmarks/run` reads.
    pub fn report(&self, before: Costs) {
        let after = Costs::now();
        let resident = resident_kib_max(); // before the latencies are sorted
        let mut sorted: Vec<u32> = self.latencies.iter().map(|own| own.load(Relaxed)).collect();
        sorted.sort_unstable();
        let percentile = |share: f64| f64::from(sorted[(share * sorted.len() as f64).ceil() as usize - 1]) / 10.0;
        let count = sorted.len() as f64;
        let seconds = (after.wall - before.wall).as_secs_f64();
        let (user, system) = (after.user - before.user, after.system - before.system);
        println!(
            "requests={} seconds={seconds:.6} requests_per_second={:.6} user_seconds={user:.6} \
             system_seconds={system:.6} cpu_us_per_request={:.6} p50_us={:.1} p99_us={:.1} p999_us={:.1} \
             peak_rss_kib={resident}",
            sorted.len(),
            count / seconds,
            (user + system) / count * 1e6,
            percentile(0.5),
            percentile(0.99),
            percentile(0.999),
        );
    }
}

pub struct Costs {
    wall: Instant,
    user: f64,
    system: f64,
}

impl Costs {
    pub fn now() -> Costs {
        // SAFETY: a rusage with all bytes 0 is valid. getrusage fills the structure and keeps no pointer to it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        Costs { wall: Instant::now(), user: seconds(usage.ru_utime), system: seconds(usage.ru_stime) }
    }
}

// Reads VmHWM instead of ru_maxrss, which a process inherits from its parent.
fn resident_kib_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

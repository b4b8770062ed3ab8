-- Makes wrk print its results in the format of the other load generators. Its CPU time is measured from outside.

function done(summary, latency, requests)
  local errors = summary.errors
  if errors.connect + errors.read + errors.write + errors.status + errors.timeout > 0 then
    io.stderr:write("wrk: some requests failed\n")
    os.exit(1)
  end
  io.write(string.format(
    "requests=%d seconds=%.6f requests_per_second=%.6f p50_us=%.1f p99_us=%.1f p999_us=%.1f\n",
    summary.requests, summary.duration / 1e6, summary.requests / summary.duration * 1e6,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end

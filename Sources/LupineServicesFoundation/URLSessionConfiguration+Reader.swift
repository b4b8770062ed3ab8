// URLSessionConfiguration+Reader: reads a session's settings from a configuration.

#if Services
  public import Configuration
  public import LupineServices
  public import LupineURLSession
  internal import LupineEngine

  extension URLSessionConfiguration {
    /// Reads settings from a configuration, with the keys of `ClientSettings`. Keys without a value leave the settings unchanged.
    ///
    /// If one of the keys for time limits has a value, ``timeouts`` is set, and ``timeoutIntervalForRequest`` limits only the other
    /// phases. A session has no setting that follows no redirects: its delegate, or Alamofire's `Redirector`, decides.
    ///
    /// - Throws: A `SettingError` for a value of another type, or one that isn't permitted. The settings are unchanged then.
    public func update(from reader: ConfigReader) throws(SettingError) {
      var defaults = ClientSettings()
      defaults.engine = engine
      defaults.redirects = redirectRule
      let current = timeouts ?? phaseTimeouts
      defaults.timeouts = current
      let settings = try ClientSettings(configReader: reader, defaults: defaults)
      guard let redirects = settings.redirects else {
        throw SettingError(
          key: "redirect.mode", found: .value("disallow"),
          permitted: "\"follow\", and refuse redirects in the session's delegate or with a Redirector")
      }
      engine = settings.engine
      redirectRule = redirects
      if settings.timeouts != current { timeouts = settings.timeouts }
    }

    /// The time limits that follow from ``timeoutIntervalForRequest``.
    private var phaseTimeouts: Timeouts {
      let interval = timeoutIntervalForRequest
      return Timeouts(everyPhase: interval > 0 && interval.isFinite ? .seconds(interval) : nil, total: nil)
    }
  }
#endif

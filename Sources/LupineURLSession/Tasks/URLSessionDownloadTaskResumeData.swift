// The key under which the error of a failed download keeps what it can be resumed from.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of the resume data, a `Data`, in the user info of the `URLError` that a download failed with.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The same key as ``NSURLSessionDownloadTaskResumeData``, by its name on Linux.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData

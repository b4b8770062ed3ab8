// URLSessionDownloadTaskResumeData: the key of resume data in the error of a failed download.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key for the resume data, a `Data`, in the `userInfo` of the `URLError` with which a download has failed.
///
/// If the download can't be resumed, the `userInfo` doesn't contain this key.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The same key as ``NSURLSessionDownloadTaskResumeData``, under the name that Foundation uses on Linux.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData

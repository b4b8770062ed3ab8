// URLSessionDownloadTaskResumeData: the key of resume data in the error of a failed download.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of the resume data, a `Data`, in the `userInfo` of the `URLError` with which a download has failed.
///
/// The value is absent if the download can't be resumed.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The same key as ``NSURLSessionDownloadTaskResumeData``, with the name that Foundation uses on Linux.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData

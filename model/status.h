// model::Status: the status of a call of the model, with the numbers of hipError_t (model/abi checks them against HIP's
// own header).
//
// Only the numbers that the model itself can answer are listed.
#pragma once

namespace model {

enum class [[nodiscard]] Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidMemcpyDirection = 21,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kFileNotFound = 301,
  kOperatingSystem = 304,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeOut = 702,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kContextIsDestroyed = 709,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureMerge = 902,
  kStreamCaptureUnmatched = 903,
  kStreamCaptureUnjoined = 904,
  kStreamCaptureIsolation = 905,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kStreamCaptureWrongThread = 908,
  kGraphExecUpdateFailure = 910,
  kUnknown = 999,
};

// hipGraphExecUpdateResult, number for number.
enum class UpdateResult : int {
  kSuccess = 0,
  kError = 1,
  kTopologyChanged = 2,
  kNodeTypeChanged = 3,
  kFunctionChanged = 4,
  kParametersChanged = 5,
  kNotSupported = 6,
  kUnsupportedFunctionChange = 7,
};

}  // namespace model

// The model's numbers are HIP's: checked at compile time against HIP's own header.
#include <hip/hip_runtime_api.h>

#include "model/dot.h"
#include "model/params.h"
#include "model/status.h"
#include "model/stream.h"

namespace model {
namespace {

constexpr bool same(Status status, hipError_t error) {
  return static_cast<int>(status) == static_cast<int>(error);
}
static_assert(same(Status::kSuccess, hipSuccess));
static_assert(same(Status::kInvalidValue, hipErrorInvalidValue));
static_assert(same(Status::kOutOfMemory, hipErrorOutOfMemory));
static_assert(same(Status::kInvalidConfiguration, hipErrorInvalidConfiguration));
static_assert(same(Status::kInvalidPitchValue, hipErrorInvalidPitchValue));
static_assert(same(Status::kInvalidMemcpyDirection, hipErrorInvalidMemcpyDirection));
static_assert(same(Status::kInvalidDeviceFunction, hipErrorInvalidDeviceFunction));
static_assert(same(Status::kInvalidDevice, hipErrorInvalidDevice));
static_assert(same(Status::kInvalidImage, hipErrorInvalidImage));
static_assert(same(Status::kNoBinaryForGpu, hipErrorNoBinaryForGpu));
static_assert(same(Status::kFileNotFound, hipErrorFileNotFound));
static_assert(same(Status::kOperatingSystem, hipErrorOperatingSystem));
static_assert(same(Status::kLaunchTimeOut, hipErrorLaunchTimeOut));
static_assert(same(Status::kInvalidHandle, hipErrorInvalidHandle));
static_assert(same(Status::kNotFound, hipErrorNotFound));
static_assert(same(Status::kNotReady, hipErrorNotReady));
static_assert(same(Status::kIllegalAddress, hipErrorIllegalAddress));
static_assert(same(Status::kPeerAccessAlreadyEnabled, hipErrorPeerAccessAlreadyEnabled));
static_assert(same(Status::kPeerAccessNotEnabled, hipErrorPeerAccessNotEnabled));
static_assert(same(Status::kContextIsDestroyed, hipErrorContextIsDestroyed));
static_assert(same(Status::kHostMemoryAlreadyRegistered, hipErrorHostMemoryAlreadyRegistered));
static_assert(same(Status::kHostMemoryNotRegistered, hipErrorHostMemoryNotRegistered));
static_assert(same(Status::kInvalidSymbol, hipErrorInvalidSymbol));
static_assert(same(Status::kIllegalState, hipErrorIllegalState));
static_assert(same(Status::kCooperativeLaunchTooLarge, hipErrorCooperativeLaunchTooLarge));
static_assert(same(Status::kStreamCaptureUnsupported, hipErrorStreamCaptureUnsupported));
static_assert(same(Status::kStreamCaptureInvalidated, hipErrorStreamCaptureInvalidated));
static_assert(same(Status::kStreamCaptureMerge, hipErrorStreamCaptureMerge));
static_assert(same(Status::kStreamCaptureUnmatched, hipErrorStreamCaptureUnmatched));
static_assert(same(Status::kStreamCaptureUnjoined, hipErrorStreamCaptureUnjoined));
static_assert(same(Status::kStreamCaptureIsolation, hipErrorStreamCaptureIsolation));
static_assert(same(Status::kStreamCaptureImplicit, hipErrorStreamCaptureImplicit));
static_assert(same(Status::kCapturedEvent, hipErrorCapturedEvent));
static_assert(same(Status::kStreamCaptureWrongThread, hipErrorStreamCaptureWrongThread));
static_assert(same(Status::kLaunchFailure, hipErrorLaunchFailure));
static_assert(same(Status::kNotSupported, hipErrorNotSupported));
static_assert(same(Status::kGraphExecUpdateFailure, hipErrorGraphExecUpdateFailure));
static_assert(same(Status::kUnknown, hipErrorUnknown));

constexpr bool same(UpdateResult a, hipGraphExecUpdateResult b) {
  return static_cast<int>(a) == static_cast<int>(b);
}
static_assert(same(UpdateResult::kSuccess, hipGraphExecUpdateSuccess));
static_assert(same(UpdateResult::kError, hipGraphExecUpdateError));
static_assert(same(UpdateResult::kTopologyChanged, hipGraphExecUpdateErrorTopologyChanged));
static_assert(same(UpdateResult::kNodeTypeChanged, hipGraphExecUpdateErrorNodeTypeChanged));
static_assert(same(UpdateResult::kFunctionChanged, hipGraphExecUpdateErrorFunctionChanged));
static_assert(same(UpdateResult::kParametersChanged, hipGraphExecUpdateErrorParametersChanged));
static_assert(same(UpdateResult::kNotSupported, hipGraphExecUpdateErrorNotSupported));
static_assert(same(UpdateResult::kUnsupportedFunctionChange, hipGraphExecUpdateErrorUnsupportedFunctionChange));

constexpr bool same(CopyKind a, hipMemcpyKind b) {
  return static_cast<int>(a) == static_cast<int>(b);
}
static_assert(same(CopyKind::kHostToHost, hipMemcpyHostToHost));
static_assert(same(CopyKind::kHostToDevice, hipMemcpyHostToDevice));
static_assert(same(CopyKind::kDeviceToHost, hipMemcpyDeviceToHost));
static_assert(same(CopyKind::kDeviceToDevice, hipMemcpyDeviceToDevice));
static_assert(same(CopyKind::kDefault, hipMemcpyDefault));
static_assert(same(CopyKind::kDeviceToDeviceNoCu, hipMemcpyDeviceToDeviceNoCU));

static_assert(kDotVerbose == hipGraphDebugDotFlagsVerbose && kDotHandles == hipGraphDebugDotFlagsHandles);
static_assert(kDotEventParams == hipGraphDebugDotFlagsEventNodeParams);
static_assert(kDotKernelAttributes == hipGraphDebugDotFlagsKernelNodeAttributes);
static_assert(kStreamDefault == hipStreamDefault && kStreamNonBlocking == hipStreamNonBlocking);

}  // namespace
}  // namespace model

#include "bench/library_calls/libraries.h"

#include <dlfcn.h>

#include <string>

namespace bench {
namespace {

class Library {
 public:
  Library(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      asked_ += std::string(asked_.empty() ? "" : " or ") + name;
    }
    if (handle_ == nullptr) problem_ = "there is no " + asked_;
  }
  template <class Function>
  void find(const char* name, Function& function) {
    if (handle_ == nullptr) return;
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr && problem_.empty()) problem_ = asked_ + " lacks " + name;
  }
  template <class Table>
  [[nodiscard]] hip::Result<Table> result(const Table& table) const {
    if (!problem_.empty()) return hip::Error{hipErrorSharedObjectInitFailed, problem_};
    return table;
  }

 private:
  void* handle_ = nullptr;
  std::string asked_, problem_;
};

}  // namespace

hip::Result<Driver> open_driver() {
  Library library{"libcuda.so.1"};
  Driver driver;
  library.find("cuGraphKernelNodeGetParams_v2", driver.get_kernel_node);
  library.find("cuGraphExecKernelNodeSetParams_v2", driver.set_kernel_node);
  library.find("cuFuncGetParamInfo", driver.function_argument);
  library.find("cuKernelGetParamInfo", driver.kernel_argument);
  return library.result(driver);
}

hip::Result<Cublas> open_cublas() {
  Library library{"libcublas.so.13", "libcublas.so.12"};
  Cublas cublas;
  library.find("cublasCreate_v2", cublas.cublasCreate_v2);
  library.find("cublasSetStream_v2", cublas.cublasSetStream_v2);
  library.find("cublasSetWorkspace_v2", cublas.cublasSetWorkspace_v2);
  library.find("cublasSgemm_v2", cublas.cublasSgemm_v2);
  library.find("cublasGemmEx", cublas.cublasGemmEx);
  library.find("cublasSgemv_v2", cublas.cublasSgemv_v2);
  return library.result(cublas);
}

hip::Result<Nccl> open_nccl() {
  Library library{"libnccl.so.2"};
  Nccl nccl;
  library.find("ncclCommInitAll", nccl.ncclCommInitAll);
  library.find("ncclCommDestroy", nccl.ncclCommDestroy);
  library.find("ncclGroupStart", nccl.ncclGroupStart);
  library.find("ncclGroupEnd", nccl.ncclGroupEnd);
  library.find("ncclAllReduce", nccl.ncclAllReduce);
  return library.result(nccl);
}

}  // namespace bench

// ProcFs: processes as a mounted /proc shows them. It must outlive the processes that it opens.
#pragma once

#include "rdtd/base/directory.hpp"
#include "rdtd/proc/processes.hpp"

namespace rdtd::proc {

class ProcFs final : public Processes {
 public:
  explicit ProcFs(Directory root) : root_(std::move(root)) {}
  [[nodiscard]] Result<std::unique_ptr<Process>> open(pid_t pid) const override;
  [[nodiscard]] Result<std::vector<pid_t>> list() const override;

 private:
  Directory root_;
};

}  // namespace rdtd::proc

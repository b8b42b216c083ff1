#include "rdtd/daemon/leases.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace rdtd {

Leases::Leases() : watched_(::epoll_create1(EPOLL_CLOEXEC)) {}

bool Leases::contains(const std::string& name) const {
  return std::ranges::find(all_, name, &Lease::name) != all_.end();
}

std::vector<PolicyFile> Leases::files() const {
  std::vector<PolicyFile> out;
  for (const Lease& lease : all_) out.push_back(lease_file(lease.name, lease.policy));
  return out;
}

Result<UniqueFd> Leases::add(Lease lease) {
  const auto failed = [&] {
    return std::unexpected(Error{"make the pipe of", "lease '" + lease.name + "'", errno, {}});
  };
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return failed();
  UniqueFd holders(ends[0]), own(ends[1]);
  // EPOLLERR, which is always reported: nobody has the other end any more (pipe(7)).
  epoll_event event{.events = 0, .data = {.fd = own.get()}};
  if (::epoll_ctl(watched_.get(), EPOLL_CTL_ADD, own.get(), &event) < 0) return failed();
  all_.push_back(std::move(lease));
  own_ends_.push_back(std::move(own));
  return holders;
}

std::string Leases::exchange_policy(const std::string& name, std::string policy) {
  const auto found = std::ranges::find(all_, name, &Lease::name);
  return found == all_.end() ? "" : std::exchange(found->policy, std::move(policy));
}

void Leases::remove(const std::string& name) {
  const auto found = std::ranges::find(all_, name, &Lease::name);
  if (found == all_.end()) return;
  own_ends_.erase(own_ends_.begin() + (found - all_.begin()));
  all_.erase(found);
}

std::set<std::string> Leases::take_abandoned() {
  std::array<epoll_event, max_leases + 1> events{};
  const int count = ::epoll_wait(watched_.get(), events.data(), static_cast<int>(events.size()), 0);
  std::set<std::string> out;
  for (size_t i = 0; i < own_ends_.size(); i++)
    for (int event = 0; event < count; event++)
      if (events.at(static_cast<size_t>(event)).data.fd == own_ends_[i].get())
        out.insert(all_[i].name);
  for (const std::string& name : out) remove(name);
  return out;
}

}  // namespace rdtd

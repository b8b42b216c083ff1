// How measurements scatter: factors around 1, of four shapes.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <random>

namespace rdtd::test {

struct NoiseShape {
  const char* name;
  std::function<double(std::mt19937_64&)> deviation;  // around 0, by about 1
  [[nodiscard]] double factor(double scatter, std::mt19937_64& random) const {
    return std::exp(scatter * deviation(random));
  }
};

inline const std::array<NoiseShape, 4>& noise_shapes() {
  static const std::array<NoiseShape, 4> shapes = {{
      {"normal", [](auto& random) { return std::normal_distribution(0.0, 1.0)(random); }},
      {"skewed", [](auto& random) { return std::exponential_distribution(1.0)(random) - 1; }},
      {"heavy tail", [](auto& random) { return std::student_t_distribution(2.0)(random); }},
      {"two modes",
       [](auto& random) {
         return (std::bernoulli_distribution(0.2)(random) ? 2.5 : 0.0) +
                std::normal_distribution(0.0, 0.3)(random);
       }},
  }};
  return shapes;
}

}  // namespace rdtd::test

#include "certify/refutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ouro::recheck {
namespace {

// Checks one step after the other. made_ has the sides that are assumed, or follow, in the step at
// hand.
class Steps {
 public:
  Steps(const Refutation& refutation, const Cycles& cycles)
      : r_(refutation), cycles_(cycles), made_(refutation.choices.size(), Made::Open) {}

  std::string run() {
    for (std::size_t i = 0; i < r_.choices.size(); ++i) {
      const std::uint32_t previous = r_.choices[i].previous;
      if (previous != Choice::kNone && (previous >= i || !continues(r_.choices[i]))) {
        return fmt::format("choice {} does not continue another one", i + 1);
      }
      const std::string wrong = cycles_.complaint(r_.choices[i]);
      if (!wrong.empty()) return fmt::format("choice {} {}", i + 1, wrong);
    }
    if (r_.steps.empty() || !r_.steps.back().excluded.empty()) {
      return "the refutation does not end";
    }
    for (std::size_t i = 0; i < r_.steps.size(); ++i) {
      const std::string wrong = check(i);
      if (!wrong.empty()) return fmt::format("step {}: {}", i + 1, wrong);
    }
    return "";
  }

 private:
  enum class Made : unsigned char { Open, First, Second };
  static Made made(const ChoiceSide& side) { return side.reversed ? Made::Second : Made::First; }
  static Made opposite(const ChoiceSide& side) {
    return side.reversed ? Made::First : Made::Second;
  }

  std::string check(std::size_t number) {
    const RefutationStep& step = r_.steps[number];
    std::string wrong = assume(step);
    if (wrong.empty() && !step.cycle.empty()) {
      wrong = step.premises.empty() ? cycles_.complaint(step.cycle, r_.choices, step.excluded)
                                    : "has both a cycle and premises";
    } else if (wrong.empty() && step.premises.empty()) {
      wrong = cycles_.complaint(r_.choices, step.excluded);
    } else if (wrong.empty()) {
      wrong = follow(step, number);
    }
    for (const std::uint32_t choice : touched_) made_[choice] = Made::Open;
    touched_.clear();
    return wrong;
  }

  void set(std::uint32_t choice, Made side) {
    made_[choice] = side;
    touched_.push_back(choice);
  }

  // Whether a choice and the one that it continues are of one kind and about one read.
  [[nodiscard]] bool continues(const Choice& choice) const {
    const Choice& before = r_.choices[choice.previous];
    return choice.kind == ChoiceKind::Later && before.kind == ChoiceKind::Later &&
           choice.read == before.read && choice.key == before.key;
  }

  // Assumes the sides that the step excludes; they must lead to a contradiction.
  std::string assume(const RefutationStep& step) {
    for (const ChoiceSide& side : step.excluded) {
      if (side.choice >= made_.size()) return "there is no such choice";
      if (made_[side.choice] != Made::Open) return "names a choice twice";
      set(side.choice, made(side));
    }
    return "";
  }

  // Whether the premises contradict what is assumed. Of the sides that a premise excludes, all but
  // one must be made, so the opposite of that one follows; of the last premise, all must be.
  std::string follow(const RefutationStep& step, std::size_t number) {
    for (std::size_t i = 0; i < step.premises.size(); ++i) {
      if (step.premises[i] >= number) return "rests on a step that is not before it";
      const ChoiceSide* open = nullptr;
      for (const ChoiceSide& side : r_.steps[step.premises[i]].excluded) {
        if (made_[side.choice] == made(side)) continue;
        if (made_[side.choice] == opposite(side)) return "has a premise that says nothing";
        if (open != nullptr) return "has a premise that leaves more than one choice";
        open = &side;
      }
      if (open == nullptr) {
        return i + 1 == step.premises.size() ? "" : "goes on after it is proven";
      }
      set(open->choice, opposite(*open));
    }
    return "does not follow from its premises";
  }

  const Refutation& r_;
  const Cycles& cycles_;
  std::vector<Made> made_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace

std::string complaint(const Refutation& refutation, const Cycles& cycles) {
  return Steps(refutation, cycles).run();
}

}  // namespace ouro::recheck

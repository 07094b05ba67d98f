#include <ephost/types/function.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace ephost::function_test {
namespace {

int next(int number) { return number + 1; }

TEST(Function, CallsWhateverCanBeCalled) {
  EXPECT_EQ(Function<int(int)>(next)(1), 2);
  EXPECT_EQ(Function<int(int)>(&next)(2), 3);
  EXPECT_EQ(Function<int(int)>(std::function<int(int)>(next))(3), 4);
  EXPECT_EQ(Function<int(int)>([](int number) { return 2 * number; })(4), 8);
}

TEST(Function, IsEmptyWhereThereIsNothingToCall) {
  int (*const no_function)(int) = nullptr;
  for (const Function<int(int)>& empty :
       {Function<int(int)>(), Function<int(int)>(nullptr), Function<int(int)>(no_function),
        Function<int(int)>(std::function<int(int)>())}) {
    EXPECT_FALSE(empty);
    EXPECT_TRUE(empty == nullptr);
    EXPECT_EQ(empty.context(), nullptr);
  }
  Function<int(int)> function = next;
  EXPECT_TRUE(function);
  EXPECT_TRUE(function != nullptr);
  function = nullptr;
  EXPECT_FALSE(function);
}

TEST(Function, SharesItsObjectWithCopies) {
  Function<int()> first = [count = 0]() mutable { return ++count; };
  const Function<int()> second = first;
  EXPECT_EQ(first(), 1);
  EXPECT_EQ(second(), 2);
  first = {};
  EXPECT_EQ(second(), 3);
}

TEST(Function, KeepsItsObjectAsLongAsACopyLives) {
  const auto owned = std::make_shared<int>(7);
  Function<int()> first = [owned] { return *owned; };
  Function<int()> second = first;
  first = nullptr;
  EXPECT_EQ(owned.use_count(), 2);
  EXPECT_EQ(second(), 7);
  second = nullptr;
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Function, TakesObjectsThatOnlyMove) {
  const Function<std::unique_ptr<int>(std::unique_ptr<int>)> add =
      [one = std::make_unique<int>(1)](std::unique_ptr<int> number) {
        *number += *one;
        return number;
      };
  EXPECT_EQ(*add(std::make_unique<int>(2)), 3);
}

TEST(Function, ConvertsResultsAndDropsThemWhereThereIsNone) {
  EXPECT_EQ(Function<std::string(const char*)>([](const char* text) { return text; })("a"), "a");
  int calls = 0;
  Function<void()>([&] { return ++calls; })();
  EXPECT_EQ(calls, 1);
}

TEST(Function, IsCalledFromCByItsContext) {
  const Function<int(int)> function = next;
  int (*const call)(void*, int) = Function<int(int)>::call;
  EXPECT_EQ(call(function.context(), 5), 6);
}

TEST(Function, RefusesWhatCannotBeCalledInThatWay) {
  static_assert(!std::is_constructible_v<Function<int(int)>, std::string>);
  static_assert(!std::is_constructible_v<Function<int(int)>, int (*)(std::string)>);
}

}  // namespace
}  // namespace ephost::function_test

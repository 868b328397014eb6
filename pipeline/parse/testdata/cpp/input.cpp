#include <vector>
#include "db/impl.h"

#define EXPORT __attribute__((visibility("default")))

namespace store {
namespace {
int hidden() { return 1; }
}  // namespace

template <typename T>
class Cache : public Base<T> {
 public:
  explicit Cache(int size) : size_(size) {}
  ~Cache();
  T Get(const std::string& key) const { return T(); }
  bool operator==(const Cache& other) const { return true; }
  struct Entry { int a; };
  virtual void Later() = 0;
 private:
  int size_;
};

class EXPORT Vec : public Base<int> {
 public:
  int Size() const { return 0; }
};

class LIB_EXPORT(1) Final final {
  void Run() {}
};

class lib_export Lower : public Base<int> {
  int x;
};

struct EXPORT Point {
  int x;
};

enum class Mode : int { kOn, kOff };

using Key = std::string;
typedef int Number;

void DBImpl::Write(const Options& o) {}
int& DBImpl::Ref() { static int r; return r; }
template <>
void Table<int>::Load(int a) {}
DBImpl::~DBImpl() {}
Vec operator+(const Vec& a, const Vec& b) { return a; }

}  // namespace store

namespace a::b {
void nested() {}
}

TEST(CacheTest, Evicts) {
  EXPECT_EQ(R"(raw "x")", "s");
}

[[nodiscard]] static auto trailing(int a) -> int { return a; }

extern "C" {
void exported(void) {}
}

template <typename T>
concept Small = sizeof(T) < 8;

#include "study/methods.h"

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {

std::unique_ptr<Method> MakeMethod(const std::vector<MethodKind>& kinds, const std::string& name,
                                   const std::vector<MethodOption>& options) {
  std::vector<std::string> names;
  for (const MethodKind& kind : kinds) {
    if (name.empty() || kind.name == name) return kind.make(options);
    names.push_back(kind.name);
  }
  ThrowError("there is no method ", Quoted(name), DidYouMean(name, names), " the methods are ",
             QuotedList(names));
}

}  // namespace fathom

#include "host/manifest/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::manifest {

namespace {

// Thrown to leave the parser from inside one of its callbacks.
struct Refusal {
  Place place;
  std::string message;
};

Place place_of(const YAML::Mark& mark) {
  return {std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

// Builds the tree from the parser's events. With events instead of yaml-cpp's own nodes, aliases
// are not expanded, and locations and duplicate keys are not lost.
class TreeBuilder : public YAML::EventHandler {
 public:
  // The document, or nothing if the text has none.
  std::optional<YamlNode> take_root() { return std::exchange(root_, std::nullopt); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      throw Refusal{place_of(mark),
                    "a second YAML document begins here; keep one document in a file"};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    attach(make_node(YamlNode::Kind::kNull, mark));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refusal{place_of(mark), "an alias (*name) is not allowed; write the value out"};
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode node = make_node(YamlNode::Kind::kScalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    attach(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Key {
    std::string text;
    Place place;
  };
  struct Open {
    YamlNode node;
    std::optional<Key> key;  // in a map: the key whose value comes next
  };

  YamlNode make_node(YamlNode::Kind kind, const YAML::Mark& mark) {
    constexpr int kMaxNodes = 10000;
    if (++nodes_ > kMaxNodes) {
      throw Refusal{place_of(mark),
                    formatted("the document has more than {} values; shorten it", kMaxNodes)};
    }
    YamlNode node;
    node.kind = kind;
    node.place = place_of(mark);
    return node;
  }

  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      throw Refusal{place_of(mark), "an anchor (&name) is not allowed; remove it"};
    }
  }

  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    // The parser itself tags plain scalars with "?" and quoted ones with "!".
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw Refusal{place_of(mark), formatted("the tag {} is not allowed; remove it", quote(tag))};
    }
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap && !open_.back().key;
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    constexpr size_t kMaxDepth = 16;
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (open_.size() == kMaxDepth) {
      throw Refusal{
          place_of(mark),
          formatted("values are nested more than {} levels deep; flatten the document", kMaxDepth)};
    }
    if (expects_key()) refuse_key(place_of(mark));
    open_.push_back({make_node(kind, mark), std::nullopt});
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(node));
  }

  void attach(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (expects_key()) {
      set_key(std::move(node));
    } else if (Open& parent = open_.back(); parent.node.kind == YamlNode::Kind::kMap) {
      Key key = *std::exchange(parent.key, std::nullopt);
      parent.node.entries.push_back({std::move(key.text), key.place, std::move(node)});
    } else {
      parent.node.items.push_back(std::move(node));
    }
  }

  void set_key(YamlNode node) {
    if (node.kind != YamlNode::Kind::kScalar || node.text.empty()) refuse_key(node.place);
    Open& parent = open_.back();
    for (const YamlEntry& entry : parent.node.entries) {
      if (entry.key != node.text) continue;
      throw Refusal{node.place,
                    formatted("the key {} is already given in line {}; remove one of the two",
                              quote(node.text), entry.place.line)};
    }
    parent.key = Key{std::move(node.text), node.place};
  }

  [[noreturn]] static void refuse_key(Place place) {
    throw Refusal{place, "a key must be text; write \"key: value\""};
  }

  std::vector<Open> open_;
  std::optional<YamlNode> root_;
  int nodes_ = 0;
  int documents_ = 0;
};

Result<YamlNode> build_tree(std::string_view text, const std::filesystem::path& file) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder;
  if (!parser.HandleNextDocument(builder)) {
    return error_at(file, {}, "the file is empty; write the keys that its format requires");
  }
  std::optional<YamlNode> root = builder.take_root();
  parser.HandleNextDocument(builder);
  if (!root) return error_at(file, {}, "the YAML document has no value");
  return *std::move(root);
}

}  // namespace

Status error_at(const std::filesystem::path& file, Place place, std::string_view message) {
  return Status(StatusCode::kInvalidArgument,
                formatted("{}:{}:{}: {}", file.native(), place.line, place.column, message));
}

Result<YamlNode> parse_yaml(std::string_view text, const std::filesystem::path& file,
                            Place* out_place) {
  if (out_place != nullptr) *out_place = {};
  const auto refuse = [&](Place place, std::string_view message) {
    if (out_place != nullptr) *out_place = place;
    return error_at(file, place, message);
  };
  if (text.size() > kMaxYamlBytes) {
    return refuse(
        {},
        formatted(
            "the text has more than {} bytes, which is the size limit of such a file; shorten it",
            kMaxYamlBytes));
  }
  if (!is_valid_utf8(text) || text.find('\0') != std::string_view::npos) {
    return refuse({}, "the file is not UTF-8 text; save it as UTF-8");
  }
  try {
    return build_tree(text, file);
  } catch (const Refusal& refusal) {
    return refuse(refusal.place, refusal.message);
  } catch (const YAML::Exception& exception) {
    return refuse(
        place_of(exception.mark),
        formatted(
            "this is not valid YAML: {}; check indentation, quotes and brackets here and above",
            exception.msg));
  } catch (const std::exception& exception) {
    return refuse({}, std::string("the YAML parser failed: ") + exception.what());
  }
}

Result<YamlNode> load_yaml(const std::filesystem::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(file, kMaxYamlBytes));
  return parse_yaml(text, file);
}

}  // namespace ephost::manifest

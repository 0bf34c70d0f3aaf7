#include "reports/graph_picture.h"

#include <fmt/format.h>
#include <graphviz/gvc.h>

#include <memory>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "reports/text.h"

extern "C" {
extern gvplugin_library_t gvplugin_dot_layout_LTX_library;
extern gvplugin_library_t gvplugin_core_LTX_library;
}

namespace reports {
namespace {

// For functions of Graphviz that take char* but only read.
char* unconst(const char* text) {
  return const_cast<char*>(text);
}  // NOLINT(*-const-cast)

struct ContextDeleter {
  void operator()(GVC_t* context) const { gvFreeContext(context); }
};
struct GraphDeleter {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};

// Graphviz reads entities and backslash escapes in labels; ours are plain text of one or more lines.
std::string plain_label(std::string_view text) {
  std::string label;
  for (const char character : xml_text(text)) {
    switch (character) {
      case '&':
        label += "&amp;";
        break;
      case '\\':
        label += "\\\\";
        break;
      case '\n':
        label += "\\n";
        break;
      default:
        label += character;
    }
  }
  return label;
}

void set_defaults(Agraph_t* graph) {
  const auto set = [&](int kind, const char* name, const char* value) {
    agattr(graph, kind, unconst(name), unconst(value));
  };
  set(AGRAPH, "bgcolor", "transparent");
  set(AGRAPH, "nodesep", "0.3");
  set(AGRAPH, "ranksep", "0.35");
  set(AGNODE, "shape", "box");
  set(AGNODE, "margin", "0.14,0.07");
  set(AGNODE, "height", "0.3");
  // Courier's widths are built in, and the page draws the labels with a font of fixed width too.
  set(AGNODE, "fontname", "Courier");
  set(AGNODE, "fontsize", "12");
  set(AGNODE, "label", "");
  set(AGNODE, "class", "");
  set(AGEDGE, "arrowsize", "0.7");
}

void fill(Agraph_t* graph, const verify::GraphPicture& picture) {
  const auto node_of = [&](const std::string& name) {
    const std::string key = xml_text(name);
    if (Agnode_t* known = agnode(graph, unconst(key.c_str()), 0)) return known;
    Agnode_t* fresh = agnode(graph, unconst(key.c_str()), 1);
    agset(fresh, unconst("label"), unconst(plain_label(name).c_str()));
    return fresh;
  };
  for (const auto& node : picture.nodes) {
    Agnode_t* drawn = node_of(node.name);
    const std::string label = node.label.empty() ? node.name : fmt::format("{}: {}", node.name, node.label);
    agset(drawn, unconst("label"), unconst(plain_label(label).c_str()));
    if (node.at_fault) agset(drawn, unconst("class"), unconst("fault"));
  }
  for (const auto& edge : picture.edges) {
    // Creates both ends first, in this order, so that the layout does not depend on the order of evaluation.
    Agnode_t* from = node_of(edge.from);
    Agnode_t* to = node_of(edge.to);
    agedge(graph, from, to, nullptr, 1);
  }
}

// The renderer's SVG without ids and namespaces, which a page with many pictures cannot have, and without colours,
// which the page's style sheet gives.
std::string for_inline_use(const pugi::xml_document& document, const verify::GraphPicture& picture) {
  pugi::xml_node svg = document.child("svg");
  for (const char* attribute : {"xmlns", "xmlns:xlink"}) svg.remove_attribute(attribute);
  svg.append_attribute("role").set_value("img");
  svg.append_attribute("aria-label")
      .set_value(fmt::format("Drawing of {}; the same as text follows", xml_text(picture.name)).c_str());
  for (const pugi::xpath_node& found : svg.select_nodes(".//*")) {
    pugi::xml_node element = found.node();
    for (const char* attribute : {"id", "fill", "stroke", "font-family"}) element.remove_attribute(attribute);
  }
  std::ostringstream text;
  svg.print(text, "", pugi::format_raw);
  return std::move(text).str();
}

}  // namespace

std::optional<std::string> draw_graph(const verify::GraphPicture& picture) {
  if (picture.nodes.empty() || picture.nodes.size() > kMaxDrawnNodes || picture.edges.size() > kMaxDrawnEdges) {
    return std::nullopt;
  }
  const lt_symlist_t plugins[] = {{"gvplugin_dot_layout_LTX_library", &gvplugin_dot_layout_LTX_library},
                                  {"gvplugin_core_LTX_library", &gvplugin_core_LTX_library},
                                  {nullptr, nullptr}};
  const std::unique_ptr<GVC_t, ContextDeleter> context(gvContextPlugins(plugins, 0));
  const std::unique_ptr<Agraph_t, GraphDeleter> graph(agopen(unconst("picture"), Agstrictdirected, nullptr));
  if (!context || !graph) return std::nullopt;
  set_defaults(graph.get());
  fill(graph.get(), picture);
  if (gvLayout(context.get(), graph.get(), "dot") != 0) return std::nullopt;

  char* rendered = nullptr;
  unsigned length = 0;
  std::optional<std::string> svg;
  if (gvRenderData(context.get(), graph.get(), "svg", &rendered, &length) == 0) {
    pugi::xml_document document;
    if (document.load_buffer(rendered, length)) svg = for_inline_use(document, picture);
    gvFreeRenderData(rendered);
  }
  gvFreeLayout(context.get(), graph.get());
  return svg;
}

}  // namespace reports

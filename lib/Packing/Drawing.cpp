//===- Drawing.cpp - pictures of packings ---------------------------------===//
#include "ck/Packing/Drawing.h"

#include <algorithm>
#include <cstdio>

using namespace ck;

namespace {
/// The part of a picture that depends on the plan: maps bytes and times to points of a 1600 x 900 sheet.
class Sheet {
public:
  explicit Sheet(const PackPicture &picture);
  std::string draw(const char *style) const;

  static constexpr double width = 1600, height = 900;

private:
  double x(int64_t time) const { return width * ((static_cast<double>(time) - static_cast<double>(first)) / duration); }
  double y(int64_t address) const { return height * (1 - static_cast<double>(address) / static_cast<double>(top)); }
  std::string rectangle(size_t item, const LiveRange &range) const;
  std::string line(int64_t address, const char *name) const;

  const PackPicture &picture;
  int64_t first = 0, top = 1;
  double duration = 1;
};
} // namespace

/// A coordinate to a hundredth of a point.
static std::string point(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '&':
      result += "&amp;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      // XML has no way to write most control characters.
      result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  return result;
}

Sheet::Sheet(const PackPicture &picture) : picture(picture) {
  int64_t last = 0;
  bool any = false;
  top = std::max<int64_t>({picture.capacity, picture.bound, 1});
  for (size_t i = 0; i < picture.items.size(); ++i) {
    const PackItem &item = picture.items[i];
    top = std::max(top, picture.offsets[i] + item.size);
    for (const LiveRange &range : item.ranges) {
      first = any ? std::min(first, range.lower) : range.lower;
      last = any ? std::max(last, range.upper) : range.upper;
      any = true;
    }
  }
  duration = std::max(1.0, static_cast<double>(last) - static_cast<double>(first));
}

std::string Sheet::rectangle(size_t i, const LiveRange &range) const {
  const PackItem &item = picture.items[i];
  int64_t begin = picture.offsets[i], end = begin + item.size;
  // Golden-angle steps keep the hues of neighbours apart.
  std::string hue = std::to_string(i * 137 % 360);
  std::string unit = picture.timeUnit.empty() ? "time" : picture.timeUnit;
  return "<rect x=\"" + point(x(range.lower)) + "\" y=\"" + point(y(end)) + "\" width=\"" +
         point(x(range.upper) - x(range.lower)) + "\" height=\"" + point(y(begin) - y(end)) + "\" fill=\"hsl(" + hue +
         ",60%,70%)\"><title>" + escaped(item.name) + "\n" + std::to_string(item.size) + " bytes at [" +
         std::to_string(begin) + ", " + std::to_string(end) + ")\n" + escaped(unit) + " [" +
         std::to_string(range.lower) + ", " + std::to_string(range.upper) + ")</title></rect>\n";
}

std::string Sheet::line(int64_t address, const char *name) const {
  return "<line class=\"mark\" x1=\"0\" x2=\"" + point(width) + "\" y1=\"" + point(y(address)) + "\" y2=\"" +
         point(y(address)) + "\"><title>" + name + ", " + std::to_string(address) + " bytes</title></line>\n";
}

std::string Sheet::draw(const char *style) const {
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + point(width) + " " + point(height) +
                     "\" preserveAspectRatio=\"none\">\n<title>" + escaped(picture.title) + "</title>\n<style>" +
                     style + "</style>\n<rect class=\"sheet\" width=\"" + point(width) + "\" height=\"" +
                     point(height) + "\"/>\n";
  for (size_t i = 0; i < picture.items.size(); ++i)
    for (const LiveRange &range : picture.items[i].ranges)
      if (range.lower < range.upper && picture.items[i].size > 0)
        text += rectangle(i, range);
  if (picture.bound > 0)
    text += line(picture.bound, "bound");
  if (picture.capacity >= 0)
    text += line(picture.capacity, "capacity");
  return text + "</svg>\n";
}

static constexpr const char *style =
    "rect{stroke:#333;stroke-width:.5;vector-effect:non-scaling-stroke}"
    ".sheet{fill:#fff}.mark{stroke:#c00;stroke-width:1;stroke-dasharray:6 4;vector-effect:non-scaling-stroke}";

std::string ck::drawSvg(const PackPicture &picture) { return Sheet(picture).draw(style); }

std::string ck::drawHtml(const PackPicture &picture) {
  static constexpr const char *pageStyle =
      "body{margin:0;height:100vh;display:flex;flex-direction:column;font:14px sans-serif}"
      "header{padding:6px 10px;display:flex;gap:16px;align-items:center}h1{font-size:16px;margin:0}"
      "#details{white-space:pre;font-family:monospace;min-height:4.5em;padding:0 10px}"
      "svg{flex:1;min-height:0;width:100%;cursor:grab}.hit{stroke:#000;stroke-width:2}.dim{opacity:.25}";
  // The view box is the whole state: the wheel scales it about the pointer, dragging moves it.
  static constexpr const char *script = R"js(
const svg = document.querySelector('svg'), details = document.getElementById('details');
const full = svg.getAttribute('viewBox').split(' ').map(Number);
let box = full.slice(), drag = null;
const show = () => svg.setAttribute('viewBox', box.join(' '));
const at = e => {
  const r = svg.getBoundingClientRect();
  return [(e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height];
};
svg.addEventListener('wheel', e => {
  e.preventDefault();
  const [u, v] = at(e), scale = e.deltaY < 0 ? 0.8 : 1.25;
  const w = Math.min(full[2], box[2] * (e.altKey ? 1 : scale)), h = Math.min(full[3], box[3] * (e.shiftKey ? 1 : scale));
  box = [box[0] + u * (box[2] - w), box[1] + v * (box[3] - h), w, h];
  show();
}, {passive: false});
svg.addEventListener('pointerdown', e => { drag = [at(e), box.slice()]; });
window.addEventListener('pointerup', () => { drag = null; });
svg.addEventListener('pointermove', e => {
  if (!drag) return;
  const [u, v] = at(e), [[u0, v0], old] = drag;
  box = [old[0] - (u - u0) * old[2], old[1] - (v - v0) * old[3], old[2], old[3]];
  show();
});
svg.addEventListener('dblclick', () => { box = full.slice(); show(); });
svg.addEventListener('pointerover', e => {
  document.querySelectorAll('.hit').forEach(r => r.classList.remove('hit'));
  const title = e.target.querySelector(':scope > title');
  if (e.target === svg || !title) return;
  e.target.classList.add('hit');
  details.textContent = title.textContent;
});
document.getElementById('find').addEventListener('input', e => {
  const text = e.target.value;
  for (const r of svg.querySelectorAll('rect:not(.sheet)'))
    r.classList.toggle('dim', text !== '' && !r.textContent.split('\n')[0].includes(text));
});
)js";
  std::string title = escaped(picture.title);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + title +
         "</title>\n<style>" + pageStyle + "</style>\n</head>\n<body>\n<header><h1>" + title +
         "</h1><input id=\"find\" placeholder=\"find a buffer\"><span>wheel: zoom (shift: time only, alt: addresses "
         "only), drag: pan, double click: all</span></header>\n<div id=\"details\"></div>\n" +
         Sheet(picture).draw(style) + "<script>" + script + "</script>\n</body>\n</html>\n";
}

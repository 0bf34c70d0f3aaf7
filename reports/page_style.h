// The style sheet and the script of the page. Neither holds '<' or '&', so the page stays XML-clean.
//
// The script only adds comfort: it shows the copy buttons and the filters, which work only with it, and opens the
// target of a link. Everything else works without the script.
#pragma once

namespace reports {

inline constexpr char kPageStyle[] = R"css(
:root { color-scheme: light dark; --page: #ffffff; --card: #f5f6f8; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --link: #0550ae; --bad: #b3261e; --bad-soft: #fde7e5; --good: #176639; --good-soft: #e3f4e9; --warn: #7a4d00;
  --warn-soft: #fff1d0; }
@media (prefers-color-scheme: dark) { :root { --page: #0f1318; --card: #191f26; --ink: #e6eaef; --soft: #9aa5b1;
  --line: #343d47; --link: #79b8ff; --bad: #ff938a; --bad-soft: #451a18; --good: #74d99a; --good-soft: #12341f;
  --warn: #f2c35c; --warn-soft: #3d2e0a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main, header, footer { max-width: 76rem; margin: 0 auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0.3rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 0.6rem; border-bottom: 1px solid var(--line); padding-bottom: 0.3rem; }
h3 { font-size: 1.05rem; margin: 0; display: inline; overflow-wrap: anywhere; }
h4 { font-size: 1rem; margin: 1.3rem 0 0.4rem; }
p { margin: 0.4rem 0; max-width: 60rem; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
pre, code, .mono { font-family: ui-monospace, monospace; font-size: 0.875rem; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.7rem 0.9rem;
  margin: 0.4rem 0; overflow-x: auto; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--page); padding: 0.4rem 0.8rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.kind { margin: 1.6rem 0 0; color: var(--soft); }
.verdict { border-left: 8px solid var(--soft); background: var(--card); border-radius: 6px; padding: 0.9rem 1.1rem;
  margin: 0.4rem 0 1.2rem; }
.verdict.bad { border-color: var(--bad); background: var(--bad-soft); }
.verdict.good { border-color: var(--good); background: var(--good-soft); }
.verdict.warn { border-color: var(--warn); background: var(--warn-soft); }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: 0.7rem 1.2rem;
  margin: 1rem 0; }
.facts div { min-width: 0; }
.facts .long { grid-column: 1 / -1; }
.facts dt { color: var(--soft); font-size: 0.85rem; }
.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem; list-style: none; padding: 0; margin: 0.8rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 0.4rem 0; }
caption { text-align: left; color: var(--soft); padding: 0.2rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.8rem 0.35rem 0;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; font-size: 0.85rem; }
tbody th { font-weight: 600; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.wide { overflow-wrap: anywhere; }
.sentence { font-weight: 400; }
#states tbody th { white-space: nowrap; position: sticky; left: 0; background: var(--page); }
#states thead th.number { white-space: normal; min-width: 4.6rem; vertical-align: bottom; }
#states td { white-space: nowrap; }
#states td.words { white-space: normal; }
#states details { margin: 0.4rem 0; }
td.hole { background: var(--warn-soft); }
.state { font-weight: 600; white-space: nowrap; }
.state.bad { color: var(--bad); }
.state.good { color: var(--good); }
.state.warn { color: var(--warn); }
.bug { border: 1px solid var(--line); border-radius: 8px; margin: 1rem 0; padding: 0.6rem 1rem; }
.bug[hidden] { display: none; }
.common { color: var(--soft); margin: 0.1rem 0; }
.bug .finding { border: 0; margin: 0; padding: 0; }
.forms .finding { border-left: 3px solid var(--line); padding-left: 0.8rem; margin: 0.4rem 0; }
.filters { display: flex; flex-wrap: wrap; gap: 0.4rem 0.8rem; align-items: center; margin: 0.8rem 0; }
.filters[hidden] { display: none; }
input, select { font: inherit; padding: 0.35rem 0.6rem; border: 1px solid var(--soft); border-radius: 6px;
  background: var(--page); color: var(--ink); min-width: 0; }
.finding { border: 1px solid var(--line); border-radius: 8px; margin: 0.8rem 0; padding: 0 1rem; }
.finding > summary { padding: 0.7rem 0; cursor: pointer; }
.finding > summary .id { color: var(--bad); margin-right: 0.5rem; font-weight: 600; }
.finding[open] { padding-bottom: 1rem; }
summary { cursor: pointer; }
.related { padding-left: 1.2rem; margin: 0.2rem 0; }
.note { color: var(--soft); }
.replay { display: flex; gap: 0.6rem; align-items: flex-start; }
.replay pre { flex: 1; min-width: 0; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
button { font: inherit; padding: 0.45rem 0.9rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--card); color: var(--ink); cursor: pointer; min-width: 6rem; }
mark { background: var(--bad-soft); color: var(--bad); font-weight: 700; text-decoration: underline;
  border-radius: 2px; }
.values { display: grid; grid-template-columns: 1fr 1fr; gap: 0.2rem 1.2rem; margin: 0 0 0.9rem;
  border-left: 3px solid var(--line); padding-left: 0.8rem; }
.values p { grid-column: 1 / -1; margin: 0; }
.values div { min-width: 0; }
.values .label { color: var(--soft); font-size: 0.85rem; }
.values .mono { overflow-wrap: anywhere; }
.graphs { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0.4rem 0; border: 1px solid var(--line); border-radius: 6px; padding: 0.7rem;
  max-width: 100%; overflow-x: auto; }
figcaption { color: var(--soft); font-size: 0.9rem; margin-bottom: 0.4rem; }
figure svg { display: block; max-width: none; }
svg text { fill: var(--ink); font-family: ui-monospace, monospace; }
svg .node polygon { fill: var(--card); stroke: var(--soft); }
svg .fault polygon { fill: var(--bad-soft); stroke: var(--bad); stroke-width: 3; }
svg .fault text { fill: var(--bad); font-weight: 700; }
svg .edge path { fill: none; stroke: var(--soft); }
svg .edge polygon { fill: var(--soft); stroke: var(--soft); }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
.chart { flex: 1 1 20rem; max-width: 36rem; }
.chart svg { width: 100%; height: auto; }
svg.bar rect { fill: var(--link); }
svg .grid { stroke: var(--line); }
svg .series { fill: none; stroke: var(--link); stroke-width: 2; }
svg .curve1 { stroke: var(--bad); stroke-dasharray: 7 3; }
svg .curve2 { stroke: var(--good); stroke-dasharray: 2 3; }
svg .curve3 { stroke: var(--warn); stroke-dasharray: 9 3 2 3; }
svg .curve4 { stroke: var(--ink); }
svg .curve5 { stroke: var(--soft); stroke-dasharray: 4 4; }
svg .tick { font-size: 11px; fill: var(--soft); }
svg .name0 { fill: var(--link); }
svg .name1 { fill: var(--bad); }
svg .name2 { fill: var(--good); }
svg .name3 { fill: var(--warn); }
svg .name4 { fill: var(--ink); }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
.holes { columns: 16rem; column-gap: 2rem; padding-left: 1.2rem; }
.holes li { overflow-wrap: anywhere; }
footer { color: var(--soft); margin-top: 3rem; padding-bottom: 2rem; }
@media (max-width: 40rem) { .bug { padding: 0.5rem 0.7rem; } .values { grid-template-columns: 1fr; }
  .replay { flex-direction: column; } .replay pre { width: 100%; } h1 { font-size: 1.35rem; }
  .finding { padding: 0 0.7rem; }
  th, td { padding-right: 0.5rem; } td.state { white-space: normal; } thead th, tbody td { font-size: 0.8rem; }
  .facts { grid-template-columns: 1fr 1fr; gap: 0.5rem 1rem; } }
@media print { button, nav, .filters { display: none; } }
)css";

inline constexpr char kPageScript[] = R"js(
document.querySelectorAll('button[data-copy]').forEach(function (button) {
  button.hidden = false;
  button.addEventListener('click', function () {
    var source = document.getElementById(button.dataset.copy);
    var status = document.getElementById('copy-status');
    function done(worked) {
      button.textContent = worked ? 'Copied' : 'Press Ctrl+C';
      status.textContent = worked ? 'Copied' : 'Selected: press Ctrl+C to copy it';
      setTimeout(function () { button.textContent = 'Copy'; }, 2000);
    }
    function select() {
      getSelection().selectAllChildren(source);
      done(document.execCommand('copy'));
    }
    if (navigator.clipboard) {
      navigator.clipboard.writeText(source.textContent).then(function () { done(true); }, select);
    } else { select(); }
  });
});
(function () {
  var form = document.getElementById('filters');
  if (!form) { return; }
  var text = document.getElementById('filter-text');
  var property = document.getElementById('filter-property');
  var status = document.getElementById('filter-status');
  var bugs = Array.from(document.querySelectorAll('article.bug'));
  function words(bug) {
    if (!bug.words) { bug.words = bug.textContent.toLowerCase(); }
    return bug.words;
  }
  function filter() {
    var wanted = text.value.trim().toLowerCase();
    var shown = 0;
    bugs.forEach(function (bug) {
      var other = property.value ? property.value !== bug.dataset.property : false;
      bug.hidden = other || !words(bug).includes(wanted);
      shown += bug.hidden ? 0 : 1;
    });
    status.textContent = shown + ' of ' + bugs.length + ' bugs shown';
  }
  form.addEventListener('submit', function (event) { event.preventDefault(); });
  text.addEventListener('input', filter);
  property.addEventListener('change', filter);
  form.hidden = false;
  function reveal() {
    var place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place || !place.closest('article.bug')) { return; }
    if (place.closest('article.bug').hidden) {
      text.value = '';
      property.value = '';
      filter();
    }
    for (var around = place; around; around = around.parentElement) {
      if (around.tagName === 'DETAILS') { around.open = true; }
    }
    place.scrollIntoView();
  }
  addEventListener('hashchange', reveal);
  reveal();
})();
)js";

}  // namespace reports

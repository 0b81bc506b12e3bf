"""What the report does to the script of the charting library before it embeds it."""

from plotly.offline import get_plotlyjs

from precall.display.report import unwrapped

WRAPPED = """/** License */
(
 function(root, factory) {
  if (typeof module === "object" && module.exports) {
   module.exports = factory();
  } else {
   root.moduleName = factory();
  }
} (typeof self !== "undefined" ? self : this, () => {
"use strict";var Plotly=(()=>{return {}})();
window.Plotly = Plotly;
return Plotly;
}));"""


def test_the_wrapper_goes_and_the_license_and_the_library_stay():
    assert unwrapped(WRAPPED).split("\n") == [
        "/** License */",
        "",
        '"use strict";var Plotly=(()=>{return {}})();',
        "window.Plotly = Plotly;",
        "",
    ]


def test_another_wrapper_stays_as_it_is():
    other = "!function(t,e){t.Plotly=e()}(self,(function(){return {}}));"
    assert unwrapped(other) == other
    assert unwrapped(WRAPPED.removesuffix("}));")) == WRAPPED.removesuffix("}));")


def test_what_is_installed_loses_nothing_but_its_wrapper():
    library = get_plotlyjs()
    embedded = unwrapped(library)
    assert len(library) - len(embedded) < 400
    assert "Plotly" in embedded

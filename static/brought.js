"use strict";
// Only on a page to which another site has led. What is pressed there may have been meant for a window of that site
// which lay above and has just closed: the second click of a double click, or the rest of a word. So nothing can be
// pressed until the page was in front for a while and nobody pressed a button or a key. Whoever means it presses again.
{
  const QUIET = 700; // milliseconds, longer than a double click takes
  const root = document.documentElement; // it has data-held meanwhile
  let releasing;
  let isUsed = false; // once a press has counted, what has the focus is what somebody chose

  const hold = () => {
    root.dataset.held = "";
    clearTimeout(releasing);
    releasing = setTimeout(() => delete root.dataset.held, QUIET);
  };
  const isHeld = () => "held" in root.dataset || !document.hasFocus();

  for (const type of ["keydown", "keyup", "mousedown", "mouseup", "click", "submit"]) {
    window.addEventListener(type, (event) => {
      if (event.button) return; // not the first one of a mouse
      if (!isHeld()) return void (isUsed = true);
      hold();
      if (type === "mousedown") clearTimeout(releasing); // until it is let go: the click comes after that
      if (type.startsWith("key") || type === "mouseup") return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);
  }

  // A link can put the focus into a field (`#id_login`), where what is typed would go.
  window.addEventListener("focus", ({ target }) => {
    if (target === window) hold();
    if (isHeld() && !isUsed) document.activeElement?.blur();
  }, true);

  document.addEventListener("visibilitychange", hold);
  window.addEventListener("pageshow", hold);
  hold();
}

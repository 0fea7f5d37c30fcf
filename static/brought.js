"use strict";
// Only on a page to which another site has led. What is pressed there may have been meant for a window of that site
// which lies above, or has just closed: the second click of a double click, a button to which somebody was moving, or
// the rest of a word. So nothing can be pressed until the page was in front, and the mouse over it, for a while in
// which nobody pressed a button or a key. Whoever means it presses again.
{
  const QUIET = 700; // milliseconds, longer than a double click takes
  const FAR = 50; // pixels, farther than a hand that rests moves a mouse
  const MODIFIER = /^(Alt|CapsLock|Control|Meta|Shift)/; // these press nothing, and screen readers use them
  const root = document.documentElement; // it has data-held meanwhile
  let releasing;
  let counts = false; // what is being pressed
  let isUsed = false; // once a press or a key has counted, what has the focus is what somebody chose
  let isPointed = false; // until a press has counted, keys may be those that somebody was told to press: each one holds
  let mouse = {}; // where and when it was last seen here

  const hold = (event) => {
    root.dataset.held = "";
    clearTimeout(releasing);
    if (!event.buttons) releasing = setTimeout(() => delete root.dataset.held, QUIET); // else once it is let go
  };
  const arrive = (event) => { counts = false; hold(event); };
  const isHeld = () => "held" in root.dataset || !document.hasFocus();
  // In which nobody can read what they press. A large window has few pixels, too, where somebody has zoomed in.
  const isTiny = () => Math.min(innerWidth / 250, innerHeight / 150) * Math.max(1, outerWidth / innerWidth) < 1;

  for (const type of ["keydown", "keyup", "mousedown", "mouseup", "click", "submit"]) {
    window.addEventListener(type, (event) => {
      if (event.button || MODIFIER.test(event.key)) return; // not the first one of a mouse
      if (!type.endsWith("up") && !isHeld()) counts = isUsed = true;
      else if (type.endsWith("down") && !event.repeat) counts = false;
      isPointed ||= counts && type === "mousedown";
      if (!counts || (type.startsWith("key") && !isPointed)) hold(event);
      if (type.startsWith("key") || type === "mouseup" || (counts && !isTiny())) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (isTiny() && type !== "mousedown") alert("This window is too small. Make it larger and try again.");
    }, true);
  }

  // A window above may never have the focus: where it was, only the mouse comes. A finger is nowhere until it presses.
  for (const type of ["pointerover", "pointermove", "pointerdown"]) {
    window.addEventListener(type, (event) => {
      if (event.pointerType !== "mouse") return;
      const now = { x: event.clientX, y: event.clientY, at: performance.now() };
      const isFar = Math.hypot(now.x - mouse.x, now.y - mouse.y) > FAR && now.at - mouse.at > QUIET;
      if (isFar || (type === "pointerover" && !event.relatedTarget)) arrive(event);
      mouse = now;
    }, true);
  }

  // A link can put the focus into a field (`#id_login`), where what is typed would go.
  window.addEventListener("focus", (event) => {
    if (event.target === window) arrive(event);
    if (isHeld() && !isUsed) document.activeElement?.blur();
  }, true);
  for (const type of ["visibilitychange", "pageshow"]) window.addEventListener(type, arrive);
  arrive({});
}

"use strict";
// Everything here is a convenience: each page works without it.

for (const note of document.querySelectorAll("[data-script]")) note.hidden = false;

// A button beside each value that people carry elsewhere.
for (const place of document.querySelectorAll(".copyable")) {
  const value = place.firstElementChild;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${place.dataset.name || "the value"}`);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(value.textContent.trim());
      say(button, "Copied");
    } catch {
      getSelection().selectAllChildren(value);
      say(button, "Press Ctrl+C");
    }
  });
  place.append(button);
}

function say(button, text) {
  button.textContent = text;
  button.setAttribute("aria-live", "polite");
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

// Sends a form as its button would, and takes one part of the page that is answered.
async function refresh(form, part, extra = {}) {
  const body = new FormData(form);
  for (const [name, value] of Object.entries(extra)) body.set(name, value);
  const asked = form.method === "post" ? { method: "POST", body } : {};
  const answer = await fetch(form.action, asked);
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector(part);
  const shown = document.querySelector(part);
  if (!fresh || !shown) return false;
  if (fresh.textContent.trim() !== shown.textContent.trim()) {
    shown.replaceChildren(...fresh.childNodes);
    return true;
  }
  return false;
}

// <form data-live="#preview" data-button="preview">: the part follows what is typed.
for (const form of document.querySelectorAll("form[data-live]")) {
  let waiting;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(
      () => refresh(form, form.dataset.live, { [form.dataset.button]: "1" }).catch(() => {}), 400);
  });
}

// <form data-again="15" data-part="#state">: sent again every so many seconds while the page is
// seen, for ten minutes, or until the part says that it is done.
for (const form of document.querySelectorAll("form[data-again]")) {
  const end = Date.now() + 10 * 60 * 1000;
  const timer = setInterval(async () => {
    const part = document.querySelector(form.dataset.part);
    if (Date.now() > end || part.querySelector("[data-done]")) return clearInterval(timer);
    if (!document.hidden) await refresh(form, form.dataset.part).catch(() => {});
  }, Number(form.dataset.again) * 1000);
}

"use strict";
// Everything here is a convenience: each page works without it.

// <button data-insert>: its text goes into the text field of its part, where the cursor is.
for (const button of document.querySelectorAll("[data-insert]")) {
  button.addEventListener("click", () => {
    button.closest(".field").querySelector("textarea").focus();
    document.execCommand("insertText", false, button.textContent); // can be undone
  });
}

// What works only with script, and a button beside each value that people carry elsewhere.
function furnish(within) {
  for (const note of within.querySelectorAll("[data-script]")) note.hidden = false;
  for (const place of within.querySelectorAll(".copyable")) {
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
        say(button, "Selected. Press Ctrl+C or ⌘C to copy.");
      }
    });
    place.append(button);
  }
}
furnish(document);

// Shown on the button, and read out.
function say(button, text) {
  button.textContent = text;
  heard.textContent = text;
  setTimeout(() => { button.textContent = "Copy"; heard.textContent = ""; }, 3000);
}

const heard = document.createElement("p");
heard.className = "hidden";
heard.setAttribute("role", "status");
document.body.append(heard);

// Sends a form as its button would, and takes one part of the page that is answered.
const last = new WeakMap();
async function refresh(form, part, extra = {}) {
  last.get(form)?.abort();
  const { signal } = last.set(form, new AbortController()).get(form);
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(extra)) body.set(name, value);
  const asked = form.method === "post" ? { method: "POST", body, signal } : { signal };
  const answer = await fetch(form.action, asked);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  let news = "";
  for (const fresh of page.querySelectorAll(part)) {
    const shown = document.getElementById(fresh.id);
    if (!shown || words(fresh) === words(shown)) continue;
    if (fresh.matches("[data-news]")) news = fresh.querySelector("h2, [data-done] b")?.textContent;
    for (const { name, value } of fresh.attributes) shown.setAttribute(name, value);
    shown.hidden = fresh.hidden;
    shown.replaceChildren(...fresh.cloneNode(true).childNodes);
    furnish(shown);
  }
  return { page, news };
}

// What a part says, without the buttons that were added to it.
function words(part) {
  const copy = part.cloneNode(true);
  for (const button of copy.querySelectorAll(".copy")) button.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
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

// <form data-again="15" data-part="#state, #asked">: sent again every so many seconds while the page is
// seen, for ten minutes. What has changed is said once. When it is done, the rest of the page follows.
for (const form of document.querySelectorAll("form[data-again]")) {
  const end = Date.now() + 10 * 60 * 1000;
  const timer = setInterval(async () => {
    if (Date.now() > end) return clearInterval(timer);
    if (document.hidden) return;
    const { page, news } = (await refresh(form, form.dataset.part).catch(() => {})) || {};
    if (news) heard.textContent = news;
    if (!page?.querySelector("[data-done]")) return;
    clearInterval(timer);
    const main = document.querySelector("main");
    const hadFocus = main.contains(document.activeElement);
    main.replaceChildren(...page.querySelector("main").childNodes);
    furnish(main);
    if (hadFocus) main.focus();
  }, Number(form.dataset.again) * 1000);
}

// <input type=checkbox data-all="id">: ticks all of its form that have this name.
for (const all of document.querySelectorAll("[data-all]")) {
  all.addEventListener("change", () => {
    for (const each of all.form.querySelectorAll(`[name="${all.dataset.all}"]`)) each.checked = all.checked;
  });
}

// In a long list of pages, the one that is read is in sight.
const contents = document.querySelector("#contents");
const read = contents?.querySelector("[aria-current]");
if (read && contents.scrollHeight > contents.clientHeight) {
  contents.scrollTop = read.offsetTop - contents.offsetTop - contents.clientHeight / 2;
}

// What is left empty in a search is left out of its address.
for (const form of document.querySelectorAll("form[role=search]")) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (!value) formData.delete(name);
  });
}

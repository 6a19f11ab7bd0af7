// What a page does by itself: views that follow a run, forms that ask as soon as a choice is made, and the browser's zone.
// Without this file every page works by links and forms.
"use strict";

for (const place of document.querySelectorAll("[data-live]")) {
  let source = null;
  const follow = () => {
    source = new EventSource(place.dataset.live);
    source.addEventListener("state", (event) => { place.innerHTML = event.data; place.classList.remove("lost"); });
    source.addEventListener("ended", () => { source.close(); location.reload(); });
    source.addEventListener("error", () => {
      place.classList.add("lost");
      if (source.readyState === EventSource.CLOSED) setTimeout(follow, 5000);  // refused: the console begins anew
    });
  };
  follow();
  addEventListener("pagehide", () => source.close());
}

// A page that only names a run under way is shown anew when the run has ended.
for (const place of document.querySelectorAll("[data-ends]")) {
  const source = new EventSource(place.dataset.ends);
  source.addEventListener("ended", () => { source.close(); location.reload(); });
  addEventListener("pagehide", () => source.close());
}

// Times are told in the zone of the browser when nobody chose one: said to the console once, which tells the page anew.
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const said = `purlieu_browser_zone=${encodeURIComponent(own)}`;
if (own && !document.cookie.includes(said)) {
  document.cookie = `${said}; path=/; max-age=31536000; samesite=strict`;
  if ("asksZone" in document.body.dataset && document.cookie.includes(said)) location.reload();
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-submit]");
  if (form && event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
  const filled = event.target.dataset.fill && document.getElementById(event.target.dataset.fill);
  if (filled && event.target.value) {
    filled.value = event.target.value;
    filled.dispatchEvent(new Event("input", { bubbles: true }));
  }
});

// An answer holds the mistakes that are there now; to swap an empty place for each of 150 fields takes a browser a second.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id === "told") for (const told of document.querySelectorAll("#fields .wrong")) told.replaceChildren();
});

// A field says that it is wrong as soon as something is said beside it.
document.addEventListener("htmx:afterSettle", () => {
  for (const told of document.querySelectorAll("#fields .wrong")) {
    const field = document.querySelector(`#fields [aria-describedby~="${told.id}"]`);
    if (told.childElementCount) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
  }
});

// What was typed is not lost by leaving the page.
let unsaved = false;
document.addEventListener("input", (event) => { if (event.target.closest("#settings") && event.target.id !== "try") unsaved = true; });
document.addEventListener("submit", () => { unsaved = false; });
window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });

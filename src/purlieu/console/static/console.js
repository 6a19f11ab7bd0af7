// What a page does by itself: a view that follows a run, and forms that ask as soon as a choice is made.
// Without this file every page works by links and forms.
"use strict";

for (const place of document.querySelectorAll("[data-live]")) {
  const source = new EventSource(place.dataset.live);
  source.addEventListener("state", (event) => { place.innerHTML = event.data; });
  source.addEventListener("ended", () => { source.close(); location.reload(); });
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-submit]");
  if (form && event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
});

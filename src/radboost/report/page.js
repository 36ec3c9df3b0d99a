"use strict";
(() => {
  const all = (what) => [...document.querySelectorAll(what)];

  /* Colors: those of the system until the button is used. */
  const root = document.documentElement;
  for (const button of all("[data-theme-toggle]")) {
    const show = () => { button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark"; };
    button.addEventListener("click", () => {
      root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("radboost-theme", root.dataset.theme); } catch (error) { /* kept for this view only */ }
      show();
    });
    show();
  }

  /* Navigation: closed on a phone, and the section in view stands out. */
  const contents = document.querySelector(".side details");
  const narrow = matchMedia("(max-width: 60rem)");
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  contents.addEventListener("click", (event) => { if (event.target.closest("a") && narrow.matches) contents.open = false; });
  const links = new Map(all(".side a").map((link) => [link.getAttribute("href").slice(1), link]));
  const sections = [...links.keys()].map((name) => document.getElementById(name));
  const follow = () => {
    const ended = innerHeight + scrollY >= document.body.scrollHeight - 4 && scrollY > 0;
    const passed = sections.filter((section) => section.getBoundingClientRect().top <= Math.min(innerHeight * 0.3, 240));
    const current = (ended ? sections : passed).at(-1) || sections[0];
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(current.id).setAttribute("aria-current", "true");
  };
  addEventListener("scroll", follow, { passive: true });
  addEventListener("resize", follow);
  follow();
})();

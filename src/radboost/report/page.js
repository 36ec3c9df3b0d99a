"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const at = (path) => path.split(".").reduce((value, key) => value[key], data);
  const all = (what, where = document) => [...where.querySelectorAll(what)];
  const make = (tag, kind, text) => {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const shape = (tag, kind) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    element.setAttribute("class", kind);
    return element;
  };
  const said = (value, digits = 4) => value === null || value === undefined ? "\u2014"
    : Number(Number(value).toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: digits }).replace("-", "\u2212");
  const short = (text, longest = 60) => text.length > longest ? text.slice(0, longest - 1) + "\u2026" : text || "(empty)";

  /* Colours: those of the system until the button is used. */
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  for (const button of all("[data-theme-toggle]")) {
    const show = () => { button.textContent = dark() ? "Light" : "Dark"; };
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("radboost-theme", root.dataset.theme); } catch (error) { /* kept for this view only */ }
      show();
    });
    system.addEventListener("change", show);
    show();
  }

  /* Navigation: closed on a phone, and the section in view stands out. */
  const contents = document.querySelector(".side details");
  const narrow = matchMedia("(max-width: 60rem)");
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  const links = new Map(all(".side a").map((link) => [link.getAttribute("href").slice(1), link]));
  const parts = [...links.keys()].map((name) => document.getElementById(name));
  let current = null;
  const follow = () => {
    const line = Math.min(innerHeight * 0.3, 240);
    const ended = innerHeight + scrollY >= document.body.scrollHeight - 4 && scrollY > 0;
    const passed = parts.filter((part) => part.getBoundingClientRect().top <= line);
    const now = ended ? parts[parts.length - 1] : passed[passed.length - 1] || parts[0];
    if (now === current || !now) return;
    if (current) links.get(current.id).removeAttribute("aria-current");
    current = now;
    links.get(now.id).setAttribute("aria-current", "true");
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; follow(); });
  }, { passive: true });
  addEventListener("resize", follow);
  follow();
  contents.addEventListener("click", (event) => { if (event.target.closest("a") && narrow.matches) contents.open = false; });

  /* Tabs. */
  for (const tabs of all("[data-tabs]")) {
    const panels = all(":scope > .panel", tabs);
    const list = make("div", "tablist");
    list.setAttribute("role", "tablist");
    const buttons = panels.map((panel, place) => {
      const button = make("button", "", panel.querySelector(".panel-title").textContent);
      button.type = "button";
      button.id = `${panel.id}-tab`;
      button.setAttribute("role", "tab");
      button.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", button.id);
      button.addEventListener("click", () => choose(place));
      list.append(button);
      return button;
    });
    const choose = (chosen) => {
      buttons.forEach((button, place) => {
        button.setAttribute("aria-selected", String(place === chosen));
        button.tabIndex = place === chosen ? 0 : -1;
        panels[place].classList.toggle("off", place !== chosen);
      });
    };
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const here = buttons.indexOf(document.activeElement);
      if (!step || here < 0) return;
      const next = (here + step + buttons.length) % buttons.length;
      choose(next);
      buttons[next].focus();
      event.preventDefault();
    });
    tabs.prepend(list);
    tabs.classList.add("on");
    choose(0);
  }

  /* Tables are sorted by their heads: up, down, as they were. */
  for (const table of all("table.data")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const heads = all("thead th", table);
    if (rows.length < 2) continue;
    heads.forEach((head, place) => {
      const button = make("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      const value = (row) => {
        const cell = row.cells[place];
        if (!cell || cell.classList.contains("none")) return null;
        return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
      };
      const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
        : String(a).localeCompare(String(b), "en", { numeric: true });
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")] || "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        let order = rows;
        if (next !== "none") {
          head.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          order = [...rows].sort((one, two) => {
            const a = value(one), b = value(two);
            if (a === null || b === null) return (a === null) - (b === null);
            return sign * compare(a, b);
          });
        }
        body.append(...order);
      });
    });
  }

  /* What is under the pointer or the finger. Titles of shapes become tips; lines find their numbers in the data. */
  const tip = document.querySelector(".tip");
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, x + 14), innerWidth - box.width - 8);
    const top = y - box.height - 14 < 8 ? y + 18 : y - box.height - 14;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  };
  const hideTip = () => { tip.hidden = true; };
  for (const title of all("svg title")) {
    const owner = title.parentNode;
    if (owner.tagName !== "svg") {
      owner.setAttribute("data-tip", title.textContent);
      owner.setAttribute("aria-label", title.textContent);
    }
    title.remove();
  }
  const frameOf = (svg) => {
    const [left, right, top, bottom] = svg.dataset.frame.split(" ").map(Number);
    const [lowX, highX, lowY, highY] = svg.dataset.range.split(" ").map(Number);
    const scale = svg.dataset.log === "1" ? (value) => Math.log10(Math.max(value, 1e-300)) : (value) => value;
    const x = (value) => left + (right - left) * (scale(value) - scale(lowX)) / (scale(highX) - scale(lowX));
    const y = (value) => bottom - (bottom - top) * (value - lowY) / (highY - lowY);
    const back = (place) => lowX + (highX - lowX) * (place - left) / (right - left);
    return { left, right, top, bottom, x, y, back };
  };
  const placeIn = (svg, event) => {
    const box = svg.getBoundingClientRect();
    const unit = svg.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
  };
  const pointAt = (event) => {
    const tipped = event.target.closest("[data-tip]");
    if (tipped) return showTip(tipped.dataset.tip, event.clientX, event.clientY);
    const svg = event.target.closest("svg[data-block]");
    if (!svg) return hideTip();
    const found = nearest(svg, ...placeIn(svg, event));
    for (const old of all(".cross, .spot", svg)) old.remove();
    if (!found) return hideTip();
    const frame = frameOf(svg);
    const cross = shape("path", "cross");
    cross.setAttribute("d", `M${frame.x(found.x)} ${frame.top}V${frame.bottom}`);
    svg.append(cross);
    for (const [x, y] of found.spots) {
      const spot = shape("circle", "spot");
      spot.setAttribute("cx", x);
      spot.setAttribute("cy", y);
      spot.setAttribute("r", 4);
      svg.append(spot);
    }
    showTip(found.text, event.clientX, event.clientY);
  };
  const nearest = (svg, px, py) => {
    const block = at(svg.dataset.block), frame = frameOf(svg);
    if (px < frame.left - 10 || px > frame.right + 10) return null;
    const found = block.series.map((series, place) => {
      let best = -1, least = Infinity;
      series.x.forEach((x, index) => {
        if (series.y[index] === null || series.y[index] === undefined) return;
        const away = Math.abs(frame.x(x) - px);
        const far = series.style === "points" ? Math.hypot(away, frame.y(series.y[index]) - py) : away;
        if (far < least) { least = far; best = index; }
      });
      return { series, place, best, least };
    }).filter((one) => one.best >= 0 && one.least < (one.series.style === "points" ? 26 : 60));
    if (!found.length) return null;
    const first = found.reduce((a, b) => b.least < a.least ? b : a);
    const x = first.series.x[first.best];
    const beside = found.filter((one) => Math.abs(frame.x(one.series.x[one.best]) - frame.x(x)) < 3);
    const head = block.ticks.length ? short(block.ticks[x] ?? "") : `${short(block.x_label, 40)} ${said(x)}`;
    const rows = beside.map(({ series, best }) => {
      const band = series.low.length && series.high.length ? ` (${said(series.low[best], 3)} to ${said(series.high[best], 3)})` : "";
      const size = series.sizes.length ? `, ${said(series.sizes[best])} rows` : "";
      return `${short(series.name, 40)}: ${said(series.y[best])}${band}${size}`;
    });
    const spots = beside.map(({ series, best }) => [frame.x(series.x[best]), frame.y(series.y[best])]);
    return { x, spots, text: [head, ...rows].join("\n") };
  };
  for (const svg of all("svg.chart")) {
    svg.addEventListener("pointermove", pointAt);
    svg.addEventListener("pointerdown", pointAt);
    svg.addEventListener("pointerleave", () => {
      for (const old of all(".cross, .spot", svg)) old.remove();
      hideTip();
    });
  }
  addEventListener("scroll", hideTip, { passive: true });

  /* The explorer of thresholds. */
  const explore = (place) => {
    const block = at(place.dataset.explorer);
    const [sliderOfThreshold, sliderOfRatio] = ["threshold", "ratio"].map((key) => place.querySelector(`[data-slider=${key}]`));
    const put = (key, text) => { place.querySelector(`[data-out=${key}]`).textContent = text; };
    const percent = (part, whole) => whole ? `${(100 * part / whole).toFixed(1)} %` : "\u2014";
    const count = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 3 });
    const rates = place.querySelector("[data-chart=rates] svg.chart"), costs = place.querySelector("[data-chart=costs] svg.chart");
    const charts = [rates, costs].filter(Boolean);
    const cursors = charts.map((svg) => svg.appendChild(shape("path", "cursor")));
    const cost = (index, ratio) => ratio * block.false_negative[index] + block.false_positive[index];
    const total = block.true_positive[0] + block.false_positive[0] + block.false_negative[0] + block.true_negative[0];
    const ratioNow = () => Number(sliderOfRatio.dataset.largest) ** (Number(sliderOfRatio.value) / Number(sliderOfRatio.max));
    const cheapest = (ratio) => {
      const each = block.thresholds.map((_, index) => cost(index, ratio) / (total || 1));
      const least = Math.min(...each);
      const best = [...each.keys()].filter((index) => each[index] <= least + 1e-12);
      return best[Math.floor((best.length - 1) / 2)];
    };
    const drawCosts = (ratio) => {
      const positive = block.true_positive[0] + block.false_negative[0];
      const negative = block.false_positive[0] + block.true_negative[0];
      const constant = Math.min(ratio * positive, negative), frame = frameOf(costs);
      const way = block.thresholds.map((threshold, index) =>
        `${frame.x(threshold).toFixed(1)} ${frame.y(Math.min(cost(index, ratio) / constant, 1.5)).toFixed(1)}`);
      costs.querySelector(".line.s0").setAttribute("d", `M${way.join("L")}`);
    };
    const show = () => {
      const index = Number(sliderOfThreshold.value), ratio = ratioNow();
      const [tp, fp, fn, tn] = ["true_positive", "false_positive", "false_negative", "true_negative"].map((key) => {
        put(key, count(block[key][index]));
        return block[key][index];
      });
      put("threshold", said(block.thresholds[index], 3));
      put("ratio", said(ratio, 2));
      put("error", percent(fp + fn, total));
      put("precision", percent(tp, tp + fp));
      put("recall", percent(tp, tp + fn));
      put("specificity", percent(tn, tn + fp));
      put("cost", total ? (cost(index, ratio) / total).toFixed(4) : "\u2014");
      sliderOfThreshold.setAttribute("aria-valuetext", said(block.thresholds[index], 3));
      sliderOfRatio.setAttribute("aria-valuetext", said(ratio, 2));
      const best = cheapest(ratio);
      put("advice", `Least mean cost, ${(cost(best, ratio) / (total || 1)).toFixed(4)}, at threshold ${said(block.thresholds[best], 3)}.`);
      place.querySelector("[data-cheapest]").disabled = best === index;
      cursors.forEach((cursor, chart) => {
        const frame = frameOf(charts[chart]);
        cursor.setAttribute("d", `M${frame.x(block.thresholds[index]).toFixed(1)} ${frame.top}V${frame.bottom}`);
      });
      if (costs) drawCosts(ratio);
    };
    sliderOfThreshold.addEventListener("input", show);
    sliderOfRatio.addEventListener("input", show);
    place.querySelector("[data-cheapest]").addEventListener("click", () => {
      sliderOfThreshold.value = cheapest(ratioNow());
      show();
    });
    for (const svg of charts) {
      const move = (event) => {
        if (event.type === "pointermove" && !event.buttons) return;
        const wanted = frameOf(svg).back(placeIn(svg, event)[0]);
        const away = block.thresholds.map((threshold) => Math.abs(threshold - wanted));
        sliderOfThreshold.value = away.indexOf(Math.min(...away));
        show();
      };
      svg.addEventListener("pointerdown", move);
      svg.addEventListener("pointermove", move);
    }
    show();
  };
  all("[data-explorer]").forEach(explore);

  /* Rows open all at once, and in print. */
  for (const button of all("[data-open-all]")) {
    const cards = all(".card", button.closest(".cards"));
    const show = () => { button.textContent = cards.every((card) => card.open) ? "Close all" : "Open all"; };
    button.addEventListener("click", () => {
      const open = !cards.every((card) => card.open);
      cards.forEach((card) => { card.open = open; });
      show();
    });
    cards.forEach((card) => card.addEventListener("toggle", show));
  }
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const card of all(".card:not([open])")) { card.open = true; opened.push(card); }
  });
  addEventListener("afterprint", () => { while (opened.length) opened.pop().open = false; });

  for (const button of all("[data-copy]")) {
    button.addEventListener("click", async () => {
      const code = button.parentNode.querySelector("code");
      try { await navigator.clipboard.writeText(code.textContent); } catch (error) {
        getSelection().selectAllChildren(code);
        document.execCommand("copy");
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }
})();

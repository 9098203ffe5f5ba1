"use strict";
// Tables are readable without this: it adds sorting and, to long ones, a filter.
(function () {
  const collator = new Intl.Collator(undefined, { numeric: true });

  function valueOf(row, column) {
    const cell = row.cells[column];
    const given = cell.dataset.value;
    return given === undefined ? cell.textContent.trim() : given;
  }

  function compare(a, b, numeric) {
    if (!numeric) return collator.compare(a, b);
    return Number(a) - Number(b);
  }

  function sort(table, column, descending, numeric) {
    const body = table.tBodies[0];
    const known = [], unknown = [];
    for (const row of body.rows) {
      const value = valueOf(row, column);
      const missing = value === "" || value === "–" || (numeric && isNaN(value));
      (missing ? unknown : known).push({ row, value });
    }
    known.sort((a, b) => compare(a.value, b.value, numeric) * (descending ? -1 : 1));
    body.append(...known.concat(unknown).map((entry) => entry.row));
  }

  function makeSortable(table) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const numeric = head.classList.contains("number");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      if (head.title) button.title = head.title;
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const descending = now === "none" ? numeric : now === "ascending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, column, descending, numeric);
      });
    });
    if (table.tBodies[0].rows.length > 20) addFilter(table, heads[0].textContent);
  }

  function addFilter(table, what) {
    const label = document.createElement("label");
    label.className = "filter";
    const input = document.createElement("input");
    input.type = "search";
    const told = document.createElement("output");
    label.append("Find a " + what.toLowerCase() + " ", input, told);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const name = row.cells[0].textContent.toLowerCase();
        row.hidden = !name.includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      told.textContent = wanted ? shown + " found" : "";
    });
    table.parentElement.before(label);
  }

  document.querySelectorAll("table.sortable").forEach(makeSortable);
})();

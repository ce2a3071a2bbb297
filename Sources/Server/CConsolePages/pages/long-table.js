// A table of which only the rows in sight are elements: a thousand calls cost what thirty do.

const spareRows = 6, rowsAtFirst = 20;

export class LongTable {
  /** Elements by key, in the order of the table. */
  rows = new Map();
  #region;
  #body;
  #make;
  #keys = [];
  #rowHeight = 0;
  #scrolled = 0;
  #seen = 0;
  #above = filler();
  #below = filler();
  #observer;

  /** `region` scrolls and holds the table of `body`; `make(key)` answers a row, all of the same height. */
  constructor(region, body, make) {
    [this.#region, this.#body, this.#make] = [region, body, make];
    region.classList.add("long");
    body.append(this.#above, this.#below);
    region.addEventListener("scroll", () => {
      this.#scrolled = region.scrollTop;
      this.#draw();
    }, { passive: true });
    this.#observer = new ResizeObserver(() => {
      [this.#seen, this.#rowHeight] = [region.clientHeight, 0];
      this.#draw();
    });
    this.#observer.observe(region);
  }

  /** The keys of all rows, in their order. */
  show(keys) {
    this.#keys = keys;
    tableOf(this.#body).setAttribute("aria-rowcount", String(keys.length + 1));
    this.#draw();
  }

  /** Makes a row anew, where it is in sight. */
  renew(key) {
    this.rows.get(key)?.remove();
    if (this.rows.delete(key)) this.#draw();
  }

  close() {
    this.#observer.disconnect();
  }

  #draw() {
    const height = this.#rowHeight, all = this.#keys.length, room = height ? Math.ceil(this.#seen / height) + 2 * spareRows : rowsAtFirst;
    const first = height ? Math.max(0, Math.min(Math.floor(this.#scrolled / height) - spareRows, all - room)) : 0;
    const keys = this.#keys.slice(first, first + room), wanted = new Set(keys);
    for (const [key, row] of this.rows) {
      if (wanted.has(key)) continue;
      row.remove();
      this.rows.delete(key);
    }
    let before = this.#above;
    keys.forEach((key, index) => {
      let row = this.rows.get(key);
      if (!row) this.rows.set(key, row = this.#make(key));
      const number = String(first + index + 2);
      if (row.getAttribute("aria-rowindex") !== number) row.setAttribute("aria-rowindex", number);
      if (before.nextElementSibling !== row) before.after(row);
      before = row;
    });
    stretch(this.#above, first * height);
    stretch(this.#below, (all - first - keys.length) * height);
    if (!height && keys.length > 0) this.#measure(before);
  }

  /** Once: a height that is read costs a layout. */
  #measure(row) {
    this.#rowHeight = row.getBoundingClientRect().height;
    if (this.#rowHeight > 0) this.#draw();
  }
}

const tableOf = body => body.closest("table");

/** Stands for the rows that are out of sight. */
function filler() {
  const row = document.createElement("tr");
  row.setAttribute("aria-hidden", "true");
  row.className = "filler";
  row.hidden = true;
  return row;
}

function stretch(row, height) {
  row.hidden = height <= 0;
  if (height > 0 && row.dataset.height !== String(height)) {
    row.style.height = `${height}px`;
    row.dataset.height = String(height);
  }
}

/** What the browser keeps for the page; a browser that keeps nothing is no error. */

export function keep(where: "local" | "session", name: string, value: string | null): void {
  try {
    const store = where === "local" ? localStorage : sessionStorage;
    if (value === null) store.removeItem(`kibitz-${name}`);
    else store.setItem(`kibitz-${name}`, value);
  } catch {
    // Full, or forbidden.
  }
}

export function kept(where: "local" | "session", name: string): string | null {
  try {
    return (where === "local" ? localStorage : sessionStorage).getItem(`kibitz-${name}`);
  } catch {
    return null;
  }
}
